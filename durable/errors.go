package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
)

var (
	// ErrNotFound is returned where no job has the ID or key that was asked for.
	ErrNotFound = errors.New("durable: no such job")

	// ErrKeyTaken is matched by the error about a key that belongs to a job which
	// can't stand for the new one: it is of another kind, or one of the two is
	// periodic and the other is not.
	ErrKeyTaken = errors.New("durable: key is taken by another job")

	// ErrLeaseLost is the [context.Cause] seen by a handler whose node could not
	// renew its lease, or was declared dead: another node may be running the
	// same job by now, and what this run returns is likely to be refused.
	ErrLeaseLost = errors.New("durable: node lost its lease")

	// ErrRefused is returned by CompleteTx if the run is no longer this node's,
	// or was completed before: the transaction must be rolled back.
	ErrRefused = errors.New("durable: run is no longer this node's")

	// ErrDead is matched by the outcome of a job that failed for good.
	ErrDead = errors.New("durable: job is dead")

	// ErrRunning is returned by a second call of Run.
	ErrRunning = errors.New("durable: Run was called before")

	// ErrNewerSchema is matched by the error of opening a database that a newer
	// version of this package has migrated.
	ErrNewerSchema = errors.New("durable: the database is newer than this program")
)

// invalid gives an error that matches executor.ErrInvalid.
func invalid(format string, args ...any) error {
	return fmt.Errorf("durable: %w: "+format, append([]any{executor.ErrInvalid}, args...)...)
}

// mustContext is first in whatever gives the caller's context to the store: not
// everything below bears a nil one. database/sql keeps a lock when it panics over it.
func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("durable: nil Context")
	}
}

// Permanent marks an error of a handler as one that another attempt would not
// mend: the job is dead at once, however many attempts it has left. If it is
// periodic, its schedule goes on with the next occurrence, as after the last
// attempt. Of nil it gives nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Snooze gives an error by which a handler puts its job off: the job is run again
// after d, for the same occurrence, and this run counts neither as a failure nor as
// an attempt. It is for what is not ready yet, or is asked to be left alone for a
// while. A negative d counts as none. If the error is wrapped, the history keeps
// the text around it. A job that was canceled meanwhile is not put off.
func Snooze(d time.Duration) error { return &snoozeError{max(d, 0)} }

type snoozeError struct{ d time.Duration }

func (e *snoozeError) Error() string { return fmt.Sprintf("durable: put off by %v", e.d) }

// A JobError is the outcome of a job that did not succeed, as Await gives it. It
// matches ErrDead or executor.ErrCanceled.
type JobError struct {
	ID    ID
	State State  // Dead or Canceled
	Text  string // what the last run failed with
}

// Error gives the state, and what the last run failed with, if one did.
func (e *JobError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("durable: job %s is %s", e.ID, e.State)
	}
	return fmt.Sprintf("durable: job %s is %s: %s", e.ID, e.State, e.Text)
}

// Unwrap gives the error that the state stands for.
func (e *JobError) Unwrap() error {
	if e.State == Canceled {
		return executor.ErrCanceled
	}
	return ErrDead
}
