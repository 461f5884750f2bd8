package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/executor-go/executor"
)

// Judge returns what is incorrect in h; nothing if h is correct.
func Judge(h *History) []string {
	j := &judge{History: h, of: make([]facts, len(h.Tasks))}
	for _, e := range h.Events {
		j.add(e)
	}
	for i, t := range h.Tasks {
		f := &j.of[i]
		j.admission(t, f)
		j.runs(t, f)
		j.outcome(t, f)
		j.waiters(t, f)
		if t.Form.Series() {
			j.series(t, f)
		}
	}
	j.order()
	j.counters()
	j.end()
	return j.wrong
}

// A judge checks one history.
type judge struct {
	*History
	of    []facts
	wrong []string

	// Times of the shutdown; 0 means never.
	shutdownAt      int64 // first call of Shutdown
	shutdownNowAt   int64 // first call of ShutdownNow
	shutdownDone    int64 // first return of either
	shutdownNowDone int64 // last return of ShutdownNow
	terminatedAt    int64 // first return of AwaitTermination without an error
	awaitFailures   int   // returns of AwaitTermination with an error
}

// facts are the events of one task.
type facts struct {
	submits  []Event
	canceled []Event // Cancel and Abandon that reported true
	removed  []Event // Remove that reported true
	returned []Event // ShutdownNow returned it
	waits    []Event // Get and Join
}

func (f *facts) submitted() Event { return f.submits[0] }

// rejected reports whether the submission returned an error.
func (f *facts) rejected() bool { return f.submitted().Err != nil }

func (j *judge) report(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

func (j *judge) fault(t *Task, format string, args ...any) {
	j.report("task %d (%v, %v): %s", t.ID, t.Form, t.Ending, fmt.Sprintf(format, args...))
}

// add adds an event to the facts.
func (j *judge) add(e Event) {
	switch e.Kind {
	case Shutdown, ShutdownNow:
		at := &j.shutdownAt
		if e.Kind == ShutdownNow {
			at = &j.shutdownNowAt
			j.shutdownNowDone = max(j.shutdownNowDone, e.To)
		}
		if *at == 0 || e.From < *at {
			*at = e.From
		}
		if j.shutdownDone == 0 || e.To < j.shutdownDone {
			j.shutdownDone = e.To
		}
		return
	case Await:
		if e.Err != nil {
			j.awaitFailures++
		} else if j.terminatedAt == 0 || e.To < j.terminatedAt {
			j.terminatedAt = e.To
		}
		return
	}
	f := &j.of[e.Task]
	switch e.Kind {
	case Submit:
		f.submits = append(f.submits, e)
	case Cancel, Abandon:
		if e.OK {
			f.canceled = append(f.canceled, e)
		}
	case Remove:
		if e.OK {
			f.removed = append(f.removed, e)
		}
	case Returned:
		f.returned = append(f.returned, e)
	case Get, Join:
		f.waits = append(f.waits, e)
	}
}

// admission checks a submission. A rejected task has no other event. An accepted task runs, is
// canceled, or is returned by ShutdownNow: exactly one of them.
func (j *judge) admission(t *Task, f *facts) {
	if len(f.submits) != 1 {
		j.fault(t, "was submitted %d times", len(f.submits))
		f.submits = append(f.submits, Event{Kind: Submit, Err: errors.New("never")})
		return
	}
	s := f.submitted()
	if len(f.returned) > 1 {
		j.fault(t, "was returned %d times", len(f.returned))
	}
	if len(f.removed) > 1 {
		j.fault(t, "was removed %d times", len(f.removed))
	}
	if len(f.canceled) > 1 {
		j.fault(t, "was canceled %d times", len(f.canceled))
	}
	if len(t.Runs) > 0 && j.shutdownDone != 0 && s.From > j.shutdownDone {
		j.fault(t, "ran, but was submitted after the shutdown")
	}
	if s.Err != nil {
		switch {
		case len(t.Runs) > 0:
			j.fault(t, "was rejected (%v) and ran", s.Err)
		case len(f.returned) > 0:
			j.fault(t, "was rejected (%v) and returned", s.Err)
		case len(f.removed) > 0:
			j.fault(t, "was rejected (%v) and removed", s.Err)
		}
		if !errors.Is(s.Err, executor.ErrRejected) && !(t.ContextEnds && errors.Is(s.Err, context.Canceled)) {
			j.fault(t, "was rejected with %v", s.Err)
		}
		return
	}
	if !t.Form.Future() {
		ends := len(t.Runs) + len(f.returned) + len(f.removed)
		mayBeDiscarded := t.ContextEnds || j.Discards
		switch {
		case ends > 1:
			j.fault(t, "was accepted; it ran %d times, was returned %d times and removed %d times",
				len(t.Runs), len(f.returned), len(f.removed))
		case ends == 0 && !mayBeDiscarded:
			j.fault(t, "was accepted and lost")
		}
	}
}

// runs checks the runs of a body: at most one, or one after the other in a series; not before
// the submission and the due time, nor after the termination of the pool; with the hooks around
// them.
func (j *judge) runs(t *Task, f *facts) {
	if len(t.Runs) > 1 && !t.Form.Series() {
		j.fault(t, "ran %d times", len(t.Runs))
	}
	for i, r := range t.Runs {
		if r.Begin < f.submitted().From {
			j.fault(t, "run %d started before the submission", i+1)
		}
		if r.End < r.Begin {
			j.fault(t, "run %d has no end", i+1)
		}
		if r.EarlierRuns != i {
			j.fault(t, "run %d saw %d earlier runs", i+1, r.EarlierRuns)
		}
		if i > 0 && r.Begin < t.Runs[i-1].End {
			j.fault(t, "run %d overlaps the previous one", i+1)
		}
		if t.Form.Timed() {
			j.due(t, f, i, r)
		}
		if j.terminatedAt != 0 && r.End > j.terminatedAt && (r.Hooked || !j.CallerRuns) {
			j.fault(t, "run %d ended after the termination of the pool", i+1)
		}
		j.hooks(t, i, r)
		j.contexts(t, f, i, r)
	}
}

func (j *judge) due(t *Task, f *facts, i int, r Run) {
	now := r.Begin
	if t.Form.Wall() {
		now = r.Wall
	}
	if now < r.Due {
		j.fault(t, "run %d started %d ns before it was due", i+1, r.Due-now)
	}
	switch s := f.submitted(); {
	case i > 0:
	case t.Form == At:
		if r.Due != t.Date {
			j.fault(t, "was due at %d, want %d", r.Due, t.Date)
		}
	case t.Form != Trigger && (r.Due < s.From+t.Delay || r.Due > s.To+t.Delay):
		j.fault(t, "was due at %d; it was submitted between %d and %d with a delay of %d",
			r.Due, s.From, s.To, t.Delay)
	}
}

func (j *judge) hooks(t *Task, i int, r Run) {
	switch {
	case !j.Hooked:
		if r.Hooked {
			j.fault(t, "run %d has hooks, but the pool has none", i+1)
		}
	case !r.Hooked:
		if !j.CallerRuns {
			j.fault(t, "run %d had no BeforeTask", i+1)
		}
	case r.Before > r.Begin || r.After == 0 || r.After < r.End:
		j.fault(t, "run %d from %d to %d has BeforeTask at %d and AfterTask at %d",
			i+1, r.Begin, r.End, r.Before, r.After)
	case !r.AfterMatches:
		j.fault(t, "AfterTask of run %d got another outcome than that of the body", i+1)
	case r.Number != int64(i+1):
		j.fault(t, "run %d had the number %d", i+1, r.Number)
	}
}

// contexts checks the context of a run: it ends if and only if a call ended it, and then at
// once.
func (j *judge) contexts(t *Task, f *facts, i int, r Run) {
	must, may := false, t.ContextEnds
	for _, e := range f.canceled {
		if e.Kind == Cancel {
			must = must || e.To < r.CheckedAt
			may = may || e.From < r.End
		}
	}
	may = may || j.shutdownNowAt != 0 && j.shutdownNowAt < r.End
	// A context with two parents ends a moment after that of the pool. The context of a run in
	// the submitter may end after the shutdown of the pool.
	if j.shutdownNowDone != 0 && !t.ContextEnds && (r.Hooked || !j.CallerRuns) {
		must = must || j.shutdownNowDone < r.CheckedAt
	}
	switch {
	case must && !r.EndedAtCheck:
		j.fault(t, "the context of run %d did not end after Cancel or ShutdownNow", i+1)
	case r.EndedAtCheck && !may:
		j.fault(t, "the context of run %d ended, but no call ended it", i+1)
	case r.EndedAtStart && !r.EndedAtCheck:
		j.fault(t, "the context of run %d ended, and later had not", i+1)
	}
}
