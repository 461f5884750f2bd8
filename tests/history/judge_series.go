package history

import (
	"errors"

	"github.com/executor-go/executor"
)

// series judges work that runs again and again: when each run was due, and that
// none follows the last.
func (j *judge) series(t *Task, f *facts) {
	for i := 1; i < len(t.Runs); i++ {
		j.rhythm(t, i)
		if w := t.Runs[i-1].Way; w == Loud || w == Gone || w == Over {
			j.blame(t, "run %d ended %v, and another followed", i, w)
		}
	}
	n := int64(len(t.Runs))
	if t.Times > 0 && n > t.Times {
		j.blame(t, "ran %d times, %d was the limit", n, t.Times)
	}
	if t.State == executor.Succeeded && n > 0 && n < t.Times && t.Runs[n-1].Way != Over {
		j.blame(t, "ended in peace after %d runs of %d", n, t.Times)
	}
	if t.State == executor.Canceled && errors.Is(t.Outcome, executor.ErrShutdown) && j.stop == 0 && !j.Stops {
		j.blame(t, "was ended by an orderly shutdown that was to keep it")
	}
	for _, e := range f.canceled {
		after := 0
		for _, r := range t.Runs {
			if r.Begin > e.To {
				after++
			}
		}
		if after > 1 { // the first may have been on its way
			j.blame(t, "began %d runs after it was canceled", after)
		}
	}
}

// rhythm judges the time between a run and the one before.
func (j *judge) rhythm(t *Task, i int) {
	prev, r := t.Runs[i-1], t.Runs[i]
	step := r.Due - prev.Due
	switch t.Form {
	case Rate:
		if step <= 0 || step%t.Every != 0 || !t.Skip && step != t.Every {
			j.blame(t, "run %d was due %d ns after the one before; the period is %d", i+1, step, t.Every)
		}
		if t.Skip && step > t.Every && r.Due-t.Every >= r.Begin {
			j.blame(t, "run %d left out a time that had not passed", i+1)
		}
	case Delay:
		if r.Due < prev.End+t.Every {
			j.blame(t, "run %d was due %d ns after the end of the one before; the delay is %d", i+1, r.Due-prev.End, t.Every)
		}
	case Trig:
		if step <= 0 || r.Due%t.Every != 0 {
			j.blame(t, "run %d was due at %d, %d ns after the one before; the grid is %d", i+1, r.Due, step, t.Every)
		}
	}
}
