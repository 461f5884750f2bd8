// Package record is what a daemon remembers of its runs, in memory and within limits: how they ended, and the begin
// and the end of what they wrote.
package record

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// Limits bounds what a Log keeps. A run in progress is always kept.
type Limits struct {
	Output int           // bytes of the begin, and of the end, of what a run writes
	Runs   int           // ended runs of each job
	Bytes  int           // of the output of all ended runs; the oldest is left out first
	Age    time.Duration // since the end of a run
}

// Log has the latest runs of a daemon.
type Log struct {
	limits Limits

	// mu is taken before that of an Output.
	mu struct {
		sync.Mutex
		jobs  map[string][]*Run // oldest first
		ended list.List         // of *Run, in the order of their ends
		full  list.List         // those of them whose output is kept
		bytes int               // of that output
	}
}

// New returns a Log that keeps nothing yet.
func New(limits Limits) *Log {
	l := &Log{limits: limits}
	l.mu.jobs = make(map[string][]*Run)
	return l
}

// Run is a run of a job. The Log guards it.
type Run struct {
	log    *Log
	output *Output
	facts  Facts

	// These are of an ended run.
	kept        int // bytes of its output
	ended, full *list.Element
}

// Facts is what is known of a run, and of what it has written.
type Facts struct {
	view.Run
	Lines   int64 // written; not all may be kept
	Dropped bool  // what it wrote is not kept any more
}

// Begin adds a run. The caller calls End.
func (l *Log) Begin(v view.Run) *Run {
	r := &Run{log: l, facts: Facts{Run: v}, output: newOutput(l.limits.Output)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.jobs[v.Job] = append(l.mu.jobs[v.Job], r)
	l.prune(time.Now())
	return r
}

// Output returns where the lines of the run go.
func (r *Run) Output() *Output { return r.output }

// Change changes what is known of the run. It does not end it.
func (r *Run) Change(fn func(*view.Run)) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	fn(&r.facts.Run)
}

// End ends the run. Fn says how, and may be nil; the time of the end is now.
func (r *Run) End(fn func(*view.Run)) {
	l := r.log
	l.mu.Lock()
	if fn != nil {
		fn(&r.facts.Run)
	}
	now := time.Now()
	r.facts.Finished = now
	written := r.output // which the run may not keep
	r.kept = written.size()
	r.ended, r.full = l.mu.ended.PushBack(r), l.mu.full.PushBack(r)
	l.mu.bytes += r.kept
	l.limit(r.facts.Job)
	l.prune(now)
	l.mu.Unlock()
	written.end() // a reader that follows it finds how it ended
}

// limit removes the oldest ended runs of a job that are too many.
func (l *Log) limit(job string) {
	var ended []*Run
	for _, r := range l.mu.jobs[job] {
		if !r.facts.Finished.IsZero() {
			ended = append(ended, r)
		}
	}
	for _, r := range ended[:max(len(ended)-l.limits.Runs, 0)] {
		l.remove(r)
	}
}

// prune removes what is older or takes more room than the limits say.
func (l *Log) prune(now time.Time) {
	for e := l.mu.ended.Front(); e != nil; e = l.mu.ended.Front() {
		r := e.Value.(*Run)
		if now.Sub(r.facts.Finished) <= l.limits.Age {
			break
		}
		l.remove(r)
	}
	for e := l.mu.full.Front(); e != nil && l.mu.bytes > l.limits.Bytes; e = l.mu.full.Front() {
		e.Value.(*Run).drop()
	}
}

// remove removes an ended run.
func (l *Log) remove(r *Run) {
	r.drop()
	l.mu.ended.Remove(r.ended)
	all := l.mu.jobs[r.facts.Job]
	if i := slices.Index(all, r); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if l.mu.jobs[r.facts.Job] = all; len(all) == 0 {
		delete(l.mu.jobs, r.facts.Job)
	}
}

// drop removes what an ended run has written.
func (r *Run) drop() {
	if r.full == nil {
		return
	}
	r.log.mu.full.Remove(r.full)
	r.full = nil
	r.log.mu.bytes -= r.kept
	r.facts.Lines = r.output.Lines()
	r.facts.Dropped = r.facts.Lines > 0
	r.output = newOutput(0)
	r.output.end()
}

// read returns what is known of the run now, with times in the zone of its due time. One whose command was not started is
// as if it had been when it was due.
func (r *Run) read() Facts {
	f := r.facts
	if !f.Dropped {
		f.Lines = r.output.Lines()
	}
	if f.Started.IsZero() {
		f.Started = f.Due
	}
	zone := f.Due.Location()
	if f.Finished.IsZero() {
		f.Outcome, f.Took = outcome.InProgress, time.Since(f.Started).Seconds()
	} else {
		f.Finished = f.Finished.In(zone)
	}
	f.Started = f.Started.In(zone)
	return f
}

// Latest returns the latest runs of a job, n at most, the latest first.
func (l *Log) Latest(job string, n int) []Facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(time.Now())
	all := l.mu.jobs[job]
	found := make([]Facts, 0, min(n, len(all)))
	for i := len(all) - 1; i >= 0 && len(found) < n; i-- {
		found = append(found, all[i].read())
	}
	return found
}

// Find returns a run of a job and what it has written, the latest if the number is 0; false if it is not kept. Of
// several attempts of a run it is the last.
func (l *Log) Find(job string, number int) (Facts, *Output, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(time.Now())
	all := l.mu.jobs[job]
	for i := len(all) - 1; i >= 0; i-- {
		if r := all[i]; number == 0 || r.facts.Run.Run == int64(number) {
			return r.read(), r.output, true
		}
	}
	return Facts{}, nil, false
}
