package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/executor-go/executor"
)

// Judge returns what is wrong with h, nothing if all is well.
func Judge(h *History) []string {
	j := &judge{History: h, of: make([]facts, len(h.Tasks))}
	for _, e := range h.Events {
		j.hear(e)
	}
	for i, t := range h.Tasks {
		f := &j.of[i]
		j.admission(t, f)
		j.runs(t, f)
		j.outcome(t, f)
		j.witnesses(t, f)
		if t.Form.Series() {
			j.series(t, f)
		}
	}
	j.order()
	j.counters()
	j.end()
	return j.wrong
}

// judge is the work of one judgment.
type judge struct {
	*History
	of    []facts
	wrong []string

	shut, stop    int64 // when the first Shutdown and ShutdownNow, of either kind, were called; 0 for never
	stopped       int64 // when all calls of ShutdownNow had returned; 0 for never
	closed        int64 // when the first of either returned; 0 for never
	waited        int64 // when the first AwaitTermination returned that reported the end; 0 for never
	awaitFailures int
}

// facts are the events of one task.
type facts struct {
	submits  []Event
	canceled []Event // Cancel and Abandon that reported true
	removed  []Event // that reported true
	back     []Event
	seen     []Event // Get and Join
}

func (f *facts) submitted() Event { return f.submits[0] }

// refused reports whether the submission returned an error.
func (f *facts) refused() bool { return f.submitted().Err != nil }

func (j *judge) say(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

func (j *judge) blame(t *Task, format string, args ...any) {
	j.say("task %d (%v, to end %v): %s", t.ID, t.Form, t.Way, fmt.Sprintf(format, args...))
}

// hear sorts an event in.
func (j *judge) hear(e Event) {
	switch e.Kind {
	case Shutdown, ShutdownNow:
		at := &j.shut
		if e.Kind == ShutdownNow {
			at = &j.stop
			j.stopped = max(j.stopped, e.To)
		}
		if *at == 0 || e.From < *at {
			*at = e.From
		}
		if j.closed == 0 || e.To < j.closed {
			j.closed = e.To
		}
		return
	case Await:
		if e.Err != nil {
			j.awaitFailures++
		} else if j.waited == 0 || e.To < j.waited {
			j.waited = e.To
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
	case GiveBack:
		f.back = append(f.back, e)
	case Get, Join:
		f.seen = append(f.seen, e)
	}
}

// admission judges what became of a submission. One that was refused leaves no
// trace; one that was accepted is run, or canceled, or given back: exactly one
// of them.
func (j *judge) admission(t *Task, f *facts) {
	if len(f.submits) != 1 {
		j.blame(t, "was submitted %d times", len(f.submits))
		f.submits = append(f.submits, Event{Kind: Submit, Err: errors.New("never")})
		return
	}
	s := f.submitted()
	if len(f.back) > 1 {
		j.blame(t, "was given back %d times", len(f.back))
	}
	if len(f.removed) > 1 {
		j.blame(t, "was removed %d times", len(f.removed))
	}
	if len(f.canceled) > 1 {
		j.blame(t, "was canceled %d times", len(f.canceled))
	}
	if len(t.Runs) > 0 && j.closed != 0 && s.From > j.closed {
		j.blame(t, "ran, though it was submitted after the shutdown")
	}
	if s.Err != nil {
		switch {
		case len(t.Runs) > 0:
			j.blame(t, "was rejected (%v) and ran", s.Err)
		case len(f.back) > 0:
			j.blame(t, "was rejected (%v) and given back", s.Err)
		case len(f.removed) > 0:
			j.blame(t, "was rejected (%v) and removed", s.Err)
		}
		if !errors.Is(s.Err, executor.ErrRejected) && !(t.Ends && errors.Is(s.Err, context.Canceled)) {
			j.blame(t, "was rejected with %v", s.Err)
		}
		return
	}
	if !t.Form.Future() {
		ends := len(t.Runs) + len(f.back) + len(f.removed)
		loose := t.Ends || j.Discards
		switch {
		case ends > 1:
			j.blame(t, "was accepted; it ran %d times, was given back %d times and removed %d times", len(t.Runs), len(f.back), len(f.removed))
		case ends == 0 && !loose:
			j.blame(t, "was accepted, and got lost")
		}
	}
}

// runs judges the runs of a body: at most one, or one after the other; never
// before it was submitted or due, nor after the pool has terminated; and with
// the hooks around it.
func (j *judge) runs(t *Task, f *facts) {
	if len(t.Runs) > 1 && !t.Form.Series() {
		j.blame(t, "ran %d times", len(t.Runs))
	}
	for i, r := range t.Runs {
		if r.Begin < f.submitted().From {
			j.blame(t, "run %d began before it was submitted", i+1)
		}
		if r.End < r.Begin {
			j.blame(t, "run %d has no end", i+1)
		}
		if r.Seen != i {
			j.blame(t, "run %d saw %d runs before it", i+1, r.Seen)
		}
		if i > 0 && r.Begin < t.Runs[i-1].End {
			j.blame(t, "run %d overlaps the one before", i+1)
		}
		if t.Form.Timed() {
			j.due(t, f, i, r)
		}
		if j.waited != 0 && r.End > j.waited && (r.Hooked || !j.CallerRuns) {
			j.blame(t, "run %d went on after the pool had terminated", i+1)
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
		j.blame(t, "run %d began %d ns before it was due", i+1, r.Due-now)
	}
	switch s := f.submitted(); {
	case i > 0:
	case t.Form == OnDay:
		if r.Due != t.Date {
			j.blame(t, "was due at %d, not at %d", r.Due, t.Date)
		}
	case t.Form != Trig && (r.Due < s.From+t.Wait || r.Due > s.To+t.Wait):
		j.blame(t, "was due at %d; it was submitted between %d and %d, with the delay %d", r.Due, s.From, s.To, t.Wait)
	}
}

func (j *judge) hooks(t *Task, i int, r Run) {
	switch {
	case !j.Hooked:
		if r.Hooked {
			j.blame(t, "run %d has hooks, the pool has not", i+1)
		}
	case !r.Hooked:
		if !j.CallerRuns {
			j.blame(t, "run %d had no BeforeTask", i+1)
		}
	case r.Before > r.Begin || r.After == 0 || r.After < r.End:
		j.blame(t, "run %d from %d to %d has BeforeTask at %d and AfterTask at %d", i+1, r.Begin, r.End, r.Before, r.After)
	case !r.AfterAgrees:
		j.blame(t, "AfterTask of run %d got another error than the body returned", i+1)
	case r.Number != int64(i+1):
		j.blame(t, "run %d had the number %d", i+1, r.Number)
	}
}

// contexts judges the context of a run: it ends if somebody ended it, and then
// at once.
func (j *judge) contexts(t *Task, f *facts, i int, r Run) {
	must, may := false, t.Ends
	for _, e := range f.canceled {
		if e.Kind == Cancel {
			must = must || e.To < r.Asked
			may = may || e.From < r.End
		}
	}
	may = may || j.stop != 0 && j.stop < r.End
	// A context that has two parents ends with the pool a moment later. One of a
	// body that the submitter runs may outlive the pool, and its shutdown.
	must = must || j.stopped != 0 && j.stopped < r.Asked && !t.Ends && (r.Hooked || !j.CallerRuns)
	switch {
	case must && !r.EndedLater:
		j.blame(t, "run %d went on after Cancel or ShutdownNow, and its context had not ended", i+1)
	case r.EndedLater && !may:
		j.blame(t, "the context of run %d ended, and nobody ended it", i+1)
	case r.Ended && !r.EndedLater:
		j.blame(t, "the context of run %d ended, and then it had not", i+1)
	}
}
