package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

var (
	// ErrNotFound reports that no job has the given ID or key.
	ErrNotFound = store.ErrNotFound

	// ErrKeyTaken reports that the key belongs to a job of a different kind, or that only one of the two jobs is
	// periodic.
	ErrKeyTaken = errors.New("durable: key is taken by another job")

	// ErrLeaseLost is the [context.Cause] of a handler's context whose node could not renew its lease, or was declared
	// dead. Another node may already run the same job, and the store will probably refuse the outcome of this run.
	ErrLeaseLost = node.ErrLeaseLost

	// ErrRefused reports that this node no longer has the run. CompleteTx, Step, SnoozeOnce and Wait return it; CompleteTx
	// also returns it if the run was completed before. The handler must roll back its transaction, and return.
	ErrRefused = node.ErrRefused

	// ErrDead reports that a job has failed for good, or that a schedule to be registered is dead: see Jobs.Revive. The
	// errors of Await and of registrations match it.
	ErrDead = errors.New("durable: job is dead")

	// ErrNoNode reports that no live node has the name; the errors of DrainNode and UndrainNode match it.
	ErrNoNode = errors.New("no live node has this name; Nodes returns the live nodes")

	// ErrNewerSchema reports that a newer version of this package has migrated the database; the error of opening a
	// store matches it.
	ErrNewerSchema = store.ErrNewerSchema
	// ErrFull reports that the store has no room left: the errors of calls that it has therefore not carried out match
	// it. The store can often be read, and a node goes on when there is room again.
	ErrFull = store.ErrFull
)

// invalid returns an error that matches executor.ErrInvalid, and what format wraps.
func invalid(format string, args ...any) error { return argument.Invalid("durable: "+format, args...) }

// failed returns the error of a call of the store, with what was asked for. The store's own are not wrapped that have a
// name here.
func failed(call string, err error) error {
	if err == nil || err == ErrNotFound {
		return err
	}
	return fmt.Errorf("durable: %s: %w", call, err)
}

// mustContext panics if ctx is nil. It is called before anything else where a context goes to the store: database/sql
// keeps a lock when it panics over a nil one.
func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("durable: nil Context")
	}
}

// Snooze returns an error with which a handler postpones its job: the job runs again after d, for the same occurrence,
// and this run counts neither as a failure nor as an attempt. Use it for work that is not ready yet, or for a service
// that asks for a later retry. A negative d counts as 0. If the error is wrapped, the history keeps the text around it.
// A job that was canceled meanwhile is not postponed.
func Snooze(d time.Duration) error { return node.Snooze(max(d, 0)) }

// Snoozed reports whether err postpones the job of a handler that returns it, as an error of Snooze, SnoozeOnce or Wait
// does, and by how long.
func Snoozed(err error) (d time.Duration, ok bool) { return node.Snoozed(err) }

// RetryAfter returns an error with which a handler fails, and which has the next attempt wait for at least d; if
// WithBackoff says more, that counts. Use it for a service that says when to try again. Its text is that of err, which
// it wraps and which must not be nil. It counts as an attempt, as any other error does, see Snooze; after the last
// attempt d has no effect. A negative d counts as 0.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		panic("durable: RetryAfter of a nil error")
	}
	return node.RetryAfter(err, max(d, 0))
}

// A JobError is the outcome of a job that did not succeed, as Await returns it. It matches ErrDead or
// executor.ErrCanceled.
type JobError struct {
	ID    ID
	State State  // Dead or Canceled
	Text  string // error of the last run; "" if it had none
	Label string // of the last run, see SetLabel
}

// Error returns the state, and the error of the last run if there was one.
func (e *JobError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("durable: job %s is %s", e.ID, e.State)
	}
	return fmt.Sprintf("durable: job %s is %s: %s", e.ID, e.State, e.Text)
}

// Unwrap returns executor.ErrCanceled or ErrDead.
func (e *JobError) Unwrap() error {
	if e.State == Canceled {
		return executor.ErrCanceled
	}
	return ErrDead
}
