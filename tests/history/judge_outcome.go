package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/executor-go/executor"
)

// An outcome is the future of a task after the termination of its pool, with what is known of
// the task.
type outcome struct {
	*judge
	t *Task
	f *facts
}

// last returns the last run of the task, or the zero Run.
func (o outcome) last() Run {
	if n := len(o.t.Runs); n > 0 {
		return o.t.Runs[n-1]
	}
	return Run{}
}

func (o outcome) ran() bool { return len(o.t.Runs) > 0 }

// ranOnce reports whether a task that runs once has run.
func (o outcome) ranOnce() bool { return o.ran() && !o.t.Form.Series() }

func (o outcome) is(s executor.State, cause error) bool {
	return o.t.State == s && errors.Is(o.t.Outcome, cause)
}

func (o outcome) rejected() bool { return o.is(executor.Failed, executor.ErrRejected) }
func (o outcome) failed() bool   { return o.t.State == executor.Failed && !o.rejected() }
func (o outcome) canceled() bool { return o.is(executor.Canceled, executor.ErrCanceled) }

// shutDown reports whether a shutdown canceled the task.
func (o outcome) shutDown() bool {
	return o.canceled() && o.is(executor.Canceled, executor.ErrShutdown)
}

// contextEnded reports whether the context of the submission canceled the task.
func (o outcome) contextEnded() bool {
	return o.canceled() && !o.shutDown() && o.is(executor.Canceled, context.Canceled)
}

// succeeds reports whether a task whose last run ended like this may succeed.
func (o outcome) succeeds() bool {
	if o.t.Form.Series() {
		return o.last().Ending != Panics && o.last().Ending != Exits
	}
	return o.last().Ending == Returns && o.t.Value == o.t.ID+1
}

func (o outcome) String() string {
	text := fmt.Sprintf("%v with %d, %v; %d runs", o.t.State, o.t.Value, o.t.Outcome, len(o.t.Runs))
	if o.ran() {
		text += fmt.Sprintf(", the last %v", o.last().Ending)
	}
	return text
}

// An outcomeRule is about outcomes that a correct executor does not have.
type outcomeRule struct {
	name    string
	broken  func(o outcome) bool
	message string
}

var outcomeRules = []outcomeRule{
	{"done", func(o outcome) bool {
		return !o.t.State.Done()
	}, "the future is not done, but the pool has terminated"},

	{"success", func(o outcome) bool {
		return o.t.State == executor.Succeeded && !(o.ran() && o.succeeds())
	}, "the task succeeded, but its last run did not"},
	{"failure", func(o outcome) bool {
		return o.failed() && !(o.ran() && fits(o.last().Ending, o.t.Outcome))
	}, "the task failed, but its last run did not fail so"},

	{"rejected and ran", func(o outcome) bool {
		return o.rejected() && o.ran()
	}, "the task was rejected and ran"},
	{"accepted and rejected", func(o outcome) bool {
		return o.rejected() && !o.f.rejected() && !o.Discards
	}, "the task was rejected, but the submission returned no error"},

	{"canceled with an error of its own", func(o outcome) bool {
		return o.t.State == executor.Canceled && !o.canceled()
	}, "the task is canceled, but the error is not ErrCanceled"},
	{"canceled without a call", func(o outcome) bool {
		return o.canceled() && !o.shutDown() && !o.contextEnded() && len(o.f.canceled)+len(o.f.removed) == 0
	}, "the task is canceled, but no call reported that it canceled it"},
	{"canceled by a context that does not end", func(o outcome) bool {
		return o.contextEnded() && !o.t.ContextEnds
	}, "the task was canceled by its context, which does not end"},
	{"canceled by a context and ran", func(o outcome) bool {
		return o.contextEnded() && o.ranOnce()
	}, "the task was canceled by its context before it started, and ran"},
	{"canceled by no shutdown", func(o outcome) bool {
		return o.shutDown() && o.shutdownAt == 0 && o.shutdownNowAt == 0
	}, "the task was canceled by a shutdown, but none was called"},
	{"canceled by a shutdown and ran", func(o outcome) bool {
		return o.shutDown() && o.ranOnce()
	}, "the task was canceled by a shutdown and ran"},
	{"canceled by Shutdown", func(o outcome) bool {
		return o.shutDown() && o.shutdownNowAt == 0 && !o.Drops && !o.t.Form.Series()
	}, "Shutdown canceled the task, but must run it"},
	{"canceled by ShutdownNow and not returned", func(o outcome) bool {
		return o.shutDown() && len(o.f.returned) == 0 && !o.Drops && !o.t.Form.Series()
	}, "a shutdown canceled the task, but ShutdownNow did not return it"},

	{"Cancel without effect", func(o outcome) bool {
		return len(o.f.canceled) > 0 && (o.t.State != executor.Canceled || o.shutDown())
	}, "Cancel or Abandon reported true, but the outcome is another"},
	{"Remove without effect", func(o outcome) bool {
		return len(o.f.removed) > 0 && o.t.State != executor.Canceled
	}, "Remove reported true, but the outcome is another"},
	{"removed and ran", func(o outcome) bool {
		return len(o.f.removed) > 0 && o.ranOnce()
	}, "Remove reported true, but the task ran"},
	{"returned with another outcome", func(o outcome) bool {
		return len(o.f.returned) > 0 && !o.shutDown()
	}, "ShutdownNow returned the task, but the outcome is another"},
	{"returned and ran", func(o outcome) bool {
		return len(o.f.returned) > 0 && o.ranOnce()
	}, "ShutdownNow returned the task, but it ran"},
}

// outcome checks the future of a task.
func (j *judge) outcome(t *Task, f *facts) {
	if !t.Form.Future() {
		return
	}
	o := outcome{j, t, f}
	for _, r := range outcomeRules {
		if r.broken(o) {
			j.fault(t, "%s: %v", r.message, o)
		}
	}
}

// fits reports whether err is the error of a body that ended like this.
func fits(e Ending, err error) bool {
	switch e {
	case Fails:
		return errors.Is(err, errBody)
	case Panics:
		_, ok := errors.AsType[*executor.PanicError](err)
		return ok
	case Exits:
		return errors.Is(err, executor.ErrGoexit)
	case Stops:
		return errors.Is(err, executor.ErrStop)
	}
	return false
}

// waiters checks what Get and Join returned: one outcome, not before the body that has it
// returned; and Join not before the last run.
func (j *judge) waiters(t *Task, f *facts) {
	for _, e := range f.waits {
		if e.Kind == Get {
			if e.Value != t.Value || e.Err != t.Outcome {
				j.fault(t, "Get returned %d, %v; the outcome is %d, %v", e.Value, e.Err, t.Value, t.Outcome)
			}
			own := len(t.Runs) > 0 && t.State != executor.Canceled
			if own && e.To < t.Runs[len(t.Runs)-1].End {
				j.fault(t, "Get returned before the body")
			}
			continue
		}
		if e.Err != nil {
			j.fault(t, "Join: %v", e.Err)
		}
		if i := slices.IndexFunc(t.Runs, func(r Run) bool { return r.End > e.To }); i >= 0 {
			j.fault(t, "Join returned before run %d", i+1)
		}
	}
}
