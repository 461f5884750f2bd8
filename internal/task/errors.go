package task

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

var (
	// ErrReturned is the cause of a body's context once the body has returned.
	ErrReturned = errors.New("executor: the body whose context this was has returned")

	// ErrTimeout is matched by the cause of a body's context that a timeout ended.
	ErrTimeout = errors.New("executor: task timed out")
)

// timeoutError is the cause of a context that a task's timeout ended.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("executor: task timed out after %v", e.after)
}
func (e *timeoutError) Is(target error) bool { return target == ErrTimeout }

// ContextError returns the error for a wait that the end of ctx ended: its Err and, if
// it says more, its cause. A user's context may close its Done channel before its Err
// returns an error; then the error is context.Canceled.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil {
		err = context.Canceled
	}
	if cause == nil || Same(cause, err) {
		return err
	}
	return &contextError{err, cause}
}

// IfEnded returns ContextError of a context that has ended, else nil.
func IfEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return ContextError(ctx)
}

type contextError struct{ err, cause error }

func (e *contextError) Error() string   { return e.err.Error() + ": " + Reason(e.cause) }
func (e *contextError) Unwrap() []error { return []error{e.err, NonNil(e.cause)} }

// Same is a == b for errors of users. They may be of a type for which == panics; then
// it reports whether they are deeply equal.
func Same(a, b error) bool {
	if x, y := reflect.ValueOf(a), reflect.ValueOf(b); !x.Comparable() || !y.Comparable() {
		return reflect.DeepEqual(a, b)
	}
	return a == b
}

// NonNil returns err, or nil for a nil pointer, whose methods are likely to panic.
func NonNil(err error) error {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return err
}

// Reason returns the text of err without the package's prefix, for use inside another
// error's text.
func Reason(err error) string {
	if err == nil {
		return "no reason given"
	}
	// Sprint, since a user's error may be a nil pointer whose Error panics.
	return strings.TrimPrefix(fmt.Sprint(err), "executor: ")
}
