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

// readAsks looks for what has asked for the run, and for its parameters. It is an error if nothing has.
func (r *handled) readAsks(ctx context.Context) error {
	d, first := r.entry.base, r.left.First
	if len(r.job.After) == 0 && len(r.job.Parameters) == 0 && r.onSchedule() && (first.IsZero() || catalog.Scheduled(r.row, first)) {
		return nil // nobody has asked for it
	}
	nobody := false
	err := r.persist(ctx, func() error {
		marks, err := catalog.ListMarks(ctx, d.Store, d.Store.Namespace, r.job.Name)
		if err != nil {
			return err
		}
		if idle, err := catalog.TakeBrought(ctx, d.catalog.Jobs, r.row, r.job.After, marks); idle || err != nil {
			nobody = idle
			return err
		}
		r.asks = marks.For(r.row.Occurrence).Asks()
		if len(r.job.Parameters) == 0 {
			return nil
		}
		r.given, err = catalog.FindGiven(ctx, d.Store, d.Store.Namespace, r.job.Name, r.row.Occurrence) // it is begun again
		if r.given == nil {
			r.given = r.asks.Values()
		}
		return err
	})
	if err == nil && nobody {
		err = errIdle
	}
	return err
}

// takeMarks removes the marks of a run that is after other jobs, or that somebody has asked for. It is an error if some
// are missing: the run before was after them already. A run for a time of the schedule needs none, and is after other
// jobs if it has all.
func (r *handled) takeMarks(ctx context.Context) error {
	d := r.entry.base
	if r.given != nil { // from now on they are of this run, which may have to be begun again
		err := r.persist(ctx, func() error {
			return catalog.KeepGiven(ctx, d.catalog.Jobs, d.Store, d.Store.Namespace, r.job.Name, r.row.Occurrence, r.given)
		})
		if err != nil {
			return err
		}
	}
	marks := r.asks
	if len(r.job.After) > 0 {
		err := r.persist(ctx, func() (err error) {
			marks, err = catalog.ListMarks(ctx, d.Store, d.Store.Namespace, r.job.Name)
			return err
		})
		if err != nil {
			return err
		}
		marks = marks.For(r.row.Occurrence)
		if !marks.Complete(r.job.After) {
			if r.onSchedule() {
				return nil
			}
			if !r.begunBefore() {
				return errIdle
			}
		}
		r.extra = append(r.extra, "EXECUTORD_AFTER="+marks.String())
		r.causes = marks.Traces()
	}
	return r.persist(ctx, func() error { return marks.Remove(ctx, d.catalog.Jobs) })
}

// follow makes the job due if a run is to follow this one, and returns for when, the zero Time if none is.
func (r *handled) follow(ctx context.Context) time.Time {
	if len(r.job.After) == 0 && len(r.job.Parameters) == 0 { // none is asked for during a run
		return time.Time{}
	}
	d := r.entry.base
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
	defer cancel()
	at, err := catalog.Follow(own, d.catalog.Jobs, d.Store, r.row)
	if err != nil {
		r.log.Error("job not rescheduled", "reason", "if a run was asked for during this one, it does not follow: "+err.Error())
	}
	return at
}
