package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// waiting is a wait for the end of a run.
type waiting struct {
	called string
	runs   func(n int) (latest, error) // of the job
	number int64                       // of the run
}

// latest are the latest runs of a job, those that have begun.
type latest struct {
	runs   []view.Run
	number int64 // of the latest that the job knows of: that may be a moment after it was added
	idle   bool  // none of those is in progress, and none waits
}

// waitEvery is how long a wait rests between two looks.
const waitEvery = 200 * time.Millisecond

// lookedAt is how many of the latest runs a wait looks at: more do not begin between two looks.
const lookedAt = 100

// end waits for the end of the run, and returns it. A run that will be begun again has not ended, and one that was
// canceled before it began has.
func (w *waiting) end() (view.Run, error) {
	for ; ; time.Sleep(waitEvery) {
		l, err := w.runs(lookedAt)
		if err != nil {
			return view.Run{}, err
		}
		attempts := slices.DeleteFunc(l.runs, func(r view.Run) bool { return r.Run != w.number })
		if len(attempts) == 0 && l.number >= w.number && l.idle {
			return view.Run{Run: w.number, Outcome: outcome.Canceled, Error: "it was canceled before it began"}, nil
		}
		for _, r := range attempts {
			if r.Outcome != outcome.InProgress && !r.Outcome.Resumes() {
				return r, nil
			}
		}
	}
}

// waitFor waits for the end of each of these runs, and prints how it has ended.
func waitFor(w io.Writer, all []waiting) error {
	good := true
	for _, one := range all {
		r, err := one.end()
		if err != nil {
			return fmt.Errorf("job %s: %w", one.called, err)
		}
		fmt.Fprintf(w, "%s: run %d: %s after %v\n", one.called, r.Run, r.Outcome, view.Span(r.Took))
		if why := r.Why(200); why != "" && r.Outcome != outcome.OK {
			fmt.Fprintln(w, indent+why)
		}
		good = good && r.Outcome == outcome.OK
	}
	if !good {
		return &exitError{code: exitFailed}
	}
	return nil
}
