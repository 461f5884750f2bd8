package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor/internal/cause"
)

var (
	// ErrReturned is the cause of a body's context once the body has returned.
	ErrReturned = errors.New("executor: the task that this context belonged to has returned")

	// ErrTimeout is matched by the cause of a body's context that a timeout ended.
	ErrTimeout = errors.New("executor: task timed out")
)

// timeoutError is the cause of a context that a task's timeout ended.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("executor: task timed out after %v", e.after)
}
func (e *timeoutError) Is(target error) bool { return target == ErrTimeout }

// ContextError is cause.Of.
func ContextError(ctx context.Context) error { return cause.Of(ctx) }

// IfEnded returns ContextError of a context that has ended, else nil.
func IfEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return cause.Of(ctx)
}

// IsContextError is cause.IsOf.
func IsContextError(ctx context.Context, err error) bool { return cause.IsOf(ctx, err) }

// WithCause is cause.With.
func WithCause(err, why error) error { return cause.With(err, why) }

// Same is cause.Same.
func Same(a, b error) bool { return cause.Same(a, b) }

// NonNil is cause.NonNil.
func NonNil(err error) error { return cause.NonNil(err) }

// Reason is cause.Reason.
func Reason(err error) string { return cause.Reason(err) }
