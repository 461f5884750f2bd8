// Prices is an HTTP service that asks shops for their prices at the times of a crontab, two shops at a time:
//
//	go run ./examples/prices -listen 127.0.0.1:8080
//	curl http://127.0.0.1:8080/prices
//	curl http://127.0.0.1:8080/debug/executors/metrics
//
// It is what a program does with errgroup and gocron: every minute, it fans out with a limit, and ends all at the first
// error. At an interrupt it accepts no more requests, gives the refresh in progress a while to end, and then ends its
// context.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/ui/debug"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address of the service")
	grace := flag.Duration("grace", 10*time.Second, "how long requests and a refresh may go on at the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, *grace, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "prices:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and then shuts down within the grace period.
func run(ctx context.Context, address string, grace time.Duration, out io.Writer) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s, err := newService([]string{"corner", "market", "mill", "harbor"}, ask)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(out, "http://%s/\n", listener.Addr())
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err = errors.Join(err, server.Shutdown(ending))
	s.stop(ending)
	return err
}

// ask pretends to ask a shop for its price.
func ask(ctx context.Context, shop string) (cents int, err error) {
	select {
	case <-time.After(300 * time.Millisecond):
		return 100 * len(shop), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// service has the prices of shops, and refreshes them.
type service struct {
	shops     []string
	ask       func(ctx context.Context, shop string) (cents int, err error)
	prices    atomic.Pointer[map[string]int] // nil until the first refresh has succeeded
	observer  *executor.Observer
	requests  *executor.Pool // to shops
	schedules *executor.ScheduledPool
}

func newService(shops []string, ask func(context.Context, string) (int, error)) (s *service, err error) {
	s = &service{shops: shops, ask: ask, observer: &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 100}}
	s.requests, err = executor.New(executor.Config{Name: "requests", Workers: 2, Observer: s.observer})
	if err != nil {
		return nil, err
	}
	s.schedules, err = executor.NewScheduled(executor.ScheduledConfig{Name: "schedules", Workers: 1, Observer: s.observer})
	if err != nil {
		return nil, err
	}
	// The context is not the one of the signal: the schedule ends with its pool, and a refresh in progress may finish.
	refresh, err := s.schedules.On(context.Background(), cron.MustParse("* * * * *"), s.refresh,
		executor.Named("refresh"), executor.Timeout(30*time.Second))
	if err != nil {
		return nil, err
	}
	return s, refresh.RunNow() // the first does not wait for the minute
}

// refresh asks all shops, two at a time, and ends at the first error. The pool limits all refreshes together.
func (s *service) refresh(ctx context.Context) error {
	cents := make([]int, len(s.shops))
	g := executor.NewGroup(ctx, s.requests)
	for i, shop := range s.shops {
		g.Go(func(ctx context.Context) (err error) {
			cents[i], err = s.ask(ctx, shop)
			return err
		}, executor.Named(shop))
	}
	if err := g.Wait(); err != nil {
		return err // logged, and shown on the page; the prices stay as they are
	}
	prices := make(map[string]int, len(s.shops))
	for i, shop := range s.shops {
		prices[shop] = cents[i]
	}
	s.prices.Store(&prices)
	return nil
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /prices", func(w http.ResponseWriter, _ *http.Request) {
		prices := s.prices.Load()
		if prices == nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "no prices yet", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(prices)
	})
	mux.Handle("/debug/executors/", debug.Handler(s.observer)) // a page, and metrics for Prometheus
	return mux
}

// stop lets a refresh in progress end until ctx does, then ends its context, and waits until it has returned. The pool
// of the schedules is first, because it submits to the other.
func (s *service) stop(ctx context.Context) {
	s.schedules.Drain(ctx)
	s.requests.Drain(ctx)
}
