package history

import (
	"context"
	"errors"

	"github.com/executor-go/executor"
)

// outcome judges the future of a task: against what ran, and against what was
// answered to those that did something to it.
func (j *judge) outcome(t *Task, f *facts) {
	if !t.Form.Future() {
		return
	}
	switch {
	case !t.State.Done():
		j.blame(t, "is %v for ever", t.State)
	case t.State == executor.Succeeded:
		j.succeeded(t)
	case t.State == executor.Failed && errors.Is(t.Outcome, executor.ErrRejected):
		if len(t.Runs) > 0 || !f.refused() && !j.Discards {
			j.blame(t, "was rejected: %v, after %d runs; the submission returned %v", t.Outcome, len(t.Runs), f.submitted().Err)
		}
	case t.State == executor.Failed:
		if last := t.last(); len(t.Runs) == 0 || !fits(last.Way, t.Outcome) {
			j.blame(t, "failed with %v; its body ran %d times, at last it ended %v", t.Outcome, len(t.Runs), last.Way)
		}
	default:
		j.canceled(t, f)
	}
	j.answers(t, f)
}

func (j *judge) succeeded(t *Task) {
	last := t.last()
	fine := last.Way == Well && t.Value == t.ID+1
	if t.Form.Series() {
		fine = last.Way != Loud && last.Way != Gone
	}
	if len(t.Runs) == 0 || !fine {
		j.blame(t, "succeeded with %d; its body ran %d times, at last it ended %v", t.Value, len(t.Runs), last.Way)
	}
}

// canceled judges the reason for which a task was canceled.
func (j *judge) canceled(t *Task, f *facts) {
	ranOnce := len(t.Runs) > 0 && !t.Form.Series()
	switch {
	case !errors.Is(t.Outcome, executor.ErrCanceled):
		j.blame(t, "is canceled with %v", t.Outcome)
	case errors.Is(t.Outcome, executor.ErrShutdown):
		if j.shut == 0 && j.stop == 0 || ranOnce {
			j.blame(t, "was ended by a shutdown after %d runs", len(t.Runs))
		}
		if j.stop == 0 && !j.Drops && !t.Form.Series() {
			j.blame(t, "was dropped by an orderly shutdown")
		}
	case errors.Is(t.Outcome, context.Canceled):
		if !t.Ends || ranOnce {
			j.blame(t, "was ended by a context after %d runs", len(t.Runs))
		}
	case len(f.canceled)+len(f.removed) == 0:
		j.blame(t, "is canceled, and nobody canceled it")
	}
}

// answers judges the outcome against what Cancel, Remove and ShutdownNow returned.
func (j *judge) answers(t *Task, f *facts) {
	canceled := t.State == executor.Canceled
	byShutdown := errors.Is(t.Outcome, executor.ErrShutdown)
	ranOnce := len(t.Runs) > 0 && !t.Form.Series()
	if len(f.canceled) > 0 && (!canceled || byShutdown) {
		j.blame(t, "was canceled, and then %v with %v", t.State, t.Outcome)
	}
	if len(f.removed) > 0 && (!canceled || ranOnce) {
		j.blame(t, "was removed from the queue, ran %d times, and is %v", len(t.Runs), t.State)
	}
	switch back := len(f.back) > 0; {
	case back && (!canceled || !byShutdown):
		j.blame(t, "was given back, and then %v with %v", t.State, t.Outcome)
	case !back && canceled && byShutdown && !j.Drops && !t.Form.Series():
		j.blame(t, "was ended by a shutdown and not given back")
	}
	if len(f.back) > 0 && ranOnce {
		j.blame(t, "was given back and ran")
	}
}

// last returns the last run, or one that ended well if there was none.
func (t *Task) last() Run {
	if len(t.Runs) == 0 {
		return Run{}
	}
	return t.Runs[len(t.Runs)-1]
}

// fits reports whether err is that of a body that ended in the way w.
func fits(w Way, err error) bool {
	var perr *executor.PanicError
	switch w {
	case Sour:
		return errors.Is(err, errSour)
	case Loud:
		return errors.As(err, &perr)
	case Gone:
		return errors.Is(err, executor.ErrGoexit)
	case Over:
		return errors.Is(err, executor.Stop)
	}
	return false
}

// witnesses judges what the waiters saw: the same outcome for all, not before the
// body had returned; and after Join the body was over.
func (j *judge) witnesses(t *Task, f *facts) {
	for _, e := range f.seen {
		if e.Kind == Get {
			if e.Value != t.Value || e.Err != t.Outcome {
				j.blame(t, "somebody got %d, %v; it is %d, %v", e.Value, e.Err, t.Value, t.Outcome)
			}
			own := len(t.Runs) > 0 && t.State != executor.Canceled
			if own && e.To < t.Runs[len(t.Runs)-1].End {
				j.blame(t, "somebody got the outcome before the body had returned")
			}
			continue
		}
		if e.Err != nil {
			j.blame(t, "Join: %v", e.Err)
		}
		for i, r := range t.Runs {
			if r.End > e.To {
				j.blame(t, "Join returned before run %d had", i+1)
			}
		}
	}
}
