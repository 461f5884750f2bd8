package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// trigger has the jobs run that run after this one, and do so after such an end. While the store does not answer it
// tries again until ctx ends, and once more then. If that fails too, the run has to be begun again, since others wait
// for its end, and trigger returns with which outcome, and why.
func (r *run) trigger(ctx context.Context, o outcome.Outcome) (again outcome.Outcome, why string) {
	if o != outcome.OK && !o.IsFailure() {
		return "", ""
	}
	d := r.entry.base
	for _, next := range r.job.Next {
		if !next.Follows(o == outcome.OK) {
			continue
		}
		for tries := 1; ; tries++ {
			err := d.mark(ctx, next.Job, r)
			if err != nil && ctx.Err() != nil { // the run has ended by itself, and should not be begun again for want of a mark
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
				err = d.mark(last, next.Job, r)
				cancel()
			}
			if err == nil {
				break
			}
			if tries == 1 {
				r.log.Error("following job not started yet", "next", next.Job, "reason", err.Error())
			}
			select {
			case <-time.After(min(time.Duration(tries)*100*time.Millisecond, 2*time.Second)):
			case <-ctx.Done():
				again = outcomeAt(ctx)
				return again, fmt.Sprintf("%s: %s, which runs after it, could not be begun", again, next.Job)
			}
		}
	}
	return "", ""
}

// outcomeAt returns the outcome of a run that ctx has interrupted.
func outcomeAt(ctx context.Context) outcome.Outcome {
	return new(run).outcomeOf(process.Result{Stopped: true, Cause: context.Cause(ctx)})
}

// lastTry bounds the last try to set a mark, in a drain that is over.
const lastTry = 2 * time.Second

// mark sets the mark of one job by a run of another.
func (d *base) mark(ctx context.Context, name string, by *run) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return catalog.SetMark(ctx, d.catalog.Jobs, d.Store, d.Store.Namespace, name, by.job.Name, by.spans.traceparent())
}
