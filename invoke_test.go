package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
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

// overExecutors runs test with an executor that runs tasks in the caller and with pools of several
// shapes.
func overExecutors(t *testing.T, test func(t *testing.T, ex executor.Executor)) {
	t.Helper()
	for name, c := range map[string]executor.Config{
		"one worker":     {Core: 1},
		"six workers":    {Core: 6},
		"handoff":        {Max: 100, Queue: executor.Handoff()},
		"caller runs":    {Core: 1, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
		"blocks":         {Core: 1, Queue: executor.Bounded(1), Reject: executor.Block},
		"prioritized":    {Core: 1, Queue: executor.Prioritized()},
		"core times out": {Core: 2, KeepAlive: time.Second, AllowCoreTimeout: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newPool(t, c)) })
		})
	}
	t.Run("scheduled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, testkit.Closing(t, executor.Scheduled(1))) })
	})
	t.Run("inline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, testkit.Inline{}) })
	})
}

// InvokeAll.

// InvokeAll returns when each function has run once, with the futures in the order of the
// functions, whatever the outcomes are (testInvokeAll4, testInvokeAll5, InvokeTest.testInvokeAll1
// to 3, Invoke.testInvokeAll, JDK-6267833).
func TestInvokeAll(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		var runs atomic.Int32
		var fns []task
		for i := range 20 {
			fns = append(fns, func(context.Context) (int, error) {
				runs.Add(1)
				time.Sleep(time.Duration(20-i) * time.Second)
				if i%5 == 4 {
					return 0, errTask
				}
				return i, nil
			})
		}
		fs := executor.InvokeAll(t.Context(), ex, fns...)
		if len(fs) != 20 || runs.Load() != 20 {
			t.Fatalf("%d futures, %d runs", len(fs), runs.Load())
		}
		for i, f := range fs {
			if i%5 == 4 {
				futureIs(t, f, executor.Failed, 0, errTask)
			} else {
				futureIs(t, f, executor.Succeeded, i, nil)
			}
		}
	})
}

// On a scheduled pool too, InvokeAll returns all outcomes in the order of the functions.
func TestInvokeAllScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 2), errors.New("sour")
		fs := executor.InvokeAll(t.Context(), p, testkit.After(time.Minute, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, sour })
		for i, want := range []int{1, 2, 0} {
			v, err := fs[i].Result()
			expect(t, "value", v, want)
			expect(t, "it failed", err == sour, i == 2)
		}
		expect(t, "futures for no function", len(executor.InvokeAll[int](t.Context(), p)), 0)
	})
}

// Without functions InvokeAll returns no futures, and InvokeAny returns ErrNoTasks
// (testInvokeAll1, testInvokeAll2, testInvokeAny1, testInvokeAny2, InvokeTest Empty and Null).
func TestInvokeNoFunctions(t *testing.T) {
	ex := testkit.Rejecting(errors.New("the executor was called"))
	for _, fns := range [][]task{nil, {}} {
		if fs := executor.InvokeAll(t.Context(), ex, fns...); fs == nil || len(fs) != 0 {
			t.Errorf("InvokeAll: %v", fs)
		}
		if _, err := executor.InvokeAny(t.Context(), ex, fns...); err != executor.ErrNoTasks {
			t.Errorf("InvokeAny: %v", err)
		}
		for range executor.Completed[int]() {
			t.Error("Completed yielded a future")
		}
	}
}

// InvokeAll and InvokeAny find a nil function among the others before anything runs
// (testInvokeAll3, testInvokeAny3, testTimedInvokeAny3, InvokeTest.testInvokeAllNull2).
func TestInvokeNilFunction(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		body, runs, release := testkit.Stuck(1, errTask)
		release()
		fs := executor.InvokeAll(t.Context(), ex, body, nil, body)
		if got := statesOf(fs); got != "[canceled failed canceled]" {
			t.Errorf("InvokeAll: %s", got)
		}
		for _, f := range fs {
			if !errors.Is(f.Err(), executor.ErrNilTask) {
				t.Errorf("InvokeAll: %v", f.Err())
			}
		}
		if _, err := executor.InvokeAny(t.Context(), ex, body, nil); err != executor.ErrNilTask {
			t.Errorf("InvokeAny: %v", err)
		}
		if *runs != 0 {
			t.Errorf("%d ran", *runs)
		}
	})
}

// On a scheduled pool too, InvokeAll with a nil function runs nothing.
func TestInvokeAllNilFunctionScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		fs := executor.InvokeAll(t.Context(), p, d.Value("x"), nil)
		expectIs(t, "outcome of the first", fs[0].Err(), executor.ErrCanceled)
		expectIs(t, "outcome of the nil one", fs[1].Err(), executor.ErrNilTask)
		d.Check(t)
	})
}

// When the context of InvokeAll ends, tasks that are done keep their outcomes; the others are
// canceled with its cause, and their contexts end (InvokeTest.testInvokeAll4,
// testInvokeAllInterrupt1, 3, 4, 6).
func TestInvokeAllContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 2})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errTask) })
		var saw error
		start := time.Now()
		fs := executor.InvokeAll(ctx, p,
			testkit.After(time.Second, 1),
			func(ctx context.Context) (int, error) { <-ctx.Done(); saw = ctx.Err(); return 1, nil },
			testkit.After(time.Hour, 3),
			testkit.After(time.Hour, 4))
		if d := time.Since(start); d != time.Minute {
			t.Errorf("it took %v", d)
		}
		futureIs(t, fs[0], executor.Succeeded, 1, nil)
		for i, f := range fs[1:] {
			// A task function that returned by itself when its context ended may be as quick.
			if !f.State().Done() {
				t.Errorf("future %d is %v", i+1, f.State())
			}
			f.Join(t.Context())
		}
		futureIs(t, fs[3], executor.Canceled, 0, errTask)
		if saw != context.Canceled {
			t.Errorf("the task function saw %v", saw)
		}
	})
}

// On a scheduled pool too, tasks that are not done when the context of InvokeAll ends are canceled,
// and the others keep their outcomes.
func TestInvokeAllContextEndsScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		ignores := func(context.Context) (int, error) { time.Sleep(time.Hour); return 3, nil }
		fs := executor.InvokeAll(ctx, p, testkit.After(0, 1), testkit.After(time.Second, 2), ignores)
		expect(t, "duration", time.Since(begin), time.Minute)
		expect(t, "state", fs[0].State(), executor.Succeeded)
		expect(t, "state", fs[1].State(), executor.Succeeded)
		expect(t, "state", fs[2].State(), executor.Canceled)
		expectIs(t, "outcome", fs[2].Err(), context.DeadlineExceeded)
	})
}

// With an ended context InvokeAll runs nothing and returns canceled futures, and InvokeAny returns
// the context's error (surprise: the timed invokeAny of the JDK submits every task; InvokeTest
// WithInterruptSet).
func TestInvokeWithEndedContext(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		for name, c := range testkit.EndedContexts(t) {
			fs := executor.InvokeAll(c.Ctx, ex, body, body)
			_, err := executor.InvokeAny(c.Ctx, ex, body, body)
			for _, want := range c.Want {
				if len(fs) != 2 || !errors.Is(fs[0].Err(), want) || !errors.Is(fs[1].Err(), want) ||
					!errors.Is(err, want) {
					t.Errorf("%s: InvokeAll: %v, %v; InvokeAny: %v; want %v", name, fs[0].Err(), fs[1].Err(), err, want)
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

// On an executor that runs tasks in the caller, InvokeAll checks the context between two tasks, and
// starts none after its end (testTimedInvokeAll6).
func TestInvokeAllChecksContextBetweenTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := false
		fs := executor.InvokeAll(ctx, testkit.Inline{},
			value(1),
			func(context.Context) (int, error) { time.Sleep(time.Hour); return 2, nil },
			func(context.Context) (int, error) { started = true; return 3, nil })
		futureIs(t, fs[0], executor.Succeeded, 1, nil)
		futureIs(t, fs[1], executor.Succeeded, 2, nil)
		futureIs(t, fs[2], executor.Canceled, 0, context.DeadlineExceeded)
		if started {
			t.Error("the third was started")
		}
	})
}

// If a task is rejected InvokeAll cancels the others and leaves none pending
// (InvokeTest.testInvokeAllAfterShutdown1, 2).
func TestInvokeAllRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1)})
		fs := executor.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
			testkit.UntilDone)
		if got := statesOf(fs); got != "[canceled canceled failed canceled]" {
			t.Error(got)
		}
		for i, f := range fs {
			if !errors.Is(f.Err(), executor.ErrSaturated) || !errors.Is(f.Err(), executor.ErrRejected) {
				t.Errorf("future %d: %v", i, f.Err())
			}
		}
		p.Shutdown()
		fs = executor.InvokeAll(t.Context(), p, value(1), value(2))
		if got := statesOf(fs); got != "[failed canceled]" || !errors.Is(fs[0].Err(), executor.ErrShutdown) {
			t.Errorf("%s, %v", got, fs[0].Err())
		}
	})
}

// If Execute panics or calls Goexit for one of the tasks, InvokeAll cancels those that were
// accepted.
func TestInvokeAllExecutorPanics(t *testing.T) {
	for end, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1),
					Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
						leave()
						return nil
					})})
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					executor.InvokeAll(context.Background(), pool, testkit.UntilDone, testkit.UntilDone,
						testkit.UntilDone)
				}()
				if v := <-ended; v == nil != (end == "Goexit") {
					t.Errorf("recovered %v", v)
				}
				synctest.Wait()
				if s := pool.Stats(); s.Active != 0 || s.Queued != 0 || s.Canceled != 2 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// ShutdownNow releases InvokeAll and InvokeAny: the contexts of running tasks end, and waiting
// tasks are canceled (JDK-6431315, AsyncShutdownNow, AsyncShutdownNowInvokeAny; JDK's invokeAll
// hangs on queued tasks).
func TestInvokeShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []executor.Config{{Core: 2}, {Core: 1, Queue: executor.Bounded(1), Reject: executor.Block}} {
			p := newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			start := time.Now()
			fs := executor.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
				testkit.UntilDone)
			for i, f := range fs {
				if !errors.Is(f.Err(), executor.ErrShutdown) {
					t.Errorf("future %d: %v", i, f.Err())
				}
			}
			p = newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			if _, err := executor.InvokeAny(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone,
				testkit.UntilDone); !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("InvokeAny: %v", err)
			}
			if d := time.Since(start); d != 2*time.Minute {
				t.Errorf("released after %v", d)
			}
		}
	})
}

// InvokeAny.

// InvokeAny returns the first value, even if functions have failed before (testInvokeAny5,
// testTimedInvokeAny5, InvokeTest.testInvokeAny1, 5, 6, testInvokeAnyWithTimeout1).
func TestInvokeAny(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		v, err := executor.InvokeAny(ctx, ex, testkit.Fail(errTask), testkit.After(time.Second, 2),
			testkit.Fail(errTask))
		if v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// On a scheduled pool too, InvokeAny returns the first value and cancels the others; delayed tasks
// of the pool are not affected.
func TestInvokeAnyScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		testkit.FarTasks(t, p, 2)
		begin := time.Now()
		v, err := executor.InvokeAny(t.Context(), p, testkit.After(time.Hour, 1), testkit.After(time.Second, 2),
			func(context.Context) (int, error) { return 0, errors.New("sour") })
		expect(t, "value", v, 2)
		expect(t, "error", err, nil)
		expect(t, "duration", time.Since(begin), time.Second)
		expect(t, "active afterwards", waitStats(t, p).Active, 0)
		expect(t, "queued afterwards", p.Stats().Queued, 2)
	})
}

// Once a task has succeeded InvokeAny submits no more: on an executor that runs tasks in the caller
// the second never runs (testInvokeAny5).
func TestInvokeAnyStopsSubmitting(t *testing.T) {
	body, runs, release := testkit.Stuck(1, nil)
	release()
	if v, err := executor.InvokeAny(t.Context(), testkit.Inline{}, testkit.Fail(errTask), body, body, body); v != 1 ||
		err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if *runs != 1 {
		t.Errorf("%d ran", *runs)
	}
}

// InvokeAny cancels the other tasks: running ones by their contexts, with the cause ErrCanceled,
// and waiting ones leave the queue (InvokeTest.testInvokeAny2, testInvokeAnyWithTimeout2,
// Invoke.testInvokeAny_cancellationInterrupt).
func TestInvokeAnyCancelsOthers(t *testing.T) {
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

// If all tasks fail InvokeAny returns the error of the task that failed last (testInvokeAny4,
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
	if _, err := executor.InvokeAny(t.Context(), testkit.Inline{}, testkit.Fail(errTask),
		testkit.Fail(context.Canceled)); err != context.Canceled {
		t.Errorf("in the caller: %v", err)
	}
}

// On a scheduled pool too, InvokeAny fails without functions, with a nil function, if all fail, and
// when its context ends.
func TestInvokeAnyFailsScheduledPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sour := scheduled(t, 1), errors.New("sour")
		_, err := executor.InvokeAny[int](t.Context(), p)
		expectIs(t, "error of nothing", err, executor.ErrNoTasks)
		_, err = executor.InvokeAny(t.Context(), p, testkit.After(0, 1), nil)
		expectIs(t, "error of nil", err, executor.ErrNilTask)
		_, err = executor.InvokeAny(t.Context(), p, func(context.Context) (int, error) { return 0, sour })
		expectIs(t, "error of a failure", err, sour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = executor.InvokeAny(ctx, p, testkit.After(time.Hour, 1))
		expectIs(t, "error of a timeout", err, context.DeadlineExceeded)
	})
}

// A panic is a failure as any other, and another function can still succeed.
func TestInvokeAnyPanic(t *testing.T) {
	if v, err := executor.InvokeAny(t.Context(), testkit.Inline{}, explode, value(2)); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	var p *executor.PanicError
	if _, err := executor.InvokeAny(t.Context(), testkit.Inline{}, explode); !errors.As(err, &p) {
		t.Errorf("%v", err)
	}
}

// When the context of InvokeAny ends before a task has succeeded, InvokeAny returns its error and
// cancels the running tasks (InvokeTest.testInvokeAnyWithTimeout3, testInterruptInvokeAny).
func TestInvokeAnyContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 2})
		for range 50 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTask)
			start := time.Now()
			_, err := executor.InvokeAny(ctx, p, testkit.After(time.Hour, 1), testkit.Fail(errors.New("early")),
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

// InvokeAny returns the error of its context rather than a failure that the end of the context
// caused, of waiting tasks too.
func TestInvokeAnyPrefersContextError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		for range 200 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errTask) })
			if _, err := executor.InvokeAny(ctx, p, value(1)); errors.Is(err, executor.ErrCanceled) ||
				!errors.Is(err, errTask) {
				t.Fatalf("the outcome of a task that waited instead of the context's error: %v", err)
			}
		}
	})
}

// If some tasks are rejected InvokeAny tries the others; if all are, it returns that error
// (InvokeTest.testInvokeAnyAfterShutdown).
func TestInvokeAnyRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff()})
		if v, err := executor.InvokeAny(t.Context(), p, testkit.After(time.Second, 1), value(2), value(3)); v != 1 ||
			err != nil {
			t.Errorf("%d, %v", v, err)
		}
		p.Shutdown()
		if _, err := executor.InvokeAny(t.Context(), p, value(1), value(2)); !errors.Is(err, executor.ErrRejected) {
			t.Errorf("%v", err)
		}
	})
}

// Completed.

// Completed yields each future once, in the order in which they are done: first those that are done
// at the start, in the order of the arguments.
func TestCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 8})
		var fs []*executor.Future[int]
		for _, d := range []int{5, 1, 4, 2, 3} {
			fs = append(fs, executor.Submit(t.Context(), p, testkit.After(time.Duration(d)*time.Second, d)))
		}
		time.Sleep(2500 * time.Millisecond)
		var order []int
		all := executor.Completed(fs...)
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
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(2)})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		fs := testkit.SubmitAll(t.Context(), p, testkit.Fail(errTask), value(2), value(3))
		fs[1].Cancel()
		b.Release()
		n := 0
		for f := range executor.Completed(fs...) {
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
		p := newPool(t, executor.Config{Core: 2})
		fs := testkit.SubmitAll(t.Context(), p, testkit.After(time.Second, 1), testkit.After(time.Minute, 2))
		for range executor.Completed(fs...) {
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

// Callable.

// Callable adapts a function without a result, and returns nil for nil
// (ExecutorsTest.testCallable1, testCallableNPE1, testSubmitRunnable).
func TestCallable(t *testing.T) {
	if executor.Callable(nil) != nil {
		t.Error("Callable(nil) is a function")
	}
	f := executor.Submit(t.Context(), testkit.Inline{},
		executor.Callable(func(context.Context) error { return errTask }))
	if v, err := f.Get(t.Context()); v != (struct{}{}) || err != errTask {
		t.Errorf("%v, %v", v, err)
	}
	g := executor.Submit(t.Context(), testkit.Inline{}, executor.Callable(nil))
	if g.Err() != executor.ErrNilTask {
		t.Errorf("%v", g.Err())
	}
}

// CompletionService.

// Take returns a future that is done, the same that Submit returned (testTake, testTake2).
func TestCompletionServiceTake(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[int](ex)
		f := s.Submit(t.Context(), value(4))
		g, err := s.Take(t.Context())
		if g != f || err != nil {
			t.Fatalf("%p, %v, want %p", g, err, f)
		}
		futureIs(t, g, executor.Succeeded, 4, nil)
	})
}

// Take returns futures in the order in which they are done.
func TestCompletionServiceOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 8})
		s := executor.NewCompletionService[int](p)
		for _, d := range []int{3, 1, 4, 2} {
			s.Submit(t.Context(), testkit.After(time.Duration(d)*time.Second, d))
		}
		var order []int
		for range 4 {
			f, _ := s.Take(t.Context())
			v, _ := f.Result()
			order = append(order, v)
		}
		if !slices.Equal(order, []int{1, 2, 3, 4}) {
			t.Errorf("order: %v", order)
		}
	})
}

// Poll does not wait, and returns nothing before a task is done
// (testPollReturnsNullBeforeCompletion).
func TestCompletionServicePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
		f := s.Submit(t.Context(), testkit.After(time.Minute, 1))
		for range 3 {
			if g, ok := s.Poll(); ok || s.Len() != 0 {
				t.Errorf("Poll: %v", g)
			}
		}
		time.Sleep(time.Hour)
		if s.Len() != 1 {
			t.Errorf("Len: %d", s.Len())
		}
		if g, ok := s.Poll(); !ok || g != f {
			t.Errorf("Poll: %v", g)
		}
		if _, ok := s.Poll(); ok || s.Len() != 0 {
			t.Error("Poll returned the future twice")
		}
	})
}

// Take waits until its context ends, and no longer (testPoll2).
func TestCompletionServiceTakeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
		f := s.Submit(t.Context(), testkit.After(time.Hour, 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := s.Take(ctx); err != context.DeadlineExceeded || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if g, err := s.Take(t.Context()); g != f || err != nil {
			t.Errorf("%v, %v", g, err)
		}
	})
}

// Take returns tasks that failed, panicked, were canceled or were rejected too, each once
// (testTaskAssortment, testSubmitNullCallable).
func TestCompletionServiceTakesAllOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(3)})
		s := executor.NewCompletionService[int](p)
		b := newBlocker(t)
		b.Fill(t, p, 1)
		fs := []*executor.Future[int]{
			s.Submit(t.Context(), value(1)),
			s.Submit(t.Context(), testkit.Fail(errTask)),
			s.Submit(t.Context(), explode),
			s.Submit(t.Context(), value(2)), // finds no room
			s.Submit(t.Context(), nil),
			s.Submit(t.Context(), value(3), executor.Timeout(-1)),
		}
		fs[1].Cancel()
		b.Release()
		var got []*executor.Future[int]
		for range fs {
			f, err := s.Take(t.Context())
			if err != nil || !f.State().Done() || slices.Contains(got, f) {
				t.Fatalf("%v, %v", f.State(), err)
			}
			got = append(got, f)
		}
		if _, ok := s.Poll(); ok {
			t.Error("one too many")
		}
		if all := statesOf(fs); all != "[succeeded canceled failed failed failed failed]" {
			t.Error(all)
		}
	})
}

// NewCompletionService panics if the executor is nil (testConstructorNPE).
func TestCompletionServiceNilExecutor(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	executor.NewCompletionService[int](nil)
}

// After ShutdownNow of the pool no call of Take waits for tasks that will not run.
func TestCompletionServiceShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		s := executor.NewCompletionService[int](p)
		for range 3 {
			s.Submit(t.Context(), testkit.UntilDone)
		}
		time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
		for range 3 {
			if f, err := s.Take(t.Context()); err != nil || !errors.Is(f.Err(), executor.ErrShutdown) {
				t.Errorf("%v", err)
			}
		}
	})
}

// Of thousands of tasks each is taken exactly once, by any number of goroutines
// (ExecutorCompletionServiceLoops).
func TestCompletionServiceTakeByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		p := newPool(t, executor.Config{Core: 10})
		s := executor.NewCompletionService[int](p)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		taken := make(chan int, n)
		for range 4 {
			go func() {
				for {
					f, err := s.Take(ctx)
					if err != nil {
						return
					}
					v, _ := f.Result()
					taken <- v
				}
			}()
		}
		for i := range n {
			s.Submit(t.Context(), value(i))
		}
		seen := make([]int, n)
		for range n {
			seen[<-taken]++
		}
		synctest.Wait()
		if len(taken) != 0 || slices.Max(seen) != 1 {
			t.Errorf("%d too many, or one taken %d times", len(taken), slices.Max(seen))
		}
	})
}

// solvers are functions of which some find nothing and some fail (ExecutorCompletionService9Test).
func solvers() []func(context.Context) (*int, error) {
	found := func(v int) func(context.Context) (*int, error) {
		return func(context.Context) (*int, error) { return &v, nil }
	}
	nothing := func(context.Context) (*int, error) { return nil, nil }
	return []func(context.Context) (*int, error){nothing, found(1), nothing, found(2), found(3)}
}

// The documented way to find all solutions: nil results are results, which the caller ignores
// (testSolveAll).
func TestCompletionServiceSolveAll(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[*int](ex)
		go func() { // an executor may run them here
			for _, solve := range solvers() {
				s.Submit(t.Context(), solve)
			}
		}()
		var all []int
		for range solvers() {
			f, _ := s.Take(t.Context())
			if v, err := f.Result(); err == nil && v != nil {
				all = append(all, *v)
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, []int{1, 2, 3}) {
			t.Errorf("solutions: %v", all)
		}
	})
}

// The documented way to find one solution: failures are ignored, and the other tasks are canceled
// (testSolveAny).
func TestCompletionServiceSolveAny(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		s := executor.NewCompletionService[*int](ex)
		var fs []*executor.Future[*int]
		for _, solve := range append(solvers(), func(context.Context) (*int, error) { return nil, errTask }) {
			fs = append(fs, s.Submit(t.Context(), solve))
		}
		var solution *int
		for range fs {
			f, _ := s.Take(t.Context())
			if v, err := f.Result(); err == nil && v != nil {
				solution = v
				break
			}
		}
		for _, f := range fs {
			f.Cancel()
		}
		if solution == nil || *solution < 1 || *solution > 3 {
			t.Errorf("solution: %v", solution)
		}
	})
}

// afterwards is an executor that runs each task in the caller, and calls then once before Execute
// returns.
type afterwards struct{ then func() }

func (a *afterwards) Execute(ctx context.Context, r executor.Runnable) error {
	r.Run(ctx)
	then := a.then
	a.then = func() {}
	then()
	return nil
}

// A task that is done before Submit returns is taken in the order in which it was done.
func TestCompletionServiceDoneBeforeSubmitReturns(t *testing.T) {
	ex := new(afterwards)
	s := executor.NewCompletionService[int](ex)
	ex.then = func() {
		if n := s.Len(); n != 1 {
			t.Errorf("%d futures are to be taken once the first is done", n)
		}
		s.Submit(t.Context(), value(2))
	}
	s.Submit(t.Context(), value(1))
	for want := 1; want <= 2; want++ {
		f, ok := s.Poll()
		if !ok {
			t.Fatalf("no future, want that of %d", want)
		}
		if got, _ := f.Result(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

// A task that waits for tasks of its own pool.

// A task may wait for tasks of its own pool by InvokeAll, InvokeAny and Completed, even on the only
// worker, and in a tree: it runs tasks that no worker has begun.
func TestInvokeByTaskOfPool(t *testing.T) {
	add := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { time.Sleep(time.Second); return n, nil }
	}
	for name, call := range map[string]func(ctx context.Context, ex executor.Executor) (int, error){
		"InvokeAll": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for _, f := range executor.InvokeAll(ctx, ex, add(1), add(2), add(3)) {
				v, e := f.Get(ctx)
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
		"InvokeAny": func(ctx context.Context, ex executor.Executor) (int, error) {
			failure := func(context.Context) (int, error) { return 0, errors.New("no") }
			return executor.InvokeAny(ctx, ex, failure, failure, add(6))
		},
		"Completed": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for f := range executor.Completed(testkit.SubmitAll(ctx, ex, add(1), add(2), add(3))...) {
				v, e := f.Result()
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
	} {
		for where, ex := range map[string]func() (executor.Executor, func()){
			"Single":          func() (executor.Executor, func()) { p := executor.Single(); return p, p.Close },
			"Fixed(3)":        func() (executor.Executor, func()) { p := executor.Fixed(3); return p, p.Close },
			"SingleScheduled": func() (executor.Executor, func()) { p := executor.SingleScheduled(); return p, p.Close },
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ex, end := ex()
					defer end()
					nested := func(ctx context.Context) (int, error) {
						inner := func(ctx context.Context) (int, error) { return call(ctx, ex) }
						outer := executor.InvokeAll(ctx, ex, inner)
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

// A goroutine that does not run a task of the pool runs none of it: Single keeps its order.
func TestInvokeAllByOtherGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		inside := 0
		fn := func(context.Context) (int, error) {
			inside++
			if inside > 1 {
				t.Error("two tasks of a pool with one worker run at once")
			}
			time.Sleep(time.Second)
			inside--
			return 0, nil
		}
		executor.InvokeAll(t.Context(), pool, fn, fn, fn)
	})
}

// Completed in a task does not run a task that is not due yet.
func TestCompletedByTaskRunsNothingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := executor.Scheduled(2)
		defer sched.Close()
		began := time.Now()
		_, err := executor.Submit(t.Context(), sched, func(ctx context.Context) (int, error) {
			f := executor.Schedule(ctx, sched, time.Hour, func(context.Context) (int, error) { return 0, nil })
			for range executor.Completed(f) {
			}
			return 0, nil
		}).Get(t.Context())
		if took := time.Since(began); err != nil || took < time.Hour {
			t.Errorf("it ran after %v, error %v", took, err)
		}
	})
}

// The error of a Take that its context ended matches the cause of that.
func TestCompletionServiceTakeMatchesCause(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := executor.NewCompletionService[int](pool).Take(ctx)
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("Take: %v", err)
	}
}
