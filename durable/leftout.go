package durable

import (
	"context"
	"time"
)

// LeftOut are successive occurrences of a periodic job at which it did not run.
type LeftOut struct {
	Count int       // 100,000 stands for that many or more
	First time.Time // zero if Count is 0
}

// maxLeftOut bounds LeftOut.Count, since a trigger is asked for one time after the other.
const maxLeftOut = 100_000

// LeftOutBefore returns the occurrences that the run of ctx makes up for besides its own: those before it that nobody
// ran. Only the first attempt of an occurrence reports them. There are none if ctx is not a handler's.
func LeftOutBefore(ctx context.Context) LeftOut {
	if c, ok := ctx.Value(currentKey{}).(current); ok {
		return c.before()
	}
	return LeftOut{}
}

// LeftOutDuring returns the occurrences that have passed during the run of ctx and that SkipOverlap leaves out. The
// first call decides: what passes after it is due when the run ends, and later calls return the same. A handler calls
// it last, if at all: durable does so itself when the handler has returned.
//
// It asks the store whether the job has got another schedule meanwhile. If the store does not answer within
// Config.Lease, the schedule with which the run began counts; so it does for a run that ends by CompleteTx. With
// another policy than SkipOverlap nothing is left out at the end of a run, and there are none; nor are there if ctx is
// not a handler's.
func LeftOutDuring(ctx context.Context) LeftOut {
	if c, ok := ctx.Value(currentKey{}).(current); ok && c.during != nil {
		return c.during().LeftOut
	}
	return LeftOut{}
}

// leftOutBefore returns what LeftOutBefore does.
func (r *run) leftOutBefore(tt timetable) LeftOut {
	if r.job.Attempt > 1 || tt.delay > 0 || !r.job.Due.Before(r.job.Occurrence) {
		return LeftOut{}
	}
	n, _ := tt.passed(r.job.Anchor, r.job.Due, r.job.Occurrence)
	return LeftOut{min(n+1, maxLeftOut), r.job.Due} // Due is one of them
}

// overlap is what has passed during a run, and where the schedule goes on.
type overlap struct {
	LeftOut
	next time.Time
}

// leftOutDuring returns what has passed since the occurrence of a run that started then.
//
// A time has passed if it has on the store's clock, and would have if nobody had set that during the run. The times
// over which the clock was put forward are missed, and those before which it was put back are yet to come.
//
// A job that got another schedule or another time meanwhile has that in NextDue, and the times before it do not count.
// CompleteTx does not ask for it: to move NextDue would wait for the handler's own transaction.
func (r *run) leftOutDuring(ctx context.Context, tt timetable, started start) overlap {
	end := started.now()
	if now := r.n.clock.now(); now.Before(end) {
		end = now
	}
	if !r.inTx.Load() {
		opCtx, cancel := r.n.opContext(context.WithoutCancel(ctx))
		defer cancel()
		job, err := r.n.jobs.store.Get(opCtx, r.job.ID)
		if err == nil && job.Epoch == r.job.Epoch && !job.NextDue.IsZero() {
			return r.n.skipNextDue(opCtx, job, end)
		}
	}
	count, next := tt.passed(r.job.Anchor, r.job.Occurrence, end)
	o := overlap{LeftOut{Count: count}, next}
	if count > 0 {
		o.First = tt.next(r.job.Anchor, r.job.Occurrence, end)
	}
	return o
}

// skipNextDue has a running job go on after end, and returns what it leaves out from NextDue on. If that can't be done,
// the job is due at NextDue.
func (n *node) skipNextDue(ctx context.Context, job Job, end time.Time) overlap {
	o := overlap{next: job.NextDue}
	if !job.NextDue.Before(end) {
		return o
	}
	tt, err := parseTimetable(job.Schedule, n.jobs.cfg.Triggers)
	if err != nil || tt.delay > 0 {
		return o
	}
	count, next := tt.passed(job.Anchor, job.NextDue, end)
	if next.IsZero() || !next.After(job.NextDue) {
		return o
	}
	if _, err := n.jobs.store.Change(ctx, job.ID, Change{Op: OpReschedule, Due: ceilMicros(next)}); err != nil {
		return o
	}
	return overlap{LeftOut{min(count+1, maxLeftOut), job.NextDue}, next}
}

// passed counts the times of the schedule after one time and before another, and returns the one that follows them, the
// zero Time if there is none. It counts up to maxLeftOut.
func (tt timetable) passed(anchor, after, before time.Time) (n int, next time.Time) {
	next = tt.next(anchor, after, after)
	if next.IsZero() || !next.Before(before) || !next.After(after) {
		return 0, next
	}
	if tt.rate > 0 {
		steps := (before.Sub(next)-1)/tt.rate + 1
		return int(min(steps, maxLeftOut)), onGrid(next, before.Add(-1), tt.rate)
	}
	for n < maxLeftOut && next.Before(before) {
		n++
		t := tt.next(anchor, next, next)
		if !t.After(next) {
			return n, time.Time{}
		}
		next = t
	}
	if next.Before(before) {
		next = tt.next(anchor, tt.latest(anchor, next, before.Add(-1)), before)
	}
	return n, next
}
