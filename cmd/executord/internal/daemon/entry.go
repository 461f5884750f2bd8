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
}

// end ends a run in progress, with 0 the only one. It returns its number, and false if there is none.
func (e *entry) end(number int, cause error) (int, bool) {
	e.mu.Lock()
	if len(e.mu.ends) == 1 && number == 0 {
		for number = range e.mu.ends {
		}
	}
	end := e.mu.ends[number]
	e.mu.Unlock()
	if end == nil {
		return number, false
	}
	end(cause)
	return number, true
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
	if o == outcome.OK || o.IsError() {
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

// noteOwed records the times of the schedule before this one at which the job should have run, and did not: a new
// schedule begins anew. Of the daemons that apply it at the same time, the one records them whose call changed the job.
func (e *entry) noteOwed(s catalog.Step) {
	was := s.Was
	if s.Action != catalog.Change || !s.Mine || was.State != durable.Waiting || was.Schedule == s.Now.Schedule ||
		was.Due.After(s.Now.Updated) || was.Runs != s.Now.Runs || s.Now.State.Granted() { // the last: it has fired meanwhile
		return
	}
	e.missThrough(*was, s.Now.Updated, "they belong to the old schedule, and the new one starts from now", "executord run-now, if one is needed")
}

// missThrough records the times of a job up to one that have not come to it, the first of which it is due for.
func (e *entry) missThrough(job catalog.Entry, end time.Time, reason, hint string) {
	times := catalog.Times(job.Job)
	n, _ := catalog.Passed(times, job.Due, end)
	passed := duesOf(job, catalog.From(times, job.Due, n+1))
	passed.logExcluded(e.log)
	if missed := passed.counts; missed.n > 0 {
		e.miss(missed.n, missed.first, reason, hint)
	}
}

func (e *entry) read() Figures {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.mu.figures
	f.Job, f.Counts, f.Ended = e.name, e.mu.Counts, maps.Clone(f.Ended)
	return f
}
