package store

import (
	"context"
	"time"
)

// Steps is a Store that keeps the results of the steps of runs, and signals. Without it no Outcome has Signals. Steps
// and signals are removed with their job, when it is deleted or pruned.
type Steps interface {
	// KeptSteps returns what is kept of a job, of all occasions, in the order in which it was kept.
	KeptSteps(ctx context.Context, id ID) ([]KeptStep, error)

	// KeepStep keeps a step of a run at the time of the store, unless one is there with the same Occasion, Name and
	// Signal, and removes those of earlier occasions of the job. It returns the Result that is there now. If the job is
	// not Confirmed or Running with that epoch, it does nothing, and ok is false.
	KeepStep(ctx context.Context, of Ref, s KeptStep) (result []byte, ok bool, err error)

	// Signal keeps a signal for the job's present occasion. If a run waits for it, the job is due at once, unless it is
	// earlier. If the signal has come before, the answer is Applied if the payloads are the same, and else TooLate, as
	// it is for a job that is over.
	Signal(ctx context.Context, id ID, name string, payload []byte) (Answer, error)
}

// A KeptStep is what is kept of a step of a job.
type KeptStep struct {
	Name string `json:"name"`
	// Signal reports that it is a signal and not a step. A step and a signal may have the same name.
	Signal bool `json:"signal,omitempty"`
	// Occasion is that of the job.
	Occasion time.Time `json:"occasion"`
	// Result is what a step returned, or the payload of a signal; nil if the signal is waited for. It must not be
	// changed.
	Result []byte `json:"result,omitempty"`
	// At is when it was kept on the store's clock: a signal that was waited for, when the wait began.
	At time.Time `json:"at"`
}

// Occasion returns the time that tells for which work of the job steps are kept. It is the Occurrence of a periodic
// job. Of a job that runs once, whose occurrence may be moved, it is the Anchor, which is another one when the job is
// asked for again.
func (j *Job) Occasion() time.Time {
	if j.Periodic() {
		return j.Occurrence
	}
	return j.Anchor
}
