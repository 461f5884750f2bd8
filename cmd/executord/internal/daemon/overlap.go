package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// overlapPause is the least time between two lines about the times that pass during one run. It is documented.
const overlapPause = time.Minute

// overlapLag is how long after a time it counts as passed for the watch. The store, which decides at the end of the
// run, has package durable's idea of its clock: that is behind by as much as the store's answers take, more than before
// if these have become slow. A time that it then takes for one to come is run.
const overlapLag = 400 * time.Millisecond

// mostWait is the longest wait for a due time during a run: the clock may be set meanwhile, or a file bring another
// schedule.
const mostWait = 30 * time.Second

// overlapWatch logs the times that pass during a run, the first at once, so that a run that hangs is seen in the log.
type overlapWatch struct {
	run *handled
	overlap
	plan
	before int // what an earlier attempt of the run has logged
	others int // how many times have passed of schedules before

	// mu is held while the times that have passed are logged.
	mu struct {
		sync.Mutex
		timer   *time.Timer // nil before the first look, and if there is none
		stopped bool
		quiet   time.Time // no line before this
	}
}

// watchOverlaps begins the watch. The caller stops it.
func (r *handled) watchOverlaps() *overlapWatch {
	w := &overlapWatch{run: r}
	if w.watches() {
		w.plan = r.plan()
	}
	w.overlap = overlap{occurrence: r.row.Occurrence, through: r.row.Occurrence}
	if r.overlap.Do == job.ReplaceOverlap {
		w.through = r.now() // what has passed while the run waited does not end it
	}
	r.entry.mu.Lock()
	if r.overlap.Do == job.SkipOverlap && r.entry.mu.latest.occurrence.Equal(w.occurrence) {
		w.overlap = r.entry.mu.latest // it was begun here before, and was lost
	}
	r.entry.mu.latest, w.before = w.overlap, w.logged
	r.entry.mu.Unlock()
	w.look()
	return w
}

// watches reports whether a time that passes is of any concern.
func (w *overlapWatch) watches() bool {
	return w.run.overlap.Do == job.SkipOverlap || w.run.overlap.Do == job.ReplaceOverlap
}

// follow goes over to the times of another schedule, and to other exceptions, if a file has brought some. The times
// before that have passed.
func (w *overlapWatch) follow() {
	plan := w.run.plan()
	same := plan.schedule == w.schedule && plan.anchor.Equal(w.anchor)
	if !w.watches() || same && plan.season.Equal(w.season) {
		return
	}
	if w.run.overlap.Do == job.SkipOverlap {
		n, _ := catalog.Passed(w.times, w.through, plan.since)
		w.pass(n, w.first(), plan.since)
	}
	if same {
		w.season = plan.season
		return
	}
	if w.plan, w.others = plan, w.passed; w.through.Before(plan.since) {
		w.through = plan.since.Add(-1)
	}
}

// stop returns when nothing more is logged. It may be called again.
func (w *overlapWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.stopped = true
	if w.mu.timer != nil {
		w.mu.timer.Stop()
	}
}

// end stops the watch, logs the times that are not in the log yet, and returns how many were skipped during the run: all
// that the store leaves out and that count, unless the run was interrupted, and is begun again.
func (w *overlapWatch) end(ctx context.Context, o outcome.Outcome) int {
	w.stop()
	w.follow()
	now := w.run.now()
	if w.run.overlap.Do != job.SkipOverlap {
		return 0 // a run follows
	}
	if o == outcome.Stopped || o == outcome.Lost || o == outcome.Delayed {
		n, _ := catalog.Passed(w.times, w.through, now)
		w.pass(n, w.first(), now)
		return w.logged - w.before
	}
	if w.times == nil { // it was removed from the file
		return w.logged - w.before
	}
	left := durable.LeftOutDuring(ctx)
	if at := w.run.follow(ctx); !at.IsZero() { // the times up to then
		n, _ := catalog.Passed(w.times, w.through, at)
		w.pass(n, w.first(), at)
		return w.logged - w.before
	}
	rest, first := left.Count, left.First
	if !first.After(w.through) { // else these are all of another schedule that came during the run, and none is logged
		rest, first = rest-(w.passed-w.others), w.first()
	}
	w.pass(rest, first, w.run.now())
	return w.logged - w.before
}

// first returns the first of the times that are not logged yet, the zero Time if there is none.
func (w *overlapWatch) first() time.Time {
	if w.times == nil {
		return time.Time{}
	}
	return w.times.Next(w.through)
}

// look logs the times that have passed, and looks again when there is another one, until the watch is stopped.
func (w *overlapWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.stopped || !w.watches() { // what has passed is no longer looked at under the lock
		return
	}
	w.follow()
	next, now := w.first(), w.run.now()
	if w.run.overlap.Do == job.ReplaceOverlap {
		next = w.next(w.through) // no run is for one that does not count
	}
	switch {
	case next.IsZero():
	case w.run.overlap.Do == job.ReplaceOverlap:
		if next.Before(now) {
			if w.run.entry.end(w.run.number, errReplaced) {
				return
			}
			next = now.Add(10 * time.Millisecond) // it is about to begin
		}
	default:
		now = now.Add(-overlapLag)
		if n, after := catalog.Passed(w.times, w.through, now); n > 0 && !now.Before(w.mu.quiet) {
			w.pass(n, next, now)
			next, w.mu.quiet = after, now.Add(overlapPause)
		}
	}
	wait := mostWait
	if !next.IsZero() {
		wait = min(wait, max(next.Sub(now)+time.Microsecond, w.mu.quiet.Sub(now)))
	}
	if w.mu.timer == nil {
		w.mu.timer = time.AfterFunc(wait, w.look)
	} else {
		w.mu.timer.Reset(wait)
	}
}

// pass records n more times that have passed during the run, all of them before now: those that count are skipped.
func (w *overlapWatch) pass(n int, first, now time.Time) {
	if n <= 0 {
		return
	}
	passed := w.dues(first, n)
	skipped := passed.counts
	w.passed, w.logged = w.passed+n, w.logged+skipped.n
	w.through = now.Add(-1)
	e := w.run.entry
	e.mu.Lock()
	e.mu.Skipped += skipped.n
	e.mu.latest = w.overlap
	e.mu.Unlock()
	passed.logExcluded(e.log)
	if skipped.n == 0 {
		return
	}
	e.log.Warn("runs skipped", about.Key, about.RunsSkipped, "count", skipped.n, "first", stamp(skipped.first),
		"reason", "the previous run is still in progress", "running", w.run.number)
	e.tell(notify.Event{
		Kind: notify.Skipped, Run: w.run.number, Count: w.logged, Before: w.logged - skipped.n, Due: skipped.first,
		Reason: "the previous run is still in progress",
	})
}
