package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// beside runs the command of a job that allows several runs at a time. When the job is due again, and there is room for
// one more run, the run is let go: it goes on in this daemon, and for the store it is over, since a row of the store
// runs once at a time.
//
// A row of its own for each run lost: it would be another job for all that lists them, and its history another one.
func (r *handled) beside(ctx context.Context) error {
	d := r.entry.base
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	bound := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	type end struct {
		result process.Result
		outcome.Outcome
		err error // of the jobs after it
	}
	ended := make(chan end, 1)
	r.entry.begin() // before there is a look at how many there are
	d.apart.Go(func() {
		defer cancel(nil)
		defer context.AfterFunc(d.stopping, func() { cancel(executor.ErrShutdown) })()
		result, o := r.execute(own, func(outcome.Outcome) int { return 0 })
		ended <- end{result, o, r.trigger(own, o)}
	})
	for {
		changed := r.entry.runsChanged()
		wait := mostWait // until the job is due again
		if next := r.plan().next(r.row.Occurrence); !next.IsZero() {
			wait = min(wait, max(next.Sub(r.now())+time.Microsecond, 0))
		}
		if wait == 0 && r.entry.read().Running < r.overlap.Most && d.leaving.Err() == nil && bound() {
			r.letGo.Store(true)
			return nil
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case e := <-ended:
			if e.err != nil {
				return e.err
			}
			return r.verdict(e.result, e.Outcome)
		case <-due:
		case <-changed:
		}
	}
}
