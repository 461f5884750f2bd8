package howto

import (
	"expvar"
	"net/http"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

// observe returns a pool whose tasks are measured, and a handler with their figures. Serve the handler at an address
// that only operators and Prometheus can reach. host is that address, such as "10.0.0.5:9090".
func observe(c executor.Config, host string) (*executor.Pool, http.Handler, error) {
	observer := &executor.Observer{
		Every:    1,  // measure each task: right if tasks take longer than some microseconds
		MaxNames: 20, // keep figures for up to 20 task names of each pool
	}
	c.Observer = observer
	pool, err := executor.New(c)
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/executors/", debug.Handler(observer, debug.Hosts(host)))
	return pool, mux, nil
}

// vars returns the figures of a pool as a variable of package expvar. The counters count from the start of the pool.
func vars(pool *executor.Pool) expvar.Func {
	return func() any {
		f := pool.Figures()
		return map[string]any{
			"active":          f.Active,
			"queued":          f.Queued,
			"failed":          f.Failed,
			"rejected":        f.Rejected,
			"wait_p99_millis": f.Wait.Quantile(0.99).Milliseconds(),
		}
	}
}

// overloaded reports whether tasks wait for too long. Use it in a health check, or to shed load.
func overloaded(pool *executor.Pool) bool {
	s := pool.Stats()
	return s.Blocked > 0 || s.Queued > 10*s.Workers
}

// waits returns a function that reports the longest wait of nearly all tasks since its last call.
func waits(pool *executor.Pool) func() (p99 time.Duration) {
	last := pool.Figures().Wait
	return func() time.Duration {
		now := pool.Figures().Wait
		since := now.Sub(last)
		last = now
		return since.Quantile(0.99)
	}
}
