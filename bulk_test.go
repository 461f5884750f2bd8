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
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

type task = func(context.Context) (int, error)

// statesOf gives the states of futures as one text.
func statesOf(fs []*executor.Future[int]) string {
	all := make([]executor.State, len(fs))
	for i, f := range fs {
		all[i] = f.State()
	}
	return fmt.Sprint(all)
}

// overExecutors runs test over an executor that runs tasks in the caller and
// over pools of several shapes.
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

// InvokeAll returns when each function has run once, its futures in the order of
// the functions, whatever became of each (testInvokeAll4, testInvokeAll5,
// InvokeTest.testInvokeAll1 to 3, Invoke.testInvokeAll, JDK-6267833).
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

// Without functions InvokeAll and SubmitAll give no futures at once, and
// InvokeAny gives ErrNoTasks (testInvokeAll1, testInvokeAll2, testInvokeAny1,
// testInvokeAny2, InvokeTest Empty and Null).
func TestInvokeNothing(t *testing.T) {
	ex := testkit.Rejecting(errors.New("the executor was asked"))
	for _, fns := range [][]task{nil, {}} {
		if fs := executor.InvokeAll(t.Context(), ex, fns...); fs == nil || len(fs) != 0 {
			t.Errorf("InvokeAll: %v", fs)
		}
		if fs := executor.SubmitAll(t.Context(), ex, fns...); fs == nil || len(fs) != 0 {
			t.Errorf("SubmitAll: %v", fs)
		}
		if _, err := executor.InvokeAny(t.Context(), ex, fns...); err != executor.ErrNoTasks {
			t.Errorf("InvokeAny: %v", err)
		}
		for range executor.Completed[int]() {
			t.Error("Completed gave something")
		}
	}
}

// A nil function among the others is found before anything runs
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

// SubmitAll does not look ahead: a nil function fails alone.
func TestSubmitAllNilFunction(t *testing.T) {
	fs := executor.SubmitAll(t.Context(), testkit.Inline{}, value(1), nil, value(3))
	if got := statesOf(fs); got != "[succeeded failed succeeded]" {
		t.Error(got)
	}
}

// When the context of InvokeAll ends, those that are done keep their outcomes
// and the others are canceled, with its cause, and their bodies' contexts end
// (InvokeTest.testInvokeAll4, testInvokeAllInterrupt1, 3, 4, 6).
func TestInvokeAllIsInterrupted(t *testing.T) {
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
			// A body that returned by itself when its context ended may be as quick.
			if !f.State().Done() {
				t.Errorf("future %d is %v", i+1, f.State())
			}
			f.Join(t.Context())
		}
		futureIs(t, fs[3], executor.Canceled, 0, errTask)
		if saw != context.Canceled {
			t.Errorf("the body saw %v", saw)
		}
	})
}

// With a context that has ended InvokeAll runs nothing and gives futures that
// are canceled, InvokeAny gives the context's error (surprise: the timed
// invokeAny of the JDK submits every task; InvokeTest WithInterruptSet).
func TestInvokeWithEndedContext(t *testing.T) {
	overExecutors(t, func(t *testing.T, ex executor.Executor) {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		for name, c := range testkit.EndedContexts(t) {
			fs := executor.InvokeAll(c.Ctx, ex, body, body)
			_, err := executor.InvokeAny(c.Ctx, ex, body, body)
			for _, want := range c.Want {
				if len(fs) != 2 || !errors.Is(fs[0].Err(), want) || !errors.Is(fs[1].Err(), want) || !errors.Is(err, want) {
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

// Over an executor that runs tasks in the caller, the context is looked at
// between two tasks: what ran keeps its outcome, and what comes after its end is
// never started (testTimedInvokeAll6).
func TestInvokeAllLooksBetweenTasks(t *testing.T) {
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

// If one of the tasks is rejected InvokeAll cancels the others, and leaves none
// pending (InvokeTest.testInvokeAllAfterShutdown1, 2).
func TestInvokeAllRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1)})
		fs := executor.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone)
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

// ShutdownNow beneath it releases InvokeAll and InvokeAny: what ran is told by
// its context, what waited is canceled (JDK-6431315, AsyncShutdownNow,
// AsyncShutdownNowInvokeAny; JDK's invokeAll hangs on queued tasks).
func TestInvokeReleasedByShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []executor.Config{{Core: 2}, {Core: 1, Queue: executor.Bounded(1), Reject: executor.Block}} {
			p := newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			start := time.Now()
			fs := executor.InvokeAll(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone)
			for i, f := range fs {
				if !errors.Is(f.Err(), executor.ErrShutdown) {
					t.Errorf("future %d: %v", i, f.Err())
				}
			}
			p = newPool(t, c)
			time.AfterFunc(time.Minute, func() { p.ShutdownNow() })
			if _, err := executor.InvokeAny(t.Context(), p, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone); !errors.Is(err, executor.ErrShutdown) {
				t.Errorf("InvokeAny: %v", err)
			}
			if d := time.Since(start); d != 2*time.Minute {
				t.Errorf("released after %v", d)
			}
		}
	})
}

// Completed gives each future once, in the order in which they are done: first
// those that are done at the start, in the order given.
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
		for f := range all { // again: all are done, hence as given
			v, _ := f.Result()
			order = append(order, v)
		}
		if !slices.Equal(order, []int{5, 1, 4, 2, 3}) {
			t.Errorf("second order: %v", order)
		}
	})
}

// Futures that fail, are canceled or are rejected are completed as well.
func TestCompletedGivesAllOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(2)})
		b := newBlocker(t)
		b.Fill(t, p, 1)
		fs := executor.SubmitAll(t.Context(), p, testkit.Fail(errTask), value(2), value(3))
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

// Leaving the loop leaves the futures alone.
func TestCompletedBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 2})
		fs := executor.SubmitAll(t.Context(), p, testkit.After(time.Second, 1), testkit.After(time.Minute, 2))
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

// Callable adapts a function without a result, and nil to nil
// (ExecutorsTest.testCallable1, testCallableNPE1, testSubmitRunnable).
func TestCallable(t *testing.T) {
	if executor.Callable(nil) != nil {
		t.Error("Callable(nil) is a function")
	}
	f := executor.Submit(t.Context(), testkit.Inline{}, executor.Callable(func(context.Context) error { return errTask }))
	if v, err := f.Get(t.Context()); v != (struct{}{}) || err != errTask {
		t.Errorf("%v, %v", v, err)
	}
	g := executor.Submit(t.Context(), testkit.Inline{}, executor.Callable(nil))
	if g.Err() != executor.ErrNilTask {
		t.Errorf("%v", g.Err())
	}
}

// A loop over Completed that was left is forgotten by the futures that are not done
// yet: of one that takes for ever, others that were done meanwhile are not kept.
func TestCompletedBreakKeepsNothing(t *testing.T) {
	late := executor.NewPromise[int]()
	first := func() weak.Pointer[executor.Future[int]] {
		f := executor.NewFuture(value(1))
		f.Run(t.Context())
		for range executor.Completed(f, late) {
			break
		}
		return weak.Make(f)
	}()
	check.Collected(t, "the future that was done", first)
	runtime.KeepAlive(late)
}

// Loops over Completed that were left leave nothing behind on a future that all of
// them wait for, however many they were at the same time.
func TestCompletedBreakReturnsMemory(t *testing.T) {
	const n = 20_000
	late, done := executor.NewPromise[int](), executor.NewPromise[int]()
	done.Complete(1)
	var loop func(depth int)
	loop = func(depth int) {
		for range executor.Completed(done, late) {
			if depth > 1 {
				loop(depth - 1)
			}
			break
		}
	}
	before := check.HeapInUse()
	loop(n)
	if kept := check.HeapInUse() - before; kept > n {
		t.Errorf("%d bytes are kept of %d loops", kept, n)
	}
	runtime.KeepAlive(late)
}
