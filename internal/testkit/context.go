package testkit

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// Contexts returns a context that cannot end and one that can.
// A task that was submitted with the second is canceled on another path,
// since its pool has to note the end of the context.
func Contexts(t testing.TB) []context.Context {
	return []context.Context{context.Background(), t.Context()}
}

// An EndedContext is a context that has ended, with what an error that it causes must match.
type EndedContext struct {
	Ctx  context.Context
	Want []error
}

// EndedContexts returns contexts that have ended in all ways there are, by name.
func EndedContexts(t testing.TB) map[string]EndedContext {
	errCause := errors.New("a cause of its own")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, end := context.WithCancelCause(t.Context())
	end(errCause)
	expired, cancel := context.WithDeadline(t.Context(), time.Now())
	t.Cleanup(cancel)
	negative, cancel := context.WithTimeout(t.Context(), math.MinInt64)
	t.Cleanup(cancel)
	blamed, cancel := context.WithTimeoutCause(t.Context(), -1, errCause)
	t.Cleanup(cancel)
	child, cancel := context.WithCancel(caused)
	t.Cleanup(cancel)
	parent, cancel := context.WithCancel(t.Context())
	first, stop := context.WithTimeout(parent, 0)
	t.Cleanup(stop)
	cancel()
	return map[string]EndedContext{
		"canceled":                  {canceled, []error{context.Canceled}},
		"canceled with a cause":     {caused, []error{context.Canceled, errCause}},
		"child of it":               {child, []error{context.Canceled, errCause}},
		"expired":                   {expired, []error{context.DeadlineExceeded}},
		"expired long ago":          {negative, []error{context.DeadlineExceeded}},
		"expired with a cause":      {blamed, []error{context.DeadlineExceeded, errCause}},
		"expired before its parent": {first, []error{context.DeadlineExceeded}},
	}
}
