package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// matches returns the names of the sentinels that err matches.
func matches(err error) string {
	var all []string
	for _, name := range []string{
		"ErrRejected", "ErrShutdown", "ErrSaturated", "ErrCanceled", "ErrTimeout", "ErrReturned", "ErrNotDone",
		"ErrNilTask", "ErrInvalid", "ErrGoexit",
	} {
		if errors.Is(err, sentinels[name]) {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// The errors of the package do not match each other, but ErrNoTasks matches ErrInvalid; their texts begin
// with the package's name.
func TestErrorSentinels(t *testing.T) {
	for name, err := range sentinels {
		if !strings.HasPrefix(err.Error(), "executor: ") {
			t.Errorf("%s: %q", name, err)
		}
		for other, target := range sentinels {
			if errors.Is(err, target) != (name == other || name == "ErrNoTasks" && other == "ErrInvalid") {
				t.Errorf("%s and %s", name, other)
			}
		}
	}
}

// An error that wraps another matches that, its own sentinel, and nothing else; its text names the
// package once.
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
		{&executor.PanicError{Value: executor.ErrShutdown, Stack: []byte("stack")}, "ErrShutdown", "executor: task panicked: executor: shut down"},
		{&executor.PanicError{Value: 3, Stack: []byte("stack")}, "", "executor: task panicked: 3"},
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

// Error values that a user made without a reason have a text, and match their sentinel.
func TestErrorTypesWithoutReason(t *testing.T) {
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

// The outcome of each path in a pool has the types and sentinels that the documentation names.
func TestErrorOfEachPath(t *testing.T) {
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
			{"running at ShutdownNow", running, executor.Failed, "ErrShutdown"}, // the task function returned its context's cause
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

// The text of an error that a context causes has the context's cause.
func TestErrorTextHasCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTask)
	_, err := executor.NewPromise[int]().Get(ctx)
	if got, want := err.Error(), "context canceled: the task's error"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Errors of users whose methods panic, and errors that cannot be compared.

// none returns a nil pointer as an error, whose methods panic.
func none(context.Context) error {
	var err *fs.PathError
	return err
}

func isNone(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path == nil
}

// nilRejecting is an executor that rejects with a nil pointer as the error.
type nilRejecting struct{}

func (nilRejecting) Execute(ctx context.Context, _ executor.Runnable) error { return none(ctx) }

// An error whose methods panic is an error as any other: it is logged or passed to AfterTask, and
// the worker continues.
func TestErrorNilPointerOfTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		mustGo(t, pool, none)
		ctx, cancel := context.WithCancel(t.Context())
		pool.Go(ctx, func(ctx context.Context) error {
			cancel() // so that its error may be no news
			return none(ctx)
		})
		waitStats(t, pool)
		if n := strings.Count(out.String(), "task failed"); n != 2 {
			t.Errorf("logged %d of 2 failures: %s", n, out.String())
		}
		if s := pool.Stats(); s.Failed != 2 || s.Workers != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// A task function that panics with a nil pointer as an error fails, and errors.Is of the outcome
// does not panic.
func TestErrorNilPointerOfPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		f := executor.Submit(t.Context(), pool, executor.Callable(func(ctx context.Context) error { panic(none(ctx)) }))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if errors.Is(err, fs.ErrExist) || !errors.As(err, &perr) {
			t.Errorf("it failed with %v", err)
		}
	})
}

// In periodic work such an error is recorded, and the schedule continues.
func TestErrorNilPointerOfSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []error
		s := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { reported = append(reported, err) },
		}})
		f, err := s.AtFixedRate(t.Context(), 0, time.Second, none)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if f.Runs() != 3 || f.State() != executor.Pending || !isNone(f.LastError()) {
			t.Errorf("%d runs, %v, last error of type %T", f.Runs(), f.State(), f.LastError())
		}
		if len(reported) != 3 || !isNone(reported[0]) {
			t.Errorf("AfterTask was called with an error %d times", len(reported))
		}
	})
}

// A nil pointer that is the cause of a context or of a rejection can be printed and unwrapped as
// part of the outcome.
func TestErrorNilPointerAsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(none(ctx))
		inspect := func(err error) {
			t.Helper()
			if errors.Is(err, fs.ErrExist) || !errors.Is(err, executor.ErrCanceled) &&
				!errors.Is(err, context.Canceled) {
				t.Errorf("%T matches what it should not", err)
			}
			var path *fs.PathError
			errors.As(err, &path)
			if !strings.Contains(err.Error(), "<nil>") {
				t.Errorf("it says %q", err)
			}
		}
		inspect(executor.Submit(ctx, pool, value(1)).Err())
		inspect(pool.Go(ctx, func(context.Context) error { return nil }))
		inspect(executor.InvokeAll(context.Background(), nilRejecting{}, value(1), value(2))[1].Err())
	})
}

// faults is an error that cannot be compared: == panics.
type faults []string

func (f faults) Error() string { return strings.Join(f, ", ") }

// listing is a context that has ended with faults.
type listing struct{ context.Context }

func (listing) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }

func (listing) Err() error { return faults{"a", "b"} }

// Get returns the error of its context even if that cannot be compared.
func TestErrorIncomparableOfContext(t *testing.T) {
	_, err := executor.NewPromise[int]().Get(listing{context.Background()})
	var f faults
	if !errors.As(err, &f) || err.Error() != "a, b" {
		t.Errorf("got %v", err)
	}
}

// A task function that returns the cause of its context has not failed, even if the cause cannot be
// compared.
func TestErrorIncomparableCauseIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		for _, cause := range []error{errTask, faults{"a", "b"}} {
			ctx, cancel := context.WithCancelCause(context.Background())
			pool.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
			synctest.Wait()
			cancel(cause)
			waitStats(t, pool)
			expect(t, "logged", out.String(), "")
		}
	})
}

// A task function that returns another error of the same type as the cause has failed.
func TestErrorIncomparableOtherIsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
		ctx, cancel := context.WithCancelCause(context.Background())
		pool.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return faults{"the disk is full"} })
		synctest.Wait()
		cancel(faults{"a", "b"})
		waitStats(t, pool)
		if !strings.Contains(out.String(), "the disk is full") {
			t.Errorf("logged %q", out.String())
		}
	})
}

// cyclic is an error that wraps itself.
type cyclic struct{}

func (c *cyclic) Error() string { return "cyclic" }

func (c *cyclic) Is(error) bool { return false }

type cyclicOne struct{ *cyclic }

func (c cyclicOne) Unwrap() error { return c }

type cyclicMany struct{ *cyclic }

func (c cyclicMany) Unwrap() []error { return []error{c, c} }

// An error that wraps itself does not keep a worker.
func TestErrorsCyclic(t *testing.T) {
	for _, err := range []error{cyclicOne{new(cyclic)}, cyclicMany{new(cyclic)}} {
		pool := newPool(t, executor.Config{Core: 1, Logger: slog.New(slog.DiscardHandler)})
		mustGo(t, pool, func(context.Context) error { return err })
		f := executor.Submit(t.Context(), pool, testkit.Fail(err))
		expect(t, "outcome", func() error { _, got := f.Get(t.Context()); return got }(), err)
		pool.Close()
		expect(t, "Failed", checkStats(t, pool).Failed, 2)
		s := scheduled(t, 1)
		again, e := s.AtFixedRate(t.Context(), 0, time.Millisecond, func(context.Context) error { return err },
			executor.Times(2))
		expect(t, "AtFixedRate", e, nil)
		expect(t, "series", again.Join(t.Context()), nil)
	}
}
