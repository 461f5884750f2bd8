package store

import (
	"context"
	"time"
)

// Steps is a Store that keeps the results of the steps of runs, and signals. If a store is not a Steps, no Outcome has
// Signals. The store removes steps and signals with their job, when it is deleted or pruned.
type Steps interface {
	// KeptSteps returns the steps and signals of a job, of all occasions, in the order in which they were kept.
	KeptSteps(ctx context.Context, id ID) ([]KeptStep, error)

	// KeepStep keeps a step of a run, with the time of the store, and removes the steps of earlier occasions of the
	// job. If the store has one with the same Occasion, Name and Signal already, KeepStep keeps that one. It returns
	// the Result that the store has now. If the job is not Confirmed or Running with the epoch of the Ref, KeepStep
	// does nothing, and ok is false.
	KeepStep(ctx context.Context, of Ref, s KeptStep) (result []byte, ok bool, err error)

	// Signal keeps a signal for the job's present occasion, and removes what is kept of earlier occasions, as KeepStep
	// does. If the job waits for the signal, it is due at once. If the signal has come before, the answer is Applied if
	// the payloads are the same, and TooLate otherwise. The answer is also TooLate for a job that has ended.
	Signal(ctx context.Context, id ID, name string, payload []byte) (Answer, error)
}

// A KeptStep is the stored result of a step of a job, or a signal.
type KeptStep struct {
	Name string `json:"name"`
	// Signal reports that it is a signal and not a step. A step and a signal may have the same name.
	Signal bool `json:"signal,omitempty"`
	// Occasion is the Occasion of the job.
	Occasion time.Time `json:"occasion"`
	// Result is what a step returned, or the payload of a signal: a byte at least. It is nil while the job waits for the
	// signal. It must not be changed.
	Result []byte `json:"result,omitzero"`
	// At is when the step or signal was kept, on the store's clock. For a signal that the job has waited for, it is
	// when the wait began.
	At time.Time `json:"at"`
}

// Occasion returns a time that identifies the work to which the job's steps belong. For a periodic job it is the
// Occurrence. For a job that runs once, whose occurrence may be moved, it is the Anchor, which changes when the job is
// added again.
func (j *Job) Occasion() time.Time {
	if j.Periodic() {
		return j.Occurrence
	}
	return j.Anchor
}
