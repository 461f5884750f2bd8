// Package cause has the errors of waits that the end of a context ended.
package cause

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Of returns the error for a wait that the end of ctx ended: its Err and, if it says
// more, its cause. A user's context may close its Done channel before its Err returns an
// error; then the error is context.Canceled.
func Of(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil {
		err = context.Canceled
	}
	if cause == nil || Same(cause, err) {
		return err
	}
	return With(err, cause)
}

// With returns an error that matches both. Its text has both, too.
func With(err, cause error) error { return &contextError{err, cause} }

type contextError struct{ err, cause error }

func (e *contextError) Error() string   { return fmt.Sprint(e.err) + ": " + Reason(e.cause) }
func (e *contextError) Unwrap() []error { return []error{e.err, NonNil(e.cause)} }

// IsOf reports whether err is what Of returns for ctx, which has ended, or one of the two errors
// in that.
func IsOf(ctx context.Context, err error) bool {
	reason := context.Cause(ctx)
	if both, ok := err.(*contextError); ok {
		return Same(both.err, ctx.Err()) && Same(both.cause, reason)
	}
	return Same(err, ctx.Err()) || Same(err, reason)
}

// Same is a == b for errors of users. They may be of a type for which == panics; then
// it reports whether they are deeply equal.
func Same(a, b error) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
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

// Reason returns the text of err without the prefix of package executor, for use inside
// another error's text.
func Reason(err error) string {
	if err == nil {
		return "no reason given"
	}
	// Sprint, since a user's error may be a nil pointer whose Error panics.
	return strings.TrimPrefix(fmt.Sprint(err), "executor: ")
}
