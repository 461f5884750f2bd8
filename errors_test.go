package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

var sentinels = map[string]error{
	"ErrRejected": executor.ErrRejected, "ErrShutdown": executor.ErrShutdown, "ErrSaturated": executor.ErrSaturated,
	"ErrCanceled": executor.ErrCanceled, "ErrTimeout": executor.ErrTimeout, "ErrReturned": executor.ErrReturned,
	"ErrNotDone": executor.ErrNotDone,
	"ErrNilTask": executor.ErrNilTask, "ErrInvalid": executor.ErrInvalid, "ErrGoexit": executor.ErrGoexit,
	"ErrNoTasks": executor.ErrNoTasks, "Stop": executor.Stop,
}

// The package's errors are told apart, and each says whose it is.
func TestSentinels(t *testing.T) {
	for name, err := range sentinels {
		if !strings.HasPrefix(err.Error(), "executor: ") {
			t.Errorf("%s: %q", name, err)
		}
		for other, target := range sentinels {
			if errors.Is(err, target) != (name == other) {
				t.Errorf("%s and %s", name, other)
			}
		}
	}
}

// matches gives the names of the sentinels that err matches.
func matches(err error) string {
	var all []string
	for _, name := range []string{"ErrRejected", "ErrShutdown", "ErrSaturated", "ErrCanceled", "ErrTimeout", "ErrReturned", "ErrNotDone", "ErrNilTask", "ErrInvalid", "ErrGoexit"} {
		if errors.Is(err, sentinels[name]) {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// Errors that carry another match that, their own sentinel, and nothing else;
// their texts name the package once.
func TestErrorTypes(t *testing.T) {
	for _, c := range []struct {
		err   error
		match string
		text  string
	}{
		{&executor.RejectedError{Reason: executor.ErrSaturated}, "ErrRejected ErrSaturated", "executor: task rejected: saturated"},
		{&executor.RejectedError{Executor: "mail", Reason: executor.ErrShutdown}, "ErrRejected ErrShutdown", `executor: task rejected by "mail": shut down`},
		{&executor.RejectedError{Reason: io.EOF}, "ErrRejected", "executor: task rejected: EOF"},
		{&executor.CanceledError{Cause: executor.ErrCanceled}, "ErrCanceled", "executor: task canceled"},
		{&executor.CanceledError{Cause: executor.ErrShutdown}, "ErrShutdown ErrCanceled", "executor: task canceled: shut down"},
		{&executor.CanceledError{Cause: context.Canceled}, "ErrCanceled", "executor: task canceled: context canceled"},
		{&executor.PanicError{Value: executor.ErrShutdown, Stack: []byte("stack")}, "ErrShutdown", "executor: task panicked: executor: shut down\n\nstack"},
		{&executor.PanicError{Value: 3, Stack: []byte("stack")}, "", "executor: task panicked: 3\n\nstack"},
	} {
		if got := matches(c.err); got != c.match {
			t.Errorf("%q matches %s, want %s", c.err, got, c.match)
		}
		if got := matches(fmt.Errorf("wrapped: %w", c.err)); got != c.match {
			t.Errorf("%q, wrapped, matches %s, want %s", c.err, got, c.match)
		}
		if c.err.Error() != c.text {
			t.Errorf("text: %q, want %q", c.err.Error(), c.text)
		}
	}
}

// Errors that a user made without a reason have a text all the same, and match
// their sentinel.
func TestErrorsWithoutReason(t *testing.T) {
	for _, err := range []error{&executor.RejectedError{}, &executor.CanceledError{}, &executor.PanicError{}} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%T: Error panicked: %v", err, r)
				}
			}()
			if !strings.HasPrefix(err.Error(), "executor: task ") || errors.Is(err, io.EOF) {
				t.Errorf("%T: %q", err, err)
			}
		}()
	}
}

// What a pool's tasks end with can be taken apart: the outcome of each path has
// the types and the sentinels that are documented.
func TestOutcomesOfPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Name: "mail", Core: 1, Queue: executor.Bounded(2)})
		running := executor.Submit(t.Context(), p, testkit.UntilDone)
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		byContext := executor.Submit(ctx, p, value(1))
		cancel(errTask)
		synctest.Wait()
		byHand := executor.Submit(t.Context(), p, value(1))
		byHand.Cancel()
		byShutdown := executor.Submit(t.Context(), p, value(1))
		executor.Submit(t.Context(), p, value(1))
		saturated := executor.Submit(t.Context(), p, value(1))
		p.ShutdownNow()
		tooLate := executor.Submit(t.Context(), p, value(1))
		running.Join(t.Context())

		for _, c := range []struct {
			name  string
			f     *executor.Future[int]
			state executor.State
			match string
		}{
			{"running at ShutdownNow", running, executor.Failed, "ErrShutdown"}, // the body returned its context's cause
			{"its context ended", byContext, executor.Canceled, "ErrCanceled"},
			{"canceled", byHand, executor.Canceled, "ErrCanceled"},
			{"waiting at ShutdownNow", byShutdown, executor.Canceled, "ErrShutdown ErrCanceled"},
			{"no room", saturated, executor.Failed, "ErrRejected ErrSaturated"},
			{"after the shutdown", tooLate, executor.Failed, "ErrRejected ErrShutdown"},
		} {
			if got := matches(c.f.Err()); c.f.State() != c.state || got != c.match {
				t.Errorf("%s: %v, matches %s (%v)", c.name, c.f.State(), got, c.f.Err())
			}
		}
		if err := byContext.Err(); !errors.Is(err, errTask) || !errors.Is(err, context.Canceled) {
			t.Errorf("its context ended: %v", err)
		}
		var rejected *executor.RejectedError
		if !errors.As(saturated.Err(), &rejected) || rejected.Executor != "mail" || rejected.Reason != executor.ErrSaturated {
			t.Errorf("no room: %#v", rejected)
		}
		var canceled *executor.CanceledError
		if !errors.As(byShutdown.Err(), &canceled) || canceled.Cause != executor.ErrShutdown {
			t.Errorf("waiting: %#v", canceled)
		}
	})
}

// A context's own cause is in the text of the errors that it causes.
func TestCauseInText(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	_, err := executor.NewPromise[int]().Get(ctx)
	if got, want := err.Error(), "context canceled: the task's error"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
