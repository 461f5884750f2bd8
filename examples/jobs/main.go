// Jobs is an HTTP service with jobs in the background:
//
//	go run ./examples/jobs -listen 127.0.0.1:8080
//	curl -d name=report http://127.0.0.1:8080/jobs
//	curl http://127.0.0.1:8080/debug/executors/
//
// It accepts as many jobs as fit into its queue, and answers 429 beyond. At an interrupt it accepts no more, lets the
// jobs end for a while, then ends their contexts, and prints the names of those that never ran.
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
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address of the service")
	grace := flag.Duration("grace", 5*time.Second, "how long jobs may go on at the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, *grace, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jobs:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and then shuts down within the grace period.
func run(ctx context.Context, address string, grace time.Duration, out io.Writer) error {
	s, err := newService(executor.Config{Name: "jobs", Workers: 4, Queue: executor.Bounded(100)}, work)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
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
	for _, name := range s.stop(ending) {
		fmt.Fprintln(out, "never ran:", name)
	}
	return err
}

// work is what a job does.
func work(ctx context.Context, name string) error {
	select {
	case <-time.After(2 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// service accepts jobs and runs them.
type service struct {
	pool     *executor.Pool
	observer *executor.Observer
	work     func(ctx context.Context, name string) error
}

func newService(c executor.Config, work func(context.Context, string) error) (*service, error) {
	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 100}
	c.Observer = observer
	pool, err := executor.New(c)
	return &service{pool, observer, work}, err
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", s.add)
	mux.HandleFunc("GET /stats", s.stats)
	mux.Handle("/debug/executors/", debug.Handler(s.observer)) // a page, and metrics for Prometheus
	return mux
}

// add accepts a job, which outlives the request.
func (s *service) add(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	job := func(ctx context.Context) error { return s.work(ctx, name) }
	err := s.pool.Go(context.WithoutCancel(r.Context()), job, executor.Named(name))
	switch {
	case errors.Is(err, executor.ErrSaturated):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many jobs; try again later", http.StatusTooManyRequests)
	case err != nil:
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *service) stats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.pool.Stats())
}

// stop lets the jobs end until ctx does, then ends theirs, waits until they have returned, and returns the names of
// those that never ran.
func (s *service) stop(ctx context.Context) (names []string) {
	for _, job := range s.pool.Drain(ctx) {
		names = append(names, job.Name())
	}
	return names
}
