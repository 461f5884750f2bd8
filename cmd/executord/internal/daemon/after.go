package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// trigger has the jobs run that run after this one, and do so after such an end. While the store does not answer it
// tries again until ctx ends, and once more then. An error says that the run has to be begun again, since others wait
// for its end.
func (r *run) trigger(ctx context.Context, o outcome.Outcome) error {
	if o != outcome.OK && !o.IsFailure() {
		return nil
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
				o := outcomeAt(ctx)
				return cut(outcome.Label{Outcome: o}, fmt.Sprintf("%s: %s, which runs after it, could not be begun", o, next.Job), 0)
			}
		}
	}
	return nil
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

// takeParameters reads the parameters that somebody has given to the run.
func (r *handled) takeParameters(ctx context.Context) (err error) {
	if len(r.job.Parameters) == 0 {
		return nil
	}
	d := r.entry.base
	r.given, err = catalog.GivenTo(ctx, d.catalog.Jobs, d.Store, d.Store.Namespace, r.job.Name, r.row.Occurrence, durable.LeftOutBefore(ctx).First)
	if err != nil {
		return cut(outcome.Label{Outcome: outcome.Delayed}, "delayed: "+err.Error(), time.Second)
	}
	return nil
}

// takeMarks removes the marks of a run that is after other jobs. It is an error if some are missing: the run before was
// after them already. A run for a time of the schedule needs none, and is after other jobs if it has all.
func (r *handled) takeMarks(ctx context.Context) error {
	if len(r.job.After) == 0 {
		return nil
	}
	d := r.entry.base
	marks, err := catalog.ListMarks(ctx, d.Store, d.Store.Namespace, r.job.Name)
	if err == nil && !marks.Complete(r.job.After) {
		if r.scheduled() {
			return nil
		}
		if !r.begunBefore() {
			return errIdle
		}
	}
	if err == nil {
		err = marks.Remove(ctx, d.catalog.Jobs)
	}
	if err != nil {
		return cut(outcome.Label{Outcome: outcome.Delayed}, "delayed: "+err.Error(), time.Second)
	}
	r.extra = append(r.extra, "EXECUTORD_AFTER="+marks.String())
	r.causes = marks.Traces()
	return nil
}

// leftOut returns what the store leaves out of the times that have passed during the run. A run that was asked for
// meanwhile is none of them, and follows this one.
func (r *handled) leftOut(ctx context.Context) durable.LeftOut {
	if len(r.job.After) == 0 && len(r.job.Parameters) == 0 { // nobody could ask
		return durable.LeftOutDuring(ctx)
	}
	d := r.entry.base
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
	defer cancel()
	again, err := catalog.SetAside(own, d.catalog.Jobs, d.Store, r.row)
	left := durable.LeftOutDuring(ctx)
	if err == nil {
		err = again()
	}
	if err != nil {
		r.log.Error("job not rescheduled", "reason", "if a run was asked for during this one, it does not follow: "+err.Error())
	}
	return left
}
