package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// reviews are looks for schedules whose times were found while the store's clock was ahead.
type reviews struct {
	wanted chan struct{} // one slot

	mu   sync.Mutex
	step time.Duration // by how much the clock was set back when this node saw that last; 0 if it has not
	late []late
}

// late is a job whose time was found before the clock was set back, and stored after that. Its row does not show it.
type late struct {
	id         store.ID
	due, found time.Time
}

// want has the schedules reviewed.
func (v *reviews) want() {
	select {
	case v.wanted <- struct{}{}:
	default:
	}
}

// saw notes that the clock was set back, and has the schedules reviewed.
func (v *reviews) saw(step time.Duration) {
	v.mu.Lock()
	v.step = step
	v.mu.Unlock()
	v.want()
}

// reviewLoop reviews schedules until ctx ends: once this node has joined, when the clock was set back, and when jobs
// were freed that some node had claimed by the clock as it was.
func (n *Node) reviewLoop(ctx context.Context) {
	outage := n.outage("list")
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.reviews.wanted:
		}
		for {
			err := n.review(ctx)
			if ctx.Err() != nil {
				return
			}
			if outage.over(err) {
				break
			}
			outage.wait(ctx)
		}
	}
}

// reviewPage is how many schedules a review lists at once.
const reviewPage = 500

// review has the schedules of this node's kinds go on from the present that do not. What is paused is left until it is
// resumed.
func (n *Node) review(ctx context.Context) error {
	v := &n.reviews
	v.mu.Lock()
	step, lates := v.step, v.late
	v.mu.Unlock()
	for _, l := range lates {
		opCtx, cancel := n.opContext(ctx)
		job, err := n.cfg.Store.Get(opCtx, l.id)
		if err == nil && job.Due.Equal(l.due) {
			_, err = n.cfg.SetBack(opCtx, []store.Job{job}, l.found, step, n.present())
		}
		cancel()
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		v.mu.Lock()
		v.late = v.late[1:] // only this goroutine removes some
		v.mu.Unlock()
	}
	for _, kind := range n.cfg.Kinds() {
		now := n.present()
		ahead := store.TimeRange{From: timetable.Ahead(now)}
		for _, f := range []store.Filter{
			{Kind: kind, States: []store.State{store.Waiting}, Updated: ahead, Due: ahead, Limit: reviewPage},
			{Kind: kind, States: []store.State{store.Confirmed, store.Running}, Updated: ahead, Limit: reviewPage},
		} {
			for more := true; more; {
				opCtx, cancel := n.opContext(ctx)
				page, err := n.cfg.Store.List(opCtx, f)
				if err == nil {
					f.After, more = last(page, f.After), len(page) == f.Limit
					var changed int
					if changed, err = n.cfg.SetBack(opCtx, page, time.Time{}, step, now); changed > 0 {
						n.Wake()
					}
				}
				cancel()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func last(page []store.Job, after store.ID) store.ID {
	if len(page) == 0 {
		return after
	}
	return page[len(page)-1].ID
}

// SetBack has those of the jobs go on from now, in the store and here, that are schedules whose times were found while
// the clock was ahead, and returns how many these are. found and step are as those of Timetable.SetBack. Schedules that this
// program can't read are left to others, and so are those that somebody changes meanwhile.
func (c *Config) SetBack(
	ctx context.Context, jobs []store.Job, found time.Time, step time.Duration, now time.Time,
) (changed int, err error) {
	var first, was store.Job
	defer func() {
		log := c.Log().With("due", first.Due, "was", was.Due, "clock", now)
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
		tt, err := timetable.Parse(jobs[i].Schedule, c.Triggers)
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
		answer, err := c.Store.Change(ctx, j.ID, store.Change{Op: store.OpSetBack, SetBack: store.SetBack{
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
func (n *Node) present() time.Time { return n.clock.Now().Add(n.clock.Trip()) }

// setBack returns by how much the store's clock was set back to before what the run knows: its occurrence, and the time
// that the clock would show when the run has ended if nobody had set it. It returns the present, too.
func (r *run) setBack(ended time.Time) (step time.Duration, now time.Time) {
	now = r.n.present()
	return max(r.job.Occurrence.Sub(now), ended.Sub(now)), now
}

// goOn returns the time at which the schedule of a run goes on, which would be next if nobody had set the clock back
// since.
func (r *run) goOn(tt timetable.Timetable, next, ended time.Time) time.Time {
	step, now := r.setBack(ended)
	if !r.job.Periodic() || !tt.Repeats(step) || !next.After(now) {
		return next
	}
	return tt.Again(r.job.Anchor, next, now)
}

// moveAnchor moves the first time of a fixed rate to next, where a run of it goes on, if that is earlier, as the clock
// was ahead when the schedule was registered. The run in progress is for a later time of the grid. If the store does
// not take that, the schedule goes on at the first time once more.
func (r *run) moveAnchor(tt timetable.Timetable, next time.Time) {
	if !tt.Rated() || !next.Before(r.job.Anchor) || r.job.Occurrence.Before(r.job.Anchor) || r.inTx.Load() {
		return
	}
	n := r.n
	ctx, cancel := n.opContext(context.Background())
	defer cancel()
	job, err := n.cfg.Store.Get(ctx, r.job.ID)
	if err != nil || job.Epoch != r.job.Epoch || !job.Anchor.Equal(r.job.Anchor) || !job.NextDue.IsZero() {
		return
	}
	n.cfg.Store.Change(ctx, job.ID, store.Change{Op: store.OpSetBack, SetBack: store.SetBack{
		Epoch: job.Epoch, Updated: job.Updated, Due: next, Occurrence: job.Occurrence, Anchor: next}})
}

// reviewLate has the schedule of a run reviewed whose outcome has a time that was found before the clock was set back: the
// node has learned that by the answer to the commit.
func (r *run) reviewLate(o *store.Outcome) {
	if o.State != store.Waiting || !r.job.Periodic() || !r.goOn(r.times, o.Due, o.Run.Finished).Before(o.Due) {
		return
	}
	v := &r.n.reviews
	v.mu.Lock()
	v.late = append(v.late, late{r.job.ID, o.Due, o.Run.Finished})
	v.mu.Unlock()
	v.want()
}
