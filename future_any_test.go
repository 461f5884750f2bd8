package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// InvokeAny gives the first value, whatever failed before (testInvokeAny5,
// testTimedInvokeAny5, InvokeTest.testInvokeAny1, 5, 6, testInvokeAnyWithTimeout1).
func TestInvokeAny(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		v, err := executor.InvokeAny(ctx, ex, testkit.Fail(errTask), testkit.After(time.Second, 2), testkit.Fail(errTask))
		if v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// Once one has succeeded no further one is started: over an executor that runs
// tasks in the caller the second never runs (testInvokeAny5).
func TestInvokeAnyStopsStarting(t *testing.T) {
	body, runs, release := testkit.Stuck(1, nil)
	release()
	if v, err := executor.InvokeAny(t.Context(), testkit.Inline{}, testkit.Fail(errTask), body, body, body); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if *runs != 1 {
		t.Errorf("%d ran", *runs)
	}
}

// The winner's rivals are canceled: those that run by their contexts, with the
// cause ErrCanceled, those that wait leave the queue (InvokeTest.testInvokeAny2,
// testInvokeAnyWithTimeout2, Invoke.testInvokeAny_cancellationInterrupt).
func TestInvokeAnyCancelsLosers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 4})
		causes := make(chan error, 10)
		loser := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return 0, ctx.Err()
		}
		v, err := executor.InvokeAny(t.Context(), p, loser, loser, testkit.After(time.Minute, 3), loser, loser, loser)
		if v != 3 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		s := waitStats(t, p)
		if s.Active != 0 || s.Queued != 0 || s.Canceled != 5 || s.Succeeded != 1 {
			t.Errorf("%+v", s)
		}
		// Workers may have begun those that waited before they were canceled.
		if n := len(causes); n < 3 {
			t.Errorf("%d losers had begun, want at least 3", n)
		}
		for range len(causes) {
			if cause := <-causes; cause != executor.ErrCanceled {
				t.Errorf("cause: %v", cause)
			}
		}
	})
}

// If all fail the error is that of the one that failed last (testInvokeAny4,
// InvokeTest.testInvokeAny3, 4).
func TestInvokeAnyAllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 4})
		fail := func(d time.Duration) task {
			return func(context.Context) (int, error) {
				time.Sleep(d)
				return 7, fmt.Errorf("after %v", d)
			}
		}
		v, err := executor.InvokeAny(t.Context(), p, fail(2*time.Second), fail(3*time.Second), fail(time.Second))
		if v != 0 || err == nil || err.Error() != "after 3s" {
			t.Errorf("%d, %v", v, err)
		}
	})
	if _, err := executor.InvokeAny(t.Context(), testkit.Inline{}, testkit.Fail(errTask), testkit.Fail(context.Canceled)); err != context.Canceled {
		t.Errorf("in the caller: %v", err)
	}
}

// A panic is a failure as any other, and another function can still win.
func TestInvokeAnyPanics(t *testing.T) {
	if v, err := executor.InvokeAny(t.Context(), testkit.Inline{}, explode, value(2)); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	var p *executor.PanicError
	if _, err := executor.InvokeAny(t.Context(), testkit.Inline{}, explode); !errors.As(err, &p) {
		t.Errorf("%v", err)
	}
}

// When the context of InvokeAny ends before any has succeeded, that is the
// error, and those that run are canceled (InvokeTest.testInvokeAnyWithTimeout3,
// testInterruptInvokeAny).
func TestInvokeAnyIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 2})
		for range 50 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTask)
			start := time.Now()
			_, err := executor.InvokeAny(ctx, p, testkit.After(time.Hour, 1), testkit.Fail(errors.New("early")), testkit.After(time.Hour, 3), testkit.After(time.Hour, 4))
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errTask) {
				t.Errorf("%v", err)
			}
			if errors.Is(err, executor.ErrCanceled) {
				t.Errorf("the outcome of a task instead of the context's error: %v", err)
			}
			if d := time.Since(start); d != time.Minute {
				t.Errorf("it took %v", d)
			}
			cancel()
			if s := waitStats(t, p); s.Active != 0 || s.Queued != 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

// The end of the context outranks the failures that it causes, for tasks that
// wait as for those that run.
func TestInvokeAnyContextOutranksFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		for range 200 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errTask) })
			if _, err := executor.InvokeAny(ctx, p, value(1)); errors.Is(err, executor.ErrCanceled) || !errors.Is(err, errTask) {
				t.Fatalf("the outcome of a task that waited instead of the context's error: %v", err)
			}
		}
	})
}

// An executor that rejects some is asked for the others; if it rejects all, that
// is the error (InvokeTest.testInvokeAnyAfterShutdown).
func TestInvokeAnyRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff()})
		if v, err := executor.InvokeAny(t.Context(), p, testkit.After(time.Second, 1), value(2), value(3)); v != 1 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		p.Shutdown()
		if _, err := executor.InvokeAny(t.Context(), p, value(1), value(2)); !errors.Is(err, executor.ErrRejected) {
			t.Errorf("%v", err)
		}
	})
}
