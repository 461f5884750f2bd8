package oracle

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/java"
)

// invoke makes a bulk call with several tasks. Each takes longer than the previous one, and
// the others fail if the first does not. The tasks are stubborn where they could observe the
// end of the context of the caller, before the caller does or while it runs them, because the
// JDK has no such context.
func (r *run) invoke(s Step, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var fns []func(context.Context) (int, error)
	started, latest := 0, time.Time{}
	for i := range s.Args[2] {
		one := Step{Task: 100*(1+s.Task) + i, Args: [3]int{s.Args[0] + i}, Body: "stubborn"}
		switch {
		case (s.Body == "fail") == (i == 0):
			one.Body = "stubbornfail"
		case s.Do == "invokeany" && r.Reject == "abort":
			one.Body = "ok"
		}
		body := r.body(one)
		fns = append(fns, func(ctx context.Context) (int, error) {
			r.mu.Lock()
			started, latest = started+1, time.Now()
			r.mu.Unlock()
			return i, body(ctx)
		})
	}
	if s.Do == "invokeany" {
		switch i, err := executor.Any(ctx, r.pool, fns...); {
		case err == nil:
			r.note("invokeany %d returns %d", s.Task, i)
			r.mu.Lock()
			if started < len(fns) || time.Since(latest) < tick/2 {
				r.ambiguous = true // a free worker may start another task before it is canceled
			}
			r.mu.Unlock()
		case errors.Is(err, context.DeadlineExceeded):
			r.note("invokeany %d times out", s.Task)
		case errors.Is(err, executor.ErrRejected):
			r.note("rejected %d", s.Task)
		default:
			r.note("invokeany %d fails", s.Task)
		}
		return
	}
	var outcomes []string
	for _, f := range java.InvokeAll(ctx, r.pool, fns...) {
		if errors.Is(f.Err(), executor.ErrRejected) {
			r.note("rejected %d", s.Task) // the JDK throws and returns no futures
			return
		}
		outcomes = append(outcomes, f.State().String())
	}
	r.note("invokeall %d %v", s.Task, outcomes)
}
