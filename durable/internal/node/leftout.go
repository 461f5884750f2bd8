package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// LeftOut are successive occurrences of a periodic job at which it did not run, as durable.LeftOut.
type LeftOut struct {
	Count int
	First time.Time
}

// leftOutBefore returns what LeftOutBefore does.
func (r *run) leftOutBefore(tt timetable.Timetable) LeftOut {
	if r.job.Attempt > 1 || tt.Delays() || !r.job.Due.Before(r.job.Occurrence) {
		return LeftOut{}
	}
	n, _, _ := tt.Passed(r.job.Anchor, r.job.Due, r.job.Occurrence)
	return LeftOut{min(n+1, timetable.MostPassed), r.job.Due} // Due is one of them
}

// overlap is what has passed during a run, and where the schedule goes on; or why that is not known.
type overlap struct {
	LeftOut
	next time.Time
	err  error
}

// leftOutDuring returns what has passed since the occurrence of a run that started then.
//
// A time has passed if it has on the store's clock, and would have if nobody had set that during the run. The times
// over which the clock was put forward are missed, and those before which it was put back are yet to come.
//
// A job that got another schedule or another time meanwhile has that in NextDue, and the times before it do not count.
// CompleteTx does not ask for it: to move NextDue would wait for the handler's own transaction.
func (r *run) leftOutDuring(ctx context.Context, tt timetable.Timetable, started storeclock.Start) overlap {
	end := started.Now()
	if now := r.n.clock.Now(); now.Before(end) {
		end = now
	}
	if !r.inTx.Load() {
		opCtx, cancel := r.n.opContext(context.WithoutCancel(ctx))
		defer cancel()
		job, err := r.n.cfg.Store.Get(opCtx, r.job.ID)
		if err == nil && job.Epoch == r.job.Epoch && !job.NextDue.IsZero() {
			return r.n.skipNextDue(opCtx, job, end)
		}
	}
	count, next, err := tt.Passed(r.job.Anchor, r.job.Occurrence, end)
	o := overlap{LeftOut{Count: count}, next, err}
	if count > 0 {
		o.First = tt.Next(r.job.Anchor, r.job.Occurrence, end)
	}
	return o
}

// skipNextDue has a running job go on after end, and returns what it leaves out from NextDue on. If that can't be done,
// the job is due at NextDue.
func (n *Node) skipNextDue(ctx context.Context, job store.Job, end time.Time) overlap {
	o := overlap{next: job.NextDue}
	if !job.NextDue.Before(end) {
		return o
	}
	tt, err := timetable.Parse(job.Schedule, n.cfg.Triggers)
	if err != nil || tt.Delays() {
		return o
	}
	count, next, err := tt.Passed(job.Anchor, job.NextDue, end)
	if err != nil || next.IsZero() {
		return o
	}
	if _, err := n.cfg.Store.Change(ctx, job.ID, store.Change{Op: store.OpReschedule, Due: timetable.Ceil(next)}); err != nil {
		return o
	}
	return overlap{LeftOut{min(count+1, timetable.MostPassed), job.NextDue}, next, nil}
}
