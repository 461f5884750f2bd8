// Package outcome has the words for how a run of a job ends, and the label by which the history of a store has them.
package outcome

import "slices"

// Outcome is how a run ended, in one word. The words are documented, and stand in stores: do not change them.
type Outcome string

const (
	OK         Outcome = "ok"
	Failed     Outcome = "failed"
	NotStarted Outcome = "not started" // never in a log, where it is a message of its own
	Timeout    Outcome = "timeout"
	Stopped    Outcome = "stopped"  // executord ended and did not wait
	Canceled   Outcome = "canceled" // by somebody
	Replaced   Outcome = "replaced" // by a run for a later time
	Lost       Outcome = "lost"     // the store did not answer, so that another daemon may run the job

	// Delayed is the outcome of a run whose daemon ended during the jitter, which is in the history only, or before the
	// next attempt.
	Delayed Outcome = "delayed"

	// These are in the history only.
	Excluded Outcome = "excluded" // its due time does not count
	Missed   Outcome = "missed"   // it was too late for its misfire
)

// Ends returns the outcomes of runs whose daemon has tried to start a command, and goes on with it no more.
func Ends() []Outcome {
	return []Outcome{OK, Failed, Timeout, Stopped, Canceled, Lost, Replaced, NotStarted}
}

// IsFailure reports whether the job has failed, by itself: it would be tried again, if it has retries.
func (o Outcome) IsFailure() bool { return o == Failed || o == Timeout || o == NotStarted }

// known reports whether an outcome is one of the words above.
func (o Outcome) known() bool {
	switch o {
	case Delayed, Excluded, Missed:
		return true
	}
	return slices.Contains(Ends(), o)
}
