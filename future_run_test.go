package executor_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Run.

// Run calls the task function in the calling goroutine, once, and returns its error (testIsDone).
func TestFutureRun(t *testing.T) {
	runs := 0
	f := executor.NewTask(func(context.Context) (int, error) {
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

// Run panics if the context is nil, before it does anything else.
func TestFutureRunNilContext(t *testing.T) {
	var none context.Context
	f := executor.NewTask(func(context.Context) (int, error) { return 1, nil })
	func() {
		defer func() {
			if r := recover(); r != "executor: nil Context" {
				t.Errorf("Run panicked with %v", r)
			}
		}()
		f.Run(none)
	}()
	expect(t, "state", f.State(), executor.Pending)
}

// Run does nothing while the task function runs (testTimedGet_Cancellation).
func TestFutureRunWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewTask(body)
		go f.Run(t.Context())
		synctest.Wait()
		if err := f.Run(t.Context()); err != nil {
			t.Errorf("Run: %v", err)
		}
		release()
		f.Join(t.Context())
		if *runs != 1 {
			t.Errorf("the task function ran %d times", *runs)
		}
	})
}

// Panics and Goexit.

func explode(context.Context) (int, error) { panic("boom") }

// A panic of the task function is the outcome, with the value and the stack of the place where it
// happened.
func TestFuturePanic(t *testing.T) {
	f := executor.NewTask(explode)
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
		f := executor.NewTask(func(context.Context) (int, error) { panic(v) })
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
	f := executor.NewTask(func(context.Context) (int, error) {
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
	f := executor.NewTask(func(context.Context) (int, error) { panic(nil) })
	f.Run(t.Context())
	var n *runtime.PanicNilError
	if !errors.As(f.Err(), &n) || errors.Is(f.Err(), executor.ErrGoexit) {
		t.Errorf("outcome: %v", f.Err())
	}
}

// A panic that the task function recovers does not count.
func TestFuturePanicRecovered(t *testing.T) {
	f := executor.NewTask(func(context.Context) (n int, err error) {
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
			f := executor.NewTask(func(context.Context) (int, error) { leave(); return 1, nil })
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
		p := newPool(t, executor.Config{Workers: 1})
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
			n, err := f.Get(ctx)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
}

// Tasks that wait for tasks of their own pool do not wait forever, however few workers there are.
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

// Cancel and Abandon.

var cancels = map[string]func(*executor.Task[int]) bool{
	"Cancel":  (*executor.Task[int]).Cancel,
	"Abandon": (*executor.Task[int]).Abandon,
}

// A pending task that is canceled or abandoned never runs (testCancelBeforeRun,
// testCancelBeforeRun2).
func TestFutureCancelBeforeRun(t *testing.T) {
	for name, cancel := range cancels {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		f := executor.NewTask(body)
		if !cancel(f) {
			t.Errorf("%s: false for a pending task", name)
		}
		for range 3 {
			if err := f.Run(t.Context()); err != nil {
				t.Errorf("%s: Run: %v", name, err)
			}
		}
		if *runs != 0 {
			t.Errorf("%s: the task function ran", name)
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
	}
}

// Cancel and Abandon of a task that is done return false and change nothing (testCancelAfterRun,
// testCancelAfterRun2).
func TestFutureCancelAfterRun(t *testing.T) {
	for name, cancel := range cancels {
		f := executor.NewTask(value(1))
		f.Run(t.Context())
		if cancel(f) {
			t.Errorf("%s: true for a task that is done", name)
		}
		futureIs(t, f, executor.Succeeded, 1, nil)
	}
}

// Cancel completes a running task at once and ends its context with the cause ErrCanceled; the
// later outcome of the task function is discarded (testCancelInterrupt,
// testCancelInterrupt_taskFails, SubmitTest WithCancelTrue).
func TestFutureCancelEndsContext(t *testing.T) {
	for name, end := range map[string]func() (int, error){
		"returns": func() (int, error) { return 1, nil },
		"fails":   func() (int, error) { return 0, errTask },
		"panics":  func() (int, error) { panic("late") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var err, cause error
				f := executor.NewTask(func(ctx context.Context) (int, error) {
					<-ctx.Done()
					err, cause = ctx.Err(), context.Cause(ctx)
					time.Sleep(time.Minute)
					return end()
				})
				go f.Run(t.Context())
				synctest.Wait()
				if !f.Cancel() {
					t.Error("Cancel: false")
				}
				futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
				f.Join(t.Context())
				futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
				if err != context.Canceled || cause != executor.ErrCanceled {
					t.Errorf("the task function saw %v, cause %v", err, cause)
				}
			})
		})
	}
}

// Abandon completes a running task at once and does not end its context (testCancelNoInterrupt,
// SubmitTest WithCancelFalse).
func TestFutureAbandonLeavesContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disturbed error
		f := executor.NewTask(func(ctx context.Context) (int, error) {
			time.Sleep(time.Hour)
			disturbed = ctx.Err()
			return 1, nil
		})
		go f.Run(t.Context())
		synctest.Wait()
		if !f.Abandon() {
			t.Error("Abandon: false")
		}
		if f.Cancel() {
			t.Error("Cancel after Abandon: true")
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
		start := time.Now()
		if err := f.Join(t.Context()); err != nil || time.Since(start) != time.Hour {
			t.Errorf("Join: %v after %v", err, time.Since(start))
		}
		if disturbed != nil {
			t.Errorf("the task's context ended: %v", disturbed)
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
	})
}

// A task function that uses its context for the first time after Cancel finds it ended; after
// Abandon it does not.
func TestFutureCancelBeforeFirstUseOfContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, cancel := range cancels {
			gate := make(chan struct{})
			var err, cause error
			f := executor.NewTask(func(ctx context.Context) (int, error) {
				<-gate
				err, cause = ctx.Err(), context.Cause(ctx)
				return 0, nil
			})
			go f.Run(t.Context())
			synctest.Wait()
			cancel(f)
			close(gate)
			f.Join(t.Context())
			if canceled := name == "Cancel"; canceled != (err == context.Canceled) ||
				canceled != (cause == executor.ErrCanceled) {
				t.Errorf("%s: the task function saw %v, cause %v", name, err, cause)
			}
		}
	})
}

// A task function may cancel its own task.
func TestFutureCancelByOwnFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *executor.Task[int]
		var ok bool
		var cause error
		f = executor.NewTask(func(ctx context.Context) (int, error) {
			ok = f.Cancel()
			cause = context.Cause(ctx)
			return 1, nil
		})
		f.Run(t.Context())
		if !ok || cause != executor.ErrCanceled {
			t.Errorf("Cancel: %v, cause %v", ok, cause)
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
	})
}

// The holder of a contended lock completes although all tasks that wait for the lock are canceled,
// and these end as canceled (FutureTask/CancelledFutureLoops, JDK-4486658).
func TestFutureCancelOfLockWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 16
		p := newPool(t, executor.Config{Workers: n})
		lock := make(chan struct{}, 1)
		body := func(ctx context.Context) (int, error) {
			select {
			case lock <- struct{}{}:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			time.Sleep(time.Second)
			<-lock
			return 1, nil
		}
		fs := make([]*executor.Future[int], n)
		for i := range fs {
			fs[i] = executor.Submit(t.Context(), p, body)
			synctest.Wait()
		}
		for _, f := range fs[1:] {
			if !f.Cancel() {
				t.Error("Cancel: false")
			}
		}
		if v, err := fs[0].Get(t.Context()); v != 1 || err != nil {
			t.Errorf("the holder: %d, %v", v, err)
		}
		for _, f := range fs[1:] {
			futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
			f.Join(t.Context())
		}
		synctest.Wait() // a task is counted after its task function has returned
		if s := p.Stats(); s.Succeeded != 1 || s.Canceled != n-1 {
			t.Errorf("%+v", s)
		}
	})
}

// A task in a queue whose context cannot end is canceled on a short path. OnDone, Done, Get and
// Join still learn of it.
func TestFutureCancelWakesWaiters(t *testing.T) {
	for what, wait := range map[string]func(f *executor.Future[int], done func()){
		"OnDone": func(f *executor.Future[int], done func()) { f.OnDone(done) },
		"Done":   func(f *executor.Future[int], done func()) { c := f.Done(); go func() { <-c; done() }() },
		"Get":    func(f *executor.Future[int], done func()) { go func() { f.Get(context.Background()); done() }() },
		"Join":   func(f *executor.Future[int], done func()) { go func() { f.Join(context.Background()); done() }() },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, executor.Config{Workers: 1})
			newBlocker(t).Fill(t, p, 1)
			f := executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
			called := 0
			wait(f, func() { called++ })
			synctest.Wait()
			expect(t, what+" before", called, 0)
			f.Cancel()
			synctest.Wait()
			expect(t, what+" after", called, 1)
		})
	}
}

// Join.

// After Cancel Get returns at once, Join when the task function has returned.
func TestFutureJoinWaitsForFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := executor.NewTask(func(context.Context) (int, error) {
			time.Sleep(time.Hour) // it ignores its context
			return 0, nil
		})
		go f.Run(t.Context())
		time.Sleep(time.Minute)
		f.Cancel()
		if _, err := f.Get(t.Context()); !errors.Is(err, executor.ErrCanceled) || time.Since(start) != time.Minute {
			t.Errorf("Get: %v at %v", err, time.Since(start))
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := f.Join(limited); err != context.DeadlineExceeded || time.Since(start) != 2*time.Minute {
			t.Errorf("bounded Join: %v at %v", err, time.Since(start))
		}
		for range 2 { // the task function has returned before the second call
			if err := f.Join(t.Context()); err != nil || time.Since(start) != time.Hour {
				t.Errorf("Join: %v at %v", err, time.Since(start))
			}
		}
	})
}

// Any number of goroutines can call Join, before and after the task is done.
func TestFutureJoinByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _, release := testkit.Stuck(1, nil)
		f := executor.NewTask(body)
		joined := make(chan error, 10)
		join := func() { joined <- f.Join(t.Context()) }
		for range 5 {
			go join()
		}
		go f.Run(t.Context())
		synctest.Wait()
		f.Cancel()
		for range 5 {
			go join()
		}
		synctest.Wait()
		if len(joined) != 0 {
			t.Errorf("%d joined while the task function ran", len(joined))
		}
		release()
		synctest.Wait()
		if len(joined) != 10 {
			t.Errorf("%d of 10 joined", len(joined))
		}
	})
}

// Join returns nil whatever the outcome is: it reports only that the task function has returned.
func TestFutureJoinReturnsNil(t *testing.T) {
	for name, f := range map[string]*executor.Task[int]{
		"value": executor.NewTask(value(1)),
		"error": executor.NewTask(testkit.Fail(errTask)),
		"panic": executor.NewTask(func(context.Context) (int, error) { panic("x") }),
	} {
		f.Run(t.Context())
		if err := f.Join(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := executor.NewPromise[int]()
	f.Cancel()
	if err := f.Join(t.Context()); err != nil {
		t.Errorf("canceled: %v", err)
	}
}

// OnDone.

// OnDone callbacks run once, in the order of registration, in the goroutine that completes the
// task, and find the outcome set (testIsDone: the done hook, FutureTask/Customized, JDK-6464365).
func TestFutureOnDone(t *testing.T) {
	for name, c := range map[string]struct {
		complete func(context.Context, *executor.Task[int])
		want     executor.State
	}{
		"Run":      {func(ctx context.Context, f *executor.Task[int]) { f.Run(ctx) }, executor.Succeeded},
		"Complete": {func(_ context.Context, f *executor.Task[int]) { f.Complete(1) }, executor.Succeeded},
		"Fail":     {func(_ context.Context, f *executor.Task[int]) { f.Fail(errTask) }, executor.Failed},
		"Cancel":   {func(_ context.Context, f *executor.Task[int]) { f.Cancel() }, executor.Canceled},
		"Abandon":  {func(_ context.Context, f *executor.Task[int]) { f.Abandon() }, executor.Canceled},
		"rejection": {func(ctx context.Context, f *executor.Task[int]) {
			p := executor.Fixed(1)
			p.Close()
			p.Execute(ctx, f)
		}, executor.Failed},
	} {
		f := executor.NewTask(value(1))
		var order []int // unguarded: all in this goroutine
		for i := range 3 {
			f.OnDone(func() {
				order = append(order, i)
				if f.State() != c.want {
					t.Errorf("%s: the callback saw %v", name, f.State())
				}
				if err := f.Err(); err == executor.ErrNotDone {
					t.Errorf("%s: the callback saw no outcome", name)
				}
				select {
				case <-f.Done():
				default:
					t.Errorf("%s: the callback saw an open Done channel", name)
				}
			})
		}
		if len(order) != 0 {
			t.Errorf("%s: a callback was called before the task was done", name)
		}
		c.complete(t.Context(), f)
		for _, again := range operations {
			again(t.Context(), f)
		}
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("%s: the callbacks ran as %v", name, order)
		}
	}
}

// OnDone of a task that is done calls the function at once.
func TestFutureOnDoneWhenDone(t *testing.T) {
	f := executor.NewPromise[int]()
	f.Complete(1)
	called := false
	f.OnDone(func() { called = true })
	if !called {
		t.Error("the callback was not called")
	}
}

// OnDone panics if the function is nil, and not later the goroutine that completes the task.
func TestFutureOnDoneNil(t *testing.T) {
	f := executor.NewPromise[int]()
	func() {
		defer func() {
			if v := recover(); v != "executor: Future.OnDone: nil function" {
				t.Errorf("OnDone(nil) panics with %v", v)
			}
		}()
		f.OnDone(nil)
	}()
	if !f.Complete(1) {
		t.Error("the promise is not completed")
	}
}

// A callback may use the future and register further callbacks: no lock is held.
func TestFutureOnDoneMayUseFuture(t *testing.T) {
	f := executor.NewPromise[int]()
	called := 0
	f.OnDone(func() {
		f.Cancel()
		f.Complete(2)
		f.OnDone(func() { called++ })
		if v, _ := f.Get(t.Context()); v != 1 {
			t.Errorf("Get: %d", v)
		}
		called++
	})
	f.Complete(1)
	if called != 2 {
		t.Errorf("called %d times", called)
	}
}

// Callbacks run in the order of registration, even if loops over Completed registered between them
// and were left.
func TestFutureOnDoneOrderBesideCompleted(t *testing.T) {
	lateOne, promise := executor.NewPromise[int](), executor.NewPromise[int]()
	promise.Complete(1)
	late, done := lateOne.Future(), promise.Future()
	var called []int
	leave := make([]func(), 7)
	for i := range leave {
		next, stop := iter.Pull(executor.Completed(context.Background(), done, late))
		next()
		leave[i] = stop
		if i%2 == 1 {
			late.OnDone(func() { called = append(called, i) })
		}
	}
	for _, i := range []int{3, 0, 6, 5, 1, 4, 2} { // in the middle, at both ends, side by side
		leave[i]()
	}
	late.OnDone(func() { called = append(called, 7) })
	lateOne.Complete(1)
	if want := []int{1, 3, 5, 7}; !slices.Equal(called, want) {
		t.Errorf("called were %v, want %v", called, want)
	}
}

// If a callback panics, the panic continues in the goroutine that completes the task, and the
// outcome stands (JDK-6415572, testCancelInterrupt_ThrowsSecurityException).
func TestFutureOnDonePanics(t *testing.T) {
	for name, c := range map[string]struct {
		complete func(*executor.Task[int])
		want     executor.State
	}{
		"Run":    {func(f *executor.Task[int]) { f.Run(t.Context()) }, executor.Succeeded},
		"Cancel": {func(f *executor.Task[int]) { f.Cancel() }, executor.Canceled},
	} {
		f := executor.NewTask(value(1))
		f.OnDone(func() { panic(errTask) })
		func() {
			defer func() {
				if r := recover(); r != errTask {
					t.Errorf("%s: panicked with %v", name, r)
				}
			}()
			c.complete(f)
		}()
		if f.State() != c.want {
			t.Errorf("%s: %v", name, f.State())
		}
	}
}

// A function of OnDone that a worker calls and that panics is reported, once, however the body has ended and whatever
// hooks there are: AfterTask gets the outcome of the body, and the worker goes on.
func TestFutureOnDonePanicsInWorker(t *testing.T) {
	around := func(ctx context.Context, _ executor.TaskInfo, run func(context.Context) error) error { return run(ctx) }
	for name, hooks := range map[string]executor.Hooks{
		"none":    {},
		"OnPanic": {OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
		"Around":  {Around: around},
		"Around that calls run in another goroutine": {
			Around: func(ctx context.Context, info executor.TaskInfo, run func(context.Context) error) error {
				over := make(chan bool)
				go func() {
					defer close(over)
					around(ctx, info, run)
				}()
				<-over
				return nil
			},
		},
		"BeforeTask": {
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { return ctx },
		},
	} {
		for _, way := range testkit.Exits {
			t.Run(name+"/"+way.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					after, hooked := errTask, name != "none" && name != "OnPanic"
					if hooked {
						hooks.AfterTask = func(_ context.Context, _ executor.TaskInfo, err error) { after = err }
					}
					p := newPool(t, executor.Config{Workers: 1, Hooks: hooks, Logger: slog.New(slog.NewTextHandler(&out, nil))})
					ready := make(chan bool)
					f := executor.Submit(t.Context(), p, func(context.Context) (int, error) {
						<-ready
						return 1, way.Leave()
					})
					f.OnDone(func() { panic("of OnDone") })
					close(ready)
					_, err := f.Get(t.Context())
					waitStats(t, p)
					expect(t, "reported", strings.Count(out.String(), `panic="of OnDone"`), 1)
					expect(t, "lines", strings.Count(out.String(), "\n"), 1)
					if hooked {
						expect(t, "AfterTask gets the outcome", after == err, true)
					}
					executor.Submit(t.Context(), p, value(1)).Join(t.Context())
				})
			})
		}
	}
}

// A callback that panics does not keep the others from being called, in their order.
func TestFutureOnDoneContinuesAfterPanic(t *testing.T) {
	for way, complete := range map[string]func(f *executor.Task[int]){
		"Run":      func(f *executor.Task[int]) { f.Run(context.Background()) },
		"Cancel":   func(f *executor.Task[int]) { f.Cancel() },
		"Complete": func(f *executor.Task[int]) { f.Complete(1) },
	} {
		t.Run(way, func(t *testing.T) {
			f := executor.NewTask(value(1))
			var called []int
			for i := range 5 {
				f.OnDone(func() {
					called = append(called, i)
					if i%2 == 0 {
						panic("boom")
					}
				})
			}
			expect(t, "panics", testkit.Panics(func() error { complete(f); return nil }), true)
			if !slices.Equal(called, []int{0, 1, 2, 3, 4}) {
				t.Errorf("called: %v", called)
			}
		})
	}
}

// A shutdown cancels all waiting tasks even if a callback of one of them panics.
func TestFutureOnDonePanicLeavesShutdown(t *testing.T) {
	for name, shutdown := range map[string]func(p *executor.ScheduledPool){
		"ShutdownNow": func(p *executor.ScheduledPool) { p.ShutdownNow() },
		"Shutdown":    func(p *executor.ScheduledPool) { p.Shutdown() },
		"SetDelayed": func(p *executor.ScheduledPool) {
			setDropDelayed(p, false)
			p.Shutdown()
			setDropDelayed(p, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newScheduled(t, executor.ScheduledConfig{Workers: 1, DropDelayed: true})
				var fs []*executor.Future[int]
				for range 3 {
					f := executor.SubmitAfter(t.Context(), p, time.Hour, value(1))
					f.OnDone(func() { panic("boom") })
					fs = append(fs, f)
				}
				expect(t, "panics", testkit.Panics(func() error { shutdown(p); return nil }), true)
				for i, f := range fs {
					if f.State() != executor.Canceled {
						t.Errorf("task %d is %v", i, f.State())
					}
				}
			})
		})
	}
}

// A pool does not terminate before the callbacks that its workers call have returned.
func TestFutureOnDoneHoldsTermination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		f := executor.Submit(t.Context(), p, testkit.After(time.Second, 1))
		returned := false
		f.OnDone(func() {
			time.Sleep(time.Minute)
			returned = true
		})
		p.Close()
		if !returned {
			t.Error("Close has returned before")
		}
	})
}
