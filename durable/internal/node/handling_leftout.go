package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// LeftOutBefore returns what durable.LeftOutBefore does.
func (h *Handling) LeftOutBefore() LeftOut { return h.before() }

// LeftOutDuring returns what durable.LeftOutDuring does.
func (h *Handling) LeftOutDuring() LeftOut {
	if h.during == nil {
		return LeftOut{}
	}
	return h.during().LeftOut
}

func (h *Handling) leftOutBefore() LeftOut {
	if h.job.Attempt > 1 || h.times.Delays() || !h.job.Due.Before(h.job.Occurrence) {
		return LeftOut{}
	}
	n, _, _ := h.times.Passed(h.job.Anchor, h.job.Due, h.job.Occurrence)
	return LeftOut{min(n+1, timetable.MostPassed), h.job.Due} // Due is one of them
}

// leftOutDuring returns what has passed since the occurrence of the run.
//
// A time has passed if it has on the store's clock, and would have if nobody had set that during the run. The times
// over which the clock was put forward are missed, and those before which it was put back are yet to come.
//
// A job that got another schedule or another time meanwhile has that in NextDue, and the times before it do not count.
// CompleteTx does not ask for it: to move NextDue would wait for the handler's own transaction.
func (h *Handling) leftOutDuring(ctx context.Context) overlap {
	end := h.started.Now()
	if now := h.Now(); now.Before(end) {
		end = now
	}
	if !h.inTx.Load() {
		opCtx, cancel := h.env.opContext(context.WithoutCancel(ctx))
		defer cancel()
		job, err := h.env.Store.Get(opCtx, h.job.ID)
		if err == nil && job.Epoch == h.job.Epoch && !job.NextDue.IsZero() {
			return h.env.skipNextDue(opCtx, job, end)
		}
	}
	count, next, err := h.times.Passed(h.job.Anchor, h.job.Occurrence, end)
	o := overlap{LeftOut{Count: count}, next, err}
	if count > 0 {
		o.First = h.times.Next(h.job.Anchor, h.job.Occurrence, end)
	}
	return o
}

// skipNextDue has a running job go on after end, and returns what it leaves out from NextDue on. If that can't be done,
// the job is due at NextDue.
func (w *Work) skipNextDue(ctx context.Context, job store.Job, end time.Time) overlap {
	o := overlap{next: job.NextDue}
	if !job.NextDue.Before(end) {
		return o
	}
	tt, err := timetable.Parse(job.Schedule, w.Triggers)
	if err != nil || tt.Delays() {
		return o
	}
	count, next, err := tt.Passed(job.Anchor, job.NextDue, end)
	if err != nil || next.IsZero() {
		return o
	}
	if _, err := w.Store.Change(ctx, job.ID, store.Change{Op: store.OpReschedule, Due: timetable.Ceil(next)}); err != nil {
		return o
	}
	return overlap{LeftOut{min(count+1, timetable.MostPassed), job.NextDue}, next, nil}
}
