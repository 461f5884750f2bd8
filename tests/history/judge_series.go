package history

import (
	"errors"

	"github.com/executor-go/executor"
)

// series checks the runs of a series: when each was due, and that none follows the last.
func (j *judge) series(t *Task, f *facts) {
	for i := 1; i < len(t.Runs); i++ {
		j.cadence(t, i)
		if w := t.Runs[i-1].Ending; w == Panics || w == Exits || w == Stops {
			j.fault(t, "run %d %v, and another followed", i, w)
		}
	}
	n := int64(len(t.Runs))
	if t.MaxRuns > 0 && n > t.MaxRuns {
		j.fault(t, "ran %d times, the limit is %d", n, t.MaxRuns)
	}
	if t.State == executor.Succeeded && n > 0 && n < t.MaxRuns && t.Runs[n-1].Ending != Stops {
		j.fault(t, "succeeded after %d runs of %d", n, t.MaxRuns)
	}
	if t.State == executor.Canceled && errors.Is(t.Outcome, executor.ErrShutdown) && j.shutdownNowAt == 0 && !j.Stops {
		j.fault(t, "was canceled by Shutdown, which must keep it")
	}
	for _, e := range f.canceled {
		after := 0
		for _, r := range t.Runs {
			if r.Begin > e.To {
				after++
			}
		}
		if after > 1 { // the first may have been starting
			j.fault(t, "started %d runs after it was canceled", after)
		}
	}
}

// cadence checks the time between a run and the previous one.
func (j *judge) cadence(t *Task, i int) {
	prev, r := t.Runs[i-1], t.Runs[i]
	step := r.Due - prev.Due
	switch t.Form {
	case FixedRate:
		if step <= 0 || step%t.Period != 0 || !t.CatchUp0 && step != t.Period {
			j.fault(t, "run %d was due %d ns after the previous one; the period is %d", i+1, step, t.Period)
		}
		if t.CatchUp0 && step > t.Period && r.Due-t.Period >= r.Begin {
			j.fault(t, "run %d skipped a time that had not passed", i+1)
		}
	case FixedDelay:
		if r.Due < prev.End+t.Period {
			j.fault(t, "run %d was due %d ns after the end of the previous one; the delay is %d",
				i+1, r.Due-prev.End, t.Period)
		}
	case Trigger:
		if step <= 0 || r.Due%t.Period != 0 {
			j.fault(t, "run %d was due at %d, %d ns after the previous one; the grid is %d",
				i+1, r.Due, step, t.Period)
		}
	}
}
