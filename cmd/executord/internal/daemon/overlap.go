package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// overlap counts the times of a job that pass during one of its runs.
type overlap struct {
	occurrence time.Time // that the run is for
	logged     int       // how many times were counted and logged
	through    time.Time // the times up to this one are those
}

// overlapPause is the least time between two lines about the times that pass during one run. It is documented.
const overlapPause = time.Minute

// watchOverlaps logs the times that pass from now on, the first at once, so that a run that hangs is seen in the
// log. It returns a function that ends this, and returns how many times have passed during the run: all that the
// store leaves out unless the run was interrupted, and is begun again.
func (r *handled) watchOverlaps() (end func(ctx context.Context, interrupted bool) int) {
	o := overlap{occurrence: r.row.Occurrence, through: r.row.Occurrence}
	r.entry.mu.Lock()
	if r.entry.mu.latest.occurrence.Equal(o.occurrence) {
		o = r.entry.mu.latest // it was begun here before, and was lost
	}
	r.entry.mu.latest = o
	before, times := o.logged, catalog.Times(r.row)
	changes := r.entry.mu.changes
	r.entry.mu.Unlock()

	quit, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with end
		defer close(done)
		r.logOverlaps(&o, times, changes, quit)
	}()
	return func(ctx context.Context, interrupted bool) int {
		close(quit)
		<-done
		if interrupted {
			n, _ := catalog.Passed(times, o.through, r.now())
			r.skip(&o, n, o.first(times), r.now())
			return o.logged - before
		}
		left := durable.LeftOutDuring(ctx)
		rest, first := left.Count, left.First
		if !first.After(o.through) { // else another schedule came during the run, and its times are not logged yet
			rest, first = rest-o.logged, o.first(times)
		}
		r.skip(&o, rest, first, r.now())
		return o.logged - before
	}
}

// first returns the first of the times that are not logged yet, the zero Time if there is none.
func (o *overlap) first(times job.Trigger) time.Time {
	if times == nil {
		return time.Time{}
	}
	return times.Next(o.through)
}

// logOverlaps logs the times that pass, until quit is closed, or there is another change of the job, which then has
// other times.
func (r *handled) logOverlaps(o *overlap, times job.Trigger, changes int, quit <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var quiet time.Time // no line before this
	for {
		next := o.first(times)
		if next.IsZero() {
			return
		}
		for {
			if r.entry.changes() != changes {
				return
			}
			now := r.now()
			if n, after := catalog.Passed(times, o.through, now); n > 0 && !now.Before(quiet) {
				r.skip(o, n, next, now)
				if after.IsZero() {
					return
				}
				quiet = now.Add(overlapPause)
				break
			}
			// The clock may be set meanwhile.
			wait := max(next.Sub(now)+time.Microsecond, quiet.Sub(now))
			timer.Reset(min(wait, 30*time.Second))
			select {
			case <-timer.C:
			case <-quit:
				return
			}
		}
	}
}

// skip records n more times that have passed during the run, all of them before now.
func (r *handled) skip(o *overlap, n int, first, now time.Time) {
	if n <= 0 {
		return
	}
	o.logged += n
	o.through = now.Add(-1)
	r.entry.mu.Lock()
	r.entry.mu.Skipped += n
	r.entry.mu.latest = *o
	r.entry.mu.Unlock()
	r.entry.log.Warn("runs skipped", "count", n, "first", stamp(first.In(r.spec.Location())),
		"reason", "the run before is in progress", "running", r.number)
}
