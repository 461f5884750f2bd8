package oracle

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor"
)

// invoke has all of several tasks done, or any. Those that follow take longer, and
// fail if the first does not. They don't look at their context where the end of the
// caller's own would be seen by them, too, before the caller sees it, or while he
// runs them: the JDK has no such thing.
func (r *run) invoke(s Step, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var fns []func(context.Context) (int, error)
	begun, latest := 0, time.Time{}
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
			begun, latest = begun+1, time.Now()
			r.mu.Unlock()
			return i, body(ctx)
		})
	}
	if s.Do == "invokeany" {
		switch i, err := executor.InvokeAny(ctx, r.pool, fns...); {
		case err == nil:
			r.note("invokeany %d returns %d", s.Task, i)
			r.mu.Lock()
			if begun < len(fns) || time.Since(latest) < tick/2 {
				r.crowded = true // the worker that is free may begin a loser before that is canceled
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
	var endings []string
	for _, f := range executor.InvokeAll(ctx, r.pool, fns...) {
		if errors.Is(f.Err(), executor.ErrRejected) {
			r.note("rejected %d", s.Task) // the JDK throws, and there are no futures
			return
		}
		endings = append(endings, f.State().String())
	}
	r.note("invokeall %d %v", s.Task, endings)
}
