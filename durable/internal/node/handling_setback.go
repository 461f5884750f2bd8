package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// SetBack has those of the jobs go on from now, in the store and here, that are schedules whose times were found while
// the clock was ahead, and returns how many these are. found and step are as those of Timetable.SetBack. Schedules that this
// program can't read are left to others, and so are those that somebody changes meanwhile.
func (w *Work) SetBack(
	ctx context.Context, jobs []store.Job, found time.Time, step time.Duration, now time.Time,
) (changed int, err error) {
	var first, was store.Job
	defer func() {
		log := w.Log().With("due", first.Due, "was", was.Due, "clock", now)
		switch {
		case changed == 1:
			log.Warn("durable: the clock of the database was set back; a schedule goes on from the present",
				"job", first.ID, "key", first.Key, "kind", first.Kind)
		case changed > 1:
			log.Warn("durable: the clock of the database was set back; schedules go on from the present",
				"schedules", changed, "first", first.Key, "kind", first.Kind)
		}
	}()
	for i := range jobs {
		if !jobs[i].Periodic() {
			continue
		}
		tt, err := timetable.Parse(jobs[i].Schedule, w.Triggers)
		if err != nil {
			continue
		}
		j, later := tt.SetBack(jobs[i], found, step, now)
		if !later {
			continue
		}
		due := j.Due
		if j.State.Granted() {
			due = j.NextDue
		}
		answer, err := w.Store.Change(ctx, j.ID, store.Change{Op: store.OpSetBack, SetBack: store.SetBack{
			Epoch: j.Epoch, Updated: j.Updated, Due: due, Occurrence: j.Occurrence, Anchor: j.Anchor}})
		if err != nil {
			return changed, err
		}
		if answer != store.Applied && answer != store.Deferred {
			continue
		}
		if changed++; changed == 1 {
			first, was = j, jobs[i]
		}
		jobs[i] = j
	}
	return changed, nil
}

// present returns the time of the store or, as its answers take time, a later one: what has come by the clock of the
// store, has come by this.
func present(c *storeclock.Clock) time.Time { return c.Now().Add(c.Trip()) }

// setBack returns by how much the store's clock was set back to before what the run knows: its occurrence, and the time
// that the clock would show when the run has ended if nobody had set it. It returns the present, too.
func (h *Handling) setBack(ended time.Time) (step time.Duration, now time.Time) {
	now = present(h.env.clock)
	return max(h.job.Occurrence.Sub(now), ended.Sub(now)), now
}

// goOn returns the time at which the schedule of the job goes on, which would be next if nobody had set the clock back
// since.
func (h *Handling) goOn(next, ended time.Time) time.Time {
	step, now := h.setBack(ended)
	if !h.job.Periodic() || !h.times.Repeats(step) || !next.After(now) {
		return next
	}
	return h.times.Again(h.job.Anchor, next, now)
}

// moveAnchor moves the first time of a fixed rate to next, where the schedule goes on, if that is earlier, as the clock
// was ahead when the schedule was registered. The run in progress is for a later time of the grid. If the store does
// not take that, the schedule goes on at the first time once more.
func (h *Handling) moveAnchor(next time.Time) {
	if !h.times.Rated() || !next.Before(h.job.Anchor) || h.job.Occurrence.Before(h.job.Anchor) || h.inTx.Load() {
		return
	}
	ctx, cancel := h.env.opContext(context.Background())
	defer cancel()
	job, err := h.env.Store.Get(ctx, h.job.ID)
	if err != nil || job.Epoch != h.job.Epoch || !job.Anchor.Equal(h.job.Anchor) || !job.NextDue.IsZero() {
		return
	}
	h.env.Store.Change(ctx, job.ID, store.Change{Op: store.OpSetBack, SetBack: store.SetBack{
		Epoch: job.Epoch, Updated: job.Updated, Due: next, Occurrence: job.Occurrence, Anchor: next}})
}

// foundAhead reports whether the time of an outcome was found before the clock was set back, which the program has
// learned since, by the answer to the commit.
func (h *Handling) foundAhead(o *store.Outcome) bool {
	return o.State == store.Waiting && h.job.Periodic() && h.goOn(o.Due, o.Run.Finished).Before(o.Due)
}
