package executor_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Run and RunAndReset.

// Run calls the task function in the calling goroutine, once, and returns its error (testIsDone).
func TestFutureRun(t *testing.T) {
	runs := 0
	f := executor.NewFuture(func(context.Context) (int, error) {
		runs++ // unguarded: it is this goroutine
		return runs, errTask
	})
	if err := f.Run(t.Context()); err != errTask {
		t.Errorf("Run: %v", err)
	}
	for range 3 {
		if err := f.Run(t.Context()); err != nil {
			t.Errorf("another Run: %v", err)
		}
	}
	if runs != 1 {
		t.Errorf("the task function ran %d times", runs)
	}
	futureIs(t, f, executor.Failed, 1, errTask)
}

// Run and RunAndReset panic if the context is nil, before they do anything else.
func TestFutureRunNilContext(t *testing.T) {
	var none context.Context
	for name, call := range map[string]func(*executor.Future[int]){
		"Run":         func(f *executor.Future[int]) { f.Run(none) },
		"RunAndReset": func(f *executor.Future[int]) { f.RunAndReset(none) },
	} {
		f := executor.NewFuture(func(context.Context) (int, error) { return 1, nil })
		func() {
			defer func() {
				if r := recover(); r != "executor: nil Context" {
					t.Errorf("%s panicked with %v", name, r)
				}
			}()
			call(f)
		}()
		expect(t, name+": state", f.State(), executor.Pending)
	}
}

// Run and RunAndReset do nothing while the task function runs (testTimedGet_Cancellation).
func TestFutureRunWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewFuture(body)
		go f.Run(t.Context())
		synctest.Wait()
		if err := f.Run(t.Context()); err != nil || f.RunAndReset(t.Context()) {
			t.Errorf("Run: %v, or RunAndReset", err)
		}
		release()
		f.Join(t.Context())
		if *runs != 1 {
			t.Errorf("the task function ran %d times", *runs)
		}
	})
}

// RunAndReset calls the task function each time, keeps no value, and leaves the task pending
// without calling OnDone callbacks (testRunAndReset, FutureTask/Customized).
func TestFutureRunAndReset(t *testing.T) {
	runs, called := 0, 0
	f := executor.NewFuture(func(context.Context) (int, error) { runs++; return runs, nil })
	f.OnDone(func() { called++ })
	for i := range 3 {
		if !f.RunAndReset(t.Context()) {
			t.Error("RunAndReset: false")
		}
		if runs != i+1 || called != 0 {
			t.Errorf("%d runs, %d calls of the callback", runs, called)
		}
		futureIs(t, f, executor.Pending, 0, nil)
	}
	f.Run(t.Context())
	futureIs(t, f, executor.Succeeded, 4, nil)
	if called != 1 {
		t.Errorf("called %d times", called)
	}
}

// After an error or a panic RunAndReset does not run the task again.
func TestFutureRunAndResetFails(t *testing.T) {
	for name, end := range map[string]func() (int, error){
		"error": func() (int, error) { return 0, errTask },
		"panic": func() (int, error) { panic(errTask) },
	} {
		f := executor.NewFuture(func(context.Context) (int, error) { return end() })
		first, second := f.RunAndReset(t.Context()), f.RunAndReset(t.Context())
		if first || second {
			t.Errorf("%s: RunAndReset: true", name)
		}
		futureIs(t, f, executor.Failed, 0, errTask)
	}
}

// A task that is completed during RunAndReset is not pending again.
func TestFutureRunAndResetCompletedMeanwhile(t *testing.T) {
	for name, op := range map[string]struct {
		do   func(*executor.Future[int]) bool
		want executor.State
	}{
		"Cancel":   {(*executor.Future[int]).Cancel, executor.Canceled},
		"Abandon":  {(*executor.Future[int]).Abandon, executor.Canceled},
		"Complete": {func(f *executor.Future[int]) bool { return f.Complete(1) }, executor.Succeeded},
		"Fail":     {func(f *executor.Future[int]) bool { return f.Fail(errTask) }, executor.Failed},
	} {
		var f *executor.Future[int]
		f = executor.NewFuture(func(context.Context) (int, error) { op.do(f); return 0, nil })
		if f.RunAndReset(t.Context()) {
			t.Errorf("%s: RunAndReset: true", name)
		}
		if f.State() != op.want {
			t.Errorf("%s: %v", name, f.State())
		}
	}
}

// Each call of RunAndReset has a context of its own, which has ended when the call returns and does
// not revive (the 2011 rewrite of FutureTask: cancel must not hit the next task).
func TestFutureRunAndResetContexts(t *testing.T) {
	var seen []context.Context
	f := executor.NewFuture(func(ctx context.Context) (int, error) {
		if err := ctx.Err(); err != nil {
			t.Errorf("run %d began with an ended context: %v", len(seen)+1, err)
		}
		for i, old := range seen {
			if old.Err() == nil {
				t.Errorf("the context of run %d lives on in run %d", i+1, len(seen)+1)
			}
		}
		seen = append(seen, ctx)
		return 0, nil
	})
	f.RunAndReset(t.Context())
	f.RunAndReset(t.Context())
	f.Run(t.Context())
	if len(seen) != 3 {
		t.Fatalf("%d runs", len(seen))
	}
}

// A call of Run after RunAndReset can be canceled as any other.
func TestFutureRunAfterResetCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		var begun, cause error
		f := executor.NewFuture(func(ctx context.Context) (int, error) {
			if first {
				first = false
				return 0, nil
			}
			begun = ctx.Err()
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			cause = context.Cause(ctx)
			return 0, nil
		})
		f.RunAndReset(t.Context())
		go f.Run(t.Context())
		time.Sleep(time.Second)
		f.Cancel()
		f.Join(t.Context())
		if begun != nil || cause != executor.ErrCanceled {
			t.Errorf("the context began with %v and ended with the cause %v", begun, cause)
		}
	})
}

// A task of a pool completes even if somebody else is about to run it by hand when it is due.
func TestFutureRunAtDueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		run := func(context.Context) error { time.Sleep(time.Minute); return nil }
		once := executor.Schedule(t.Context(), p, time.Second, executor.Callable(run))
		series, err := p.AtFixedRate(t.Context(), time.Second, time.Hour, run, executor.Times(2))
		expect(t, "error of AtFixedRate", err, nil)
		time.Sleep(time.Second - 1)
		go once.RunAndReset(t.Context())
		go series.Run(t.Context())
		elapse(5 * time.Hour)
		expect(t, "state of a task with one run", once.State(), executor.Succeeded)
		expect(t, "state of a series", series.State(), executor.Succeeded)
		expect(t, "runs of a series", series.Runs(), 2)
	})
}

// Panics and Goexit.

func explode(context.Context) (int, error) { panic("boom") }

// A panic of the task function is the outcome, with the value and the stack of the place where it
// happened.
func TestFuturePanic(t *testing.T) {
	f := executor.NewFuture(explode)
	err := f.Run(t.Context())
	var p *executor.PanicError
	if !errors.As(err, &p) || p.Value != "boom" {
		t.Fatalf("Run: %v", err)
	}
	if !strings.Contains(string(p.Stack), "explode") {
		t.Errorf("the stack does not show the place:\n%s", p.Stack)
	}
	if got, want := p.Error(), "executor: task panicked: boom"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	futureIs(t, f, executor.Failed, 0, p)
}

// errors.Is and errors.As find the error with which a task function panicked; another value unwraps
// to nothing.
func TestFuturePanicUnwraps(t *testing.T) {
	wrapped := &io.PipeWriter{}
	for _, v := range []any{io.EOF, "text", 7, wrapped} {
		f := executor.NewFuture(func(context.Context) (int, error) { panic(v) })
		f.Run(t.Context())
		if errors.Is(f.Err(), io.EOF) != (v == io.EOF) {
			t.Errorf("panic(%v): %v", v, f.Err())
		}
		if errors.Is(f.Err(), executor.ErrCanceled) {
			t.Errorf("panic(%v) looks canceled", v)
		}
	}
}

// A panic of the runtime, such as an index out of range, is a panic as any other, and matches
// runtime.Error.
func TestFuturePanicRuntimeError(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) {
		var none []int
		return none[len(none)], nil
	})
	f.Run(t.Context())
	var r runtime.Error
	if !errors.As(f.Err(), &r) {
		t.Errorf("%v is no runtime.Error", f.Err())
	}
}

// panic(nil) is a panic, not a Goexit and not a success.
func TestFuturePanicNil(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (int, error) { panic(nil) })
	f.Run(t.Context())
	var n *runtime.PanicNilError
	if !errors.As(f.Err(), &n) || errors.Is(f.Err(), executor.ErrGoexit) {
		t.Errorf("outcome: %v", f.Err())
	}
}

// A panic that the task function recovers does not count.
func TestFuturePanicRecovered(t *testing.T) {
	f := executor.NewFuture(func(context.Context) (n int, err error) {
		defer func() { n = recover().(int) }()
		panic(8)
	})
	f.Run(t.Context())
	futureIs(t, f, executor.Succeeded, 8, nil)
}

// A task function that calls Goexit, as a failing test does, fails with ErrGoexit, even if a
// deferred function recovered a panic on the way.
func TestFutureGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, leave := range map[string]func(){
			"Goexit": runtime.Goexit,
			"FailNow": func() {
				new(testing.T).FailNow()
			},
			"Goexit in a deferred function": func() {
				defer runtime.Goexit()
				panic("lost")
			},
		} {
			f := executor.NewFuture(func(context.Context) (int, error) { leave(); return 1, nil })
			returned := false
			go func() {
				f.Run(t.Context())
				returned = true
			}()
			f.Join(t.Context())
			synctest.Wait()
			futureIs(t, f, executor.Failed, 0, executor.ErrGoexit)
			if returned {
				t.Errorf("%s: the goroutine went on", name)
			}
		}
	})
}

// In a pool a panic and a Goexit fail their future only: the pool has all its workers for the next
// task.
func TestFuturePanicInPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		for range 3 {
			f := executor.Submit(t.Context(), p, explode)
			var perr *executor.PanicError
			if _, err := f.Get(t.Context()); !errors.As(err, &perr) {
				t.Errorf("panic: %v", err)
			}
			g := executor.Submit(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
			if _, err := g.Get(t.Context()); err != executor.ErrGoexit {
				t.Errorf("Goexit: %v", err)
			}
			h := executor.Submit(t.Context(), p, value(1))
			if v, err := h.Get(t.Context()); v != 1 || err != nil {
				t.Errorf("the next task: %d, %v", v, err)
			}
		}
		synctest.Wait()
		if s := p.Stats(); s.Workers != 1 || s.Failed != 6 || s.Succeeded != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// An executor of another package needs no code for panics: the future catches them.
func TestFuturePanicInOtherExecutor(t *testing.T) {
	f := executor.Submit(t.Context(), testkit.Inline{}, explode)
	var perr *executor.PanicError
	if !errors.As(f.Err(), &perr) {
		t.Errorf("outcome: %v", f.Err())
	}
}

// Fork and join.

// forked returns a task function that submits two tasks until depth is 0, where it calls leaf, and
// waits for them by Run and Get.
func forked(pool executor.Executor, depth int, leaf func() (int, error)) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if depth == 0 {
			return leaf()
		}
		half := forked(pool, depth-1, leaf)
		a, b := executor.Submit(ctx, pool, half), executor.Submit(ctx, pool, half)
		sum := 0
		for _, f := range []*executor.Future[int]{a, b} {
			f.Run(ctx)
			n, err := f.Get(ctx)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
}

// Tasks that wait for tasks of their own pool, each after Run of it, do not wait forever, however
// few workers there are.
func TestFutureForkJoin(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			pool := testkit.Closing(t, executor.Fixed(workers))
			one := func() (int, error) { return 1, nil }
			sum, err := executor.Submit(t.Context(), pool, forked(pool, 8, one)).Get(t.Context())
			expect(t, "error", err, nil)
			expect(t, "sum", sum, 1<<8)
		})
	}
}

// An error, a panic and a Goexit of a forked task reach the task that waits for it.
func TestFutureForkJoinFails(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		leaf func() (int, error)
		want error
	}{
		"error":  {func() (int, error) { return 0, boom }, boom},
		"panic":  {func() (int, error) { panic(boom) }, boom},
		"Goexit": {func() (int, error) { runtime.Goexit(); return 0, nil }, executor.ErrGoexit},
	} {
		for _, workers := range []int{1, 2} {
			synctest.Test(t, func(t *testing.T) {
				pool := testkit.Closing(t, executor.Fixed(workers))
				_, err := executor.Submit(t.Context(), pool, forked(pool, 4, c.leaf)).Get(t.Context())
				expectIs(t, name, err, c.want)
			})
		}
	}
}
