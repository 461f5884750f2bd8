package executor_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// none returns a nil pointer as an error, the oldest trap of the language. Its
// Error and Unwrap panic.
func none(context.Context) error {
	var err *fs.PathError
	return err
}

// An error whose methods panic, as a nil pointer's do, is an error as any other: it
// is logged, or told to AfterTask, and ends no worker.
func TestNilPointerAsError(t *testing.T) {
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

// A body that panics with one fails, and whoever looks into that error does not
// panic.
func TestPanicWithNilPointer(t *testing.T) {
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

// In periodic work it is recorded, and the schedule goes on.
func TestNilPointerAsErrorOfSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []error
		s := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { told = append(told, err) },
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
		if len(told) != 3 || !isNone(told[0]) {
			t.Errorf("AfterTask was told of %d runs", len(told))
		}
	})
}

func isNone(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path == nil
}

// nobody is an executor that refuses with a nil pointer.
type nobody struct{}

func (nobody) Execute(ctx context.Context, _ executor.Runnable) error { return none(ctx) }

// A cause that is a nil pointer, of a context or of a refusal, can be printed and
// looked into as a part of the outcome.
func TestNilPointerAsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(none(ctx))
		look := func(err error) {
			t.Helper()
			if errors.Is(err, fs.ErrExist) || !errors.Is(err, executor.ErrCanceled) && !errors.Is(err, context.Canceled) {
				t.Errorf("%T matches what it should not", err)
			}
			var path *fs.PathError
			errors.As(err, &path)
			if !strings.Contains(err.Error(), "<nil>") {
				t.Errorf("it says %q", err)
			}
		}
		look(executor.Submit(ctx, pool, value(1)).Err())
		look(pool.Go(ctx, func(context.Context) error { return nil }))
		look(executor.InvokeAll(context.Background(), nobody{}, value(1), value(2))[1].Err())
	})
}

// faults is an error that can't be compared: == with another one panics.
type faults []string

func (f faults) Error() string { return strings.Join(f, ", ") }

// listing is a context that has ended with faults.
type listing struct{ context.Context }

func (listing) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }
func (listing) Err() error            { return faults{"a", "b"} }

// Who waits with a context whose error can't be compared is told that error.
func TestContextWithAnErrorThatCannotBeCompared(t *testing.T) {
	_, err := executor.NewPromise[int]().Get(listing{context.Background()})
	var f faults
	if !errors.As(err, &f) || err.Error() != "a, b" {
		t.Errorf("got %v", err)
	}
}

// A body that gives back what its context was ended with has not failed, also if
// that can't be compared.
func TestBodyThatReturnsACauseThatCannotBeCompared(t *testing.T) {
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

// One that fails in another way, though with an error of the same type, has failed.
func TestBodyThatReturnsAnErrorOfTheTypeOfItsCause(t *testing.T) {
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
