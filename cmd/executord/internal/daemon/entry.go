package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// entry is one job while the daemon runs.
type entry struct {
	daemon *Daemon
	name   string
	log    *slog.Logger

	// mu is held for moments only. A count and the line of the log about it are not one step, so lines of concurrent
	// events may change places.
	mu struct {
		sync.Mutex
		Counts
		figures Figures
		ends    map[int]context.CancelCauseFunc // of the runs in progress, by their numbers
		latest  overlap                         // of the latest run
		ended   time.Time                       // of the run that ended last, on the clock of the store if it is of that
		turned  chan struct{}                   // closed when a run begins or ends; nil if nobody waits for that
		bad     bool                            // the run that ended last was not ok
		changes int                             // how often a file has changed the job
	}
}

// Counts is what became of the times at which a job was due. Each time is a run, or skipped, or missed.
type Counts struct {
	Runs        int
	Failed      int // runs that could not start, or ended otherwise than with exit code 0
	Interrupted int // failed runs that were ended because the daemon was, or lost while it drained
	Skipped     int // times at which the run before was in progress
	Missed      int // times that passed without the daemon: asleep, stopped, without a processor, or draining
}

// entry returns the entry of the job of that name.
func (d *Daemon) entry(name string) *entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.mu.entries[name]
	if e == nil {
		e = &entry{daemon: d, name: name, log: d.Log.With("job", name)}
		d.mu.entries[name] = e
		d.mu.order = append(d.mu.order, e)
	}
	return e
}

// hold notes how a run in progress is ended, until the function that it returns is called.
func (e *entry) hold(number int, end context.CancelCauseFunc) (release func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.ends == nil {
		e.mu.ends = make(map[int]context.CancelCauseFunc)
	}
	e.mu.ends[number] = end
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.mu.ends, number)
	}
}

// begin counts a run.
func (e *entry) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.Runs++
	e.mu.figures.Running++
	e.turnLocked()
}

// runsChanged returns what is closed when a run of the job begins or ends here.
func (e *entry) runsChanged() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.turned == nil {
		e.mu.turned = make(chan struct{})
	}
	return e.mu.turned
}

func (e *entry) turnLocked() {
	if e.mu.turned != nil {
		close(e.mu.turned)
		e.mu.turned = nil
	}
}

// end ends a run in progress, and reports whether there is one of that number.
func (e *entry) end(number int, cause error) bool {
	e.mu.Lock()
	end := e.mu.ends[number]
	e.mu.Unlock()
	if end == nil {
		return false
	}
	end(cause)
	return true
}

// started notes when the command of a run was started.
func (e *entry) started(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.figures.LastStart = at
}

// recovers notes an outcome, and reports whether it is good after one that was not. One that somebody has brought about
// says nothing of the job.
func (e *entry) recovers(o outcome.Outcome) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.mu.bad
	if o != outcome.Canceled && o != outcome.Replaced && o != outcome.Delayed {
		e.mu.bad = o != outcome.OK
	}
	return was && o == outcome.OK
}

// finish counts how a run ended.
func (e *entry) finish(o outcome.Outcome, interrupted bool) {
	defer e.daemon.turns.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	if o != outcome.OK && o != outcome.Delayed {
		e.mu.Failed++
	}
	if interrupted {
		e.mu.Interrupted++
	}
	f := &e.mu.figures
	f.Running--
	e.mu.ended = time.Now()
	e.turnLocked()
	if f.Ended == nil {
		f.Ended = make(map[outcome.Outcome]int)
	}
	f.Ended[o]++
	if o == outcome.OK {
		f.LastSuccess = time.Now()
	}
}

// miss records times at which the job did not run, and which no run overlapped.
func (e *entry) miss(n int, first time.Time, reason, hint string) {
	e.mu.Lock()
	e.mu.Missed += n
	e.mu.Unlock()
	attrs := []any{"count", n, "first", stamp(first), "reason", reason}
	if hint != "" {
		attrs = append(attrs, "hint", hint)
	}
	e.log.Warn("runs missed", attrs...)
}

// noteOwed records the times of the schedule before this one at which the job should have run, and did not or was
// interrupted: a new schedule begins anew. Of the daemons that apply it at the same time, the one records them
// whose call changed the job.
func (e *entry) noteOwed(s catalog.Step) {
	was := s.Was
	if s.Action != catalog.Change || !s.Mine || was.State != durable.Waiting || was.Schedule == s.Now.Schedule ||
		was.Due.After(s.Now.Updated) {
		return
	}
	n, _ := catalog.Passed(catalog.Times(was.Job), was.Due, s.Now.Updated)
	e.miss(n+1, was.Due.In(was.Spec.Location()), "they belong to the old schedule, and the new one starts from now",
		"executord run-now, if one is needed")
}

// noteNotBegun records the times up to the drain, which has begun then, that no run is for. One of them may have
// waited for the end of its jitter. It is for a store that ends with the daemon: from another, the next daemon
// makes up for them.
func (d *Daemon) noteNotBegun(drain time.Time) {
	rows, _ := catalog.List(context.Background(), d.Store, d.Store.Namespace) // from memory, which always answers
	for _, row := range rows {
		e := d.entry(row.Name)
		if row.State != durable.Waiting || row.Spec.Off || row.Occurrence.After(drain) || e.began(row.Occurrence) {
			continue
		}
		n, _ := catalog.Passed(catalog.Times(row.Job), row.Occurrence, drain)
		e.miss(n+1, row.Occurrence.In(row.Spec.Location()), "the drain began before executord came to it", "")
	}
}

// change notes that a file has changed the job.
func (e *entry) change() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.changes++
}

// changes returns how often a file has changed the job.
func (e *entry) changes() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.changes
}

// began reports whether the latest run is that for an occurrence.
func (e *entry) began(occurrence time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.latest.occurrence.Equal(occurrence)
}

// stamp writes a time as logs do, to the second, which cron's times are, or to the millisecond.
func stamp(t time.Time) string { return t.Truncate(time.Millisecond).Format(time.RFC3339Nano) }
