package howto

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/executor-go/executor"
)

// service is an HTTP server, and a pool for the work that its requests leave behind.
type service struct {
	handler http.Handler
	pool    *executor.Pool
	notice  time.Duration // from the signal until connections are refused
	grace   time.Duration // from then until contexts end
}

// serve answers requests until ctx ends. It then ends the requests, and after them the tasks.
func (s service) serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/", s.handler)
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	var err error
	select {
	case err = <-served: // the listener has failed
	case <-ctx.Done():
		time.Sleep(s.notice) // the load balancer sees that /ready fails
	}

	grace, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	if late := server.Shutdown(grace); late != nil { // accepts no connection, waits for requests
		err = errors.Join(err, late, server.Close()) // ends the contexts of the requests that are left
	}
	for _, task := range s.pool.Drain(grace) { // accepts no task, waits for those that are left
		err = errors.Join(err, fmt.Errorf("task %q never ran", task.Name()))
	}
	return err
}

// upload answers at once. The thumbnail is made after the answer, so it must not end with the request.
func upload(pool *executor.Pool, thumbnail func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithoutCancel(r.Context()) // keeps the values, such as those of a trace
		err := pool.Go(ctx, thumbnail, executor.Named("thumbnail"), executor.Timeout(time.Minute))
		switch {
		case err == nil:
			w.WriteHeader(http.StatusAccepted)
		case errors.Is(err, executor.ErrSaturated):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many uploads; try again later", http.StatusTooManyRequests)
		default:
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
		}
	}
}
