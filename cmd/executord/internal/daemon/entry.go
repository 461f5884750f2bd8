package daemon

import (
	"context"
	"maps"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

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

// judge notes an outcome, and reports whether the run before it in this daemon was bad, if that is known. An outcome
// that somebody has brought about says nothing of the job.
func (e *entry) judge(o outcome.Outcome) (bad, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	bad, known = e.mu.bad, e.mu.judged
	if o != outcome.Canceled && o != outcome.Replaced && o != outcome.Delayed {
		e.mu.bad, e.mu.judged = o != outcome.OK, true
	}
	return bad, known
}

// replacedInARow notes an outcome, and returns how many runs up to this one were replaced without one that ended
// otherwise.
func (e *entry) replacedInARow(o outcome.Outcome) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.replaced++; o != outcome.Replaced {
		e.mu.replaced = 0
	}
	return e.mu.replaced
}

// finish counts how a run ended.
func (e *entry) finish(o outcome.Outcome, interrupted bool) {
	defer e.base.turns.end()
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
	attrs := []any{about.Key, about.RunsMissed, "count", n, "first", stamp(first), "reason", reason}
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
		was.Due.After(s.Now.Updated) || was.Runs != s.Now.Runs || s.Now.State.Granted() { // the last: it has begun meanwhile
		return
	}
	times, first := catalog.Times(was.Job), was.Due
	n, _ := catalog.Passed(times, was.Due, s.Now.Updated)
	if !s.Asked {
		n++
	} else if n > 0 {
		first = times.Next(was.Due)
	}
	passed := planOf(was.Job, was.Spec).dues(first, n)
	passed.logExcluded(e.log)
	if missed := passed.counts; missed.n > 0 {
		e.miss(missed.n, missed.first, "they belong to the old schedule, and the new one starts from now",
			"executord run-now, if one is needed")
	}
}

// runsHere reports whether a run of the job is in progress here.
func (e *entry) runsHere() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.figures.Running > 0
}

// change notes what a file has made of the job.
func (e *entry) change(now catalog.Entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.changed = now
}

// changed returns what a file has made of the job last, the zero Entry if none has changed it.
func (e *entry) changed() catalog.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.changed
}

// began reports whether the latest run is that for an occurrence.
func (e *entry) began(occurrence time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.latest.occurrence.Equal(occurrence)
}

func (e *entry) read() Figures {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.mu.figures
	f.Job, f.Counts, f.Ended = e.name, e.mu.Counts, maps.Clone(f.Ended)
	return f
}
