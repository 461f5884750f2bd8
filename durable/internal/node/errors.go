package node

import (
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
)

// ErrLeaseLost is durable.ErrLeaseLost.
var ErrLeaseLost = errors.New("durable: node lost its lease")

// ErrRefused is durable.ErrRefused.
var ErrRefused = errors.New("durable: run is no longer this node's")

// permanent matches each error that executor.Permanent marks.
var permanent = executor.Permanent(errors.New("permanent"))

// Snooze returns an error by which a handler puts its job off by d.
func Snooze(d time.Duration) error { return &snoozeError{d: d} }

// Unnoted is Snooze without an entry in the history.
func Unnoted(d time.Duration) error { return &snoozeError{d: d, unnoted: true} }

// Snoozed reports whether a handler that returns err snoozes its job, and for how long.
func Snoozed(err error) (d time.Duration, ok bool) {
	var snooze *snoozeError
	if !errors.As(err, &snooze) {
		return 0, false
	}
	return snooze.d, true
}

type snoozeError struct {
	d     time.Duration
	until time.Time // when the job is due, if not zero
	why   string    // what the run does meanwhile, if not ""

	unnoted bool // the history has no entry
}

func (e *snoozeError) Error() string {
	if e.why != "" {
		return "durable: snoozed, " + e.why
	}
	return fmt.Sprintf("durable: snoozed for %v", e.d)
}

// RetryAfter is durable.RetryAfter.
func RetryAfter(err error, d time.Duration) error { return &retryError{err, d} }

type retryError struct {
	error
	d time.Duration
}

func (e *retryError) Unwrap() error { return e.error }
