package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/java"
)

type task = func(context.Context) (int, error)

// statesOf returns the states of futures as one text.
func statesOf(fs []*executor.Future[int]) string {
	all := make([]executor.State, len(fs))
	for i, f := range fs {
		all[i] = f.State()
	}
	return fmt.Sprint(all)
}

// Functions that find nothing to do.

// Without functions InvokeAll returns no futures, and Any returns ErrInvalid
// (testInvokeAll1, testInvokeAll2, testInvokeAny1, testInvokeAny2, InvokeTest Empty and Null).
func TestInvokeNoFunctions(t *testing.T) {
	ex := testkit.Rejecting(errors.New("the executor was called"))
	for _, fns := range [][]task{nil, {}} {
		if fs := java.InvokeAll(t.Context(), ex, fns...); fs == nil || len(fs) != 0 {
			t.Errorf("InvokeAll: %v", fs)
		}
		if _, err := executor.Any(t.Context(), ex, fns...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("Any: %v", err)
		}
		for range executor.Completed[int](t.Context()) {
			t.Error("Completed yielded a future")
		}
	}
}

// InvokeAll and Any find a nil function among the others before anything runs
// (testInvokeAll3, testInvokeAny3, testTimedInvokeAny3, InvokeTest.testInvokeAllNull2).
func TestInvokeNilFunction(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		body, runs, release := testkit.Stuck(1, errTask)
		release()
		fs := java.InvokeAll(t.Context(), ex, body, nil, body)
		if got := statesOf(fs); got != "[canceled failed canceled]" {
			t.Errorf("InvokeAll: %s", got)
		}
		if err := fs[1].Err(); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("InvokeAll: %v", err)
		}
		if _, err := executor.Any(t.Context(), ex, body, nil); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("Any: %v", err)
		}
		if *runs != 0 {
			t.Errorf("%d ran", *runs)
		}
	})
}

// With an ended context InvokeAll runs nothing and returns canceled futures, and Any returns
// the context's error (surprise: the timed invokeAny of the JDK submits every task; InvokeTest
// WithInterruptSet).
func TestInvokeWithEndedContext(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		for name, c := range testkit.EndedContexts(t) {
			fs := java.InvokeAll(c.Ctx, ex, body, body)
			_, err := executor.Any(c.Ctx, ex, body, body)
			for _, want := range c.Want {
				if !errors.Is(err, want) {
					t.Errorf("%s: Any: %v; want %v", name, err, want)
				}
			}
			if got := statesOf(fs); got != "[canceled canceled]" {
				t.Errorf("%s: %s", name, got)
			}
		}
		if *runs != 0 {
			t.Errorf("%d ran", *runs)
		}
	})
}

// ShutdownNow releases InvokeAll and Any: the contexts of running tasks end, and waiting
// tasks are canceled (JDK-6431315, AsyncShutdownNow, AsyncShutdownNowInvokeAny; JDK's invokeAll
// hangs on queued tasks).
func TestInvokeShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []executor.Config{{Workers: 2}, {Workers: 1, Queue: executor.Bounded(1), Reject: executor.Block}} {
			p := newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			start := time.Now()
			fs := java.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
				testkit.UntilDone)
			shut := false
			for i, f := range fs { // if submissions wait, the third is rejected, and InvokeAll cancels the others
				if !f.State().Done() || f.State() == executor.Succeeded {
					t.Errorf("future %d: %v", i, f)
				}
				shut = shut || errors.Is(f.Err(), executor.ErrShutdown)
			}
			expect(t, "one matches ErrShutdown", shut, true)
			p = newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			if _, err := executor.Any(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
				testkit.UntilDone); !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("Any: %v", err)
			}
			if d := time.Since(start); d != 2*time.Minute {
				t.Errorf("released after %v", d)
			}
		}
	})
}

// Any.

// Any returns the first value, even if functions have failed before (testInvokeAny5,
// testTimedInvokeAny5, InvokeTest.testInvokeAny1, 5, 6, testInvokeAnyWithTimeout1).
func TestInvokeAny(t *testing.T) {
	testkit.OverExecutors(t, func(t *testing.T, ex executor.Executor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		v, err := executor.Any(ctx, ex, testkit.Fail(errTask), testkit.After(time.Second, 2),
			testkit.Fail(errTask))
		if v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// On a scheduled pool too, Any returns the first value and cancels the others; delayed tasks
// of the pool are not affected.
func TestInvokeAnyScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		testkit.FarTasks(t, p, 2)
		begin := time.Now()
		v, err := executor.Any(t.Context(), p, testkit.After(time.Hour, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, errors.New("sour") })
		expect(t, "value", v, 2)
		expect(t, "error", err, nil)
		expect(t, "duration", time.Since(begin), time.Second)
		expect(t, "active afterwards", waitStats(t, p).Active, 0)
		expect(t, "queued afterwards", p.Stats().Queued, 2)
	})
}

// Once a task has succeeded Any submits no more: on an executor that runs tasks in the caller
// the second never runs (testInvokeAny5).
func TestInvokeAnyStopsSubmitting(t *testing.T) {
	body, runs, release := testkit.Stuck(1, nil)
	release()
	if v, err := executor.Any(t.Context(), testkit.Inline{}, testkit.Fail(errTask), body, body, body); v != 1 ||
		err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if *runs != 1 {
		t.Errorf("%d ran", *runs)
	}
}

// Any cancels the other tasks: running ones by their contexts, with the cause ErrCanceled,
// and waiting ones leave the queue (InvokeTest.testInvokeAny2, testInvokeAnyWithTimeout2,
// Invoke.testInvokeAny_cancellationInterrupt).
func TestInvokeAnyCancelsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 4})
		causes := make(chan error, 10)
		loser := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return 0, ctx.Err()
		}
		v, err := executor.Any(t.Context(), p, loser, loser, testkit.After(time.Minute, 3), loser, loser, loser)
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

// If all tasks fail Any returns the error of the task that failed last (testInvokeAny4,
// InvokeTest.testInvokeAny3, 4).
func TestInvokeAnyAllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 4})
		fail := func(d time.Duration) task {
			return func(context.Context) (int, error) {
				time.Sleep(d)
				return 7, fmt.Errorf("after %v", d)
			}
		}
		v, err := executor.Any(t.Context(), p, fail(2*time.Second), fail(3*time.Second), fail(time.Second))
		if v != 0 || err == nil || err.Error() != "after 3s" {
			t.Errorf("%d, %v", v, err)
		}
	})
	if _, err := executor.Any(t.Context(), testkit.Inline{}, testkit.Fail(errTask),
		testkit.Fail(context.Canceled)); err != context.Canceled {
		t.Errorf("in the caller: %v", err)
	}
}

// On a scheduled pool too, Any fails without functions, with a nil function, if all fail, and
// when its context ends.
func TestInvokeAnyFailsScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 1), errors.New("sour")
		_, err := executor.Any[int](t.Context(), p)
		expectIs(t, "error of nothing", err, executor.ErrInvalid)
		_, err = executor.Any(t.Context(), p, testkit.After(0, 1), nil)
		expectIs(t, "error of nil", err, executor.ErrInvalid)
		_, err = executor.Any(t.Context(), p, func(context.Context) (int, error) { return 0, sour })
		expectIs(t, "error of a failure", err, sour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = executor.Any(ctx, p, testkit.After(time.Hour, 1))
		expectIs(t, "error of a timeout", err, context.DeadlineExceeded)
	})
}

// A panic is a failure as any other, and another function can still succeed.
func TestInvokeAnyPanic(t *testing.T) {
	if v, err := executor.Any(t.Context(), testkit.Inline{}, explode, value(2)); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	var p *executor.PanicError
	if _, err := executor.Any(t.Context(), testkit.Inline{}, explode); !errors.As(err, &p) {
		t.Errorf("%v", err)
	}
}

// When the context of Any ends before a task has succeeded, Any returns its error and
// cancels the running tasks (InvokeTest.testInvokeAnyWithTimeout3, testInterruptInvokeAny).
func TestInvokeAnyContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 2})
		for range 50 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTask)
			start := time.Now()
			_, err := executor.Any(ctx, p, testkit.After(time.Hour, 1), testkit.Fail(errors.New("early")),
				testkit.After(time.Hour, 3), testkit.After(time.Hour, 4))
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

// Any returns the error of its context rather than a failure that the end of the context
// caused, of waiting tasks too.
func TestInvokeAnyPrefersContextError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		for range 200 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errTask) })
			if _, err := executor.Any(ctx, p, value(1)); errors.Is(err, executor.ErrCanceled) ||
				!errors.Is(err, errTask) {
				t.Fatalf("the outcome of a task that waited instead of the context's error: %v", err)
			}
		}
	})
}

// If some tasks are rejected Any tries the others; if all are, it returns that error
// (InvokeTest.testInvokeAnyAfterShutdown).
func TestInvokeAnyRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff()})
		if v, err := executor.Any(t.Context(), p, testkit.After(time.Second, 1), value(2), value(3)); v != 1 ||
			err != nil {
			t.Errorf("%d, %v", v, err)
		}
		p.Shutdown()
		if _, err := executor.Any(t.Context(), p, value(1), value(2)); !errors.Is(err, executor.ErrRejected) {
			t.Errorf("%v", err)
		}
	})
}

// Completed.

// Completed yields each future once, in the order in which they are done: first those that are done
// at the start, in the order of the arguments.
func TestCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 8})
		var fs []*executor.Future[int]
		for _, d := range []int{5, 1, 4, 2, 3} {
			fs = append(fs, executor.Submit(t.Context(), p, testkit.After(time.Duration(d)*time.Second, d)))
		}
		time.Sleep(2500 * time.Millisecond)
		var order []int
		all := executor.Completed(context.Background(), fs...)
		for f := range all {
			v, err := f.Result()
			if err != nil {
				t.Error(err)
			}
			order = append(order, v)
		}
		if !slices.Equal(order, []int{1, 2, 3, 4, 5}) {
			t.Errorf("order: %v", order)
		}
		order = order[:0]
		for f := range all { // all are done now, hence in the order of the arguments
			v, _ := f.Result()
			order = append(order, v)
		}
		if !slices.Equal(order, []int{5, 1, 4, 2, 3}) {
			t.Errorf("second order: %v", order)
		}
	})
}

// Completed yields failed, canceled and rejected futures too.
func TestCompletedYieldsAllOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(2)})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		fs := testkit.SubmitAll(t.Context(), p, testkit.Fail(errTask), value(2), value(3))
		fs[1].Cancel()
		b.Release()
		n := 0
		for f := range executor.Completed(context.Background(), fs...) {
			if !f.State().Done() {
				t.Error("not done")
			}
			n++
		}
		if got := statesOf(fs); n != 3 || got != "[failed canceled failed]" {
			t.Errorf("%d futures, %s", n, got)
		}
	})
}

// Leaving the loop does not affect the futures.
func TestCompletedBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 2})
		fs := testkit.SubmitAll(t.Context(), p, testkit.After(time.Second, 1), testkit.After(time.Minute, 2))
		for range executor.Completed(context.Background(), fs...) {
			break
		}
		if got := statesOf(fs); got != "[succeeded running]" {
			t.Error(got)
		}
		if v, err := fs[1].Get(t.Context()); v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// A task that waits for tasks of its own pool.

// A task may wait for tasks of its own pool by InvokeAll, Any and Completed, even on the only
// worker, and in a tree: it runs tasks that no worker has begun.
func TestInvokeByTaskOfPool(t *testing.T) {
	add := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { time.Sleep(time.Second); return n, nil }
	}
	for name, call := range map[string]func(ctx context.Context, ex executor.Executor) (int, error){
		"InvokeAll": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for _, f := range java.InvokeAll(ctx, ex, add(1), add(2), add(3)) {
				v, e := f.Get(ctx)
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
		"Any": func(ctx context.Context, ex executor.Executor) (int, error) {
			failure := func(context.Context) (int, error) { return 0, errors.New("no") }
			return executor.Any(ctx, ex, failure, failure, add(6))
		},
		"Completed": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for f := range executor.Completed(ctx, testkit.SubmitAll(ctx, ex, add(1), add(2), add(3))...) {
				v, e := f.Result()
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
	} {
		for where, ex := range map[string]func() (executor.Executor, func()){
			"Single":       func() (executor.Executor, func()) { p := executor.Single(); return p, p.Close },
			"Fixed(3)":     func() (executor.Executor, func()) { p := executor.Fixed(3); return p, p.Close },
			"Scheduled(1)": func() (executor.Executor, func()) { p := executor.Scheduled(1); return p, p.Close },
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ex, end := ex()
					defer end()
					nested := func(ctx context.Context) (int, error) {
						inner := func(ctx context.Context) (int, error) { return call(ctx, ex) }
						outer := java.InvokeAll(ctx, ex, inner)
						return outer[0].Get(ctx)
					}
					if sum, err := executor.Submit(t.Context(), ex, nested).Get(t.Context()); sum != 6 || err != nil {
						t.Errorf("%d, %v; want 6", sum, err)
					}
				})
			})
		}
	}
}

// Completed in a task does not run a task that is not due yet.
func TestCompletedByTaskRunsNothingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := executor.Scheduled(2)
		defer sched.Close()
		began := time.Now()
		_, err := executor.Submit(t.Context(), sched, func(ctx context.Context) (int, error) {
			f := executor.SubmitAfter(ctx, sched, time.Hour, func(context.Context) (int, error) { return 0, nil })
			for range executor.Completed(context.Background(), f) {
			}
			return 0, nil
		}).Get(t.Context())
		if took := time.Since(began); err != nil || took < time.Hour {
			t.Errorf("it ran after %v, error %v", took, err)
		}
	})
}
