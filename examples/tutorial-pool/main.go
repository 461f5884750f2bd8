// Tutorial-pool is the program of docs/tutorials/pool.md: an HTTP service that does its heavy work in a pool.
//
//	go run ./examples/tutorial-pool
//	curl 'http://127.0.0.1:8080/count?below=1000000'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, listener); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends, and then ends what it has begun.
func run(ctx context.Context, listener net.Listener) error {
	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 200}
	pool, err := executor.New(executor.Config{
		Name:     "primes",
		Workers:  2,                   // two workers
		Queue:    executor.Bounded(4), // four more tasks may wait
		Observer: observer,
	})
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.Handle("GET /count", count(pool))
	mux.Handle("/debug/executors/", debug.Handler(observer))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.Printf("http://%s/count?below=1000000", listener.Addr())
	select {
	case err = <-served:
	case <-ctx.Done():
		log.Print("shutting down")
	}

	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(grace)) // accept no requests, and wait for those in progress
	for _, task := range pool.Drain(grace) {       // accept no tasks, and wait for those that are left
		log.Printf("%s has not run", task.Name())
	}
	return err
}

// count answers with the number of primes below the number that is asked for.
func count(pool *executor.Pool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		below, err := strconv.Atoi(r.FormValue("below"))
		if err != nil {
			http.Error(w, "below must be a number", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second) // for the wait and the work
		defer cancel()

		future := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
			return primes(ctx, below)
		}, executor.Named("count"))

		n, err := future.Get(ctx)
		switch {
		case err == nil:
			fmt.Fprintln(w, n)
		case errors.Is(err, executor.ErrSaturated):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "all workers are busy; try again later", http.StatusTooManyRequests)
		case errors.Is(err, executor.ErrShutdown):
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
		case ctx.Err() != nil: // two seconds have passed, or the client is gone
			http.Error(w, "it takes too long", http.StatusGatewayTimeout)
		default:
			http.Error(w, "internal error", http.StatusInternalServerError)
			log.Print(err)
		}
	}
}

// primes counts the primes below a number, slowly, until ctx ends.
func primes(ctx context.Context, below int) (n int, err error) {
	for candidate := 2; candidate < below; candidate++ {
		if candidate%1000 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if isPrime(candidate) {
			n++
		}
	}
	return n, nil
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}
