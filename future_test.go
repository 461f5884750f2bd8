package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// What a new future reports, and what its outcome is.

// A future that was not run yet is pending, and all its methods report that (testIsDone).
func TestFutureNewIsPending(t *testing.T) {
	futureIs(t, executor.NewTask(value(1)), executor.Pending, 0, nil)
	futureIs(t, executor.NewPromise[int](), executor.Pending, 0, nil)
}

// A future with a nil function has failed when it is made: it cannot run, and Submit does not call
// the executor (testConstructor, JDK-6398290).
func TestFutureNilFunction(t *testing.T) {
	f := executor.NewTask[int](nil)
	futureIs(t, f, executor.Failed, 0, executor.ErrInvalid)
	if err := f.Run(t.Context()); err != nil {
		t.Errorf("Run: %v", err)
	}
	g := executor.Submit[int](t.Context(), testkit.Rejecting(errors.New("the executor was called")), nil)
	futureIs(t, g, executor.Failed, 0, executor.ErrInvalid)
}

// A task function that returns a nil result has succeeded (Future/DefaultMethods
// testCompletedTask2).
func TestFutureNilResultIsSuccess(t *testing.T) {
	f := executor.NewTask(func(context.Context) (*int, error) { return nil, nil })
	f.Run(t.Context())
	if v, err := f.Result(); f.State() != executor.Succeeded || v != nil || err != nil {
		t.Errorf("%v: %v, %v", f.State(), v, err)
	}
}

// A task function may return a value together with its error, as Go functions do.
func TestFutureValueWithError(t *testing.T) {
	f := executor.NewTask(func(context.Context) (int, error) { return 7, errTask })
	f.Run(t.Context())
	futureIs(t, f, executor.Failed, 7, errTask)
}

// The error of the task function is the outcome itself and not wrapped (testGet_ExecutionException,
// DefaultMethods testFailedTask).
func TestFutureErrorIsNotWrapped(t *testing.T) {
	f := executor.NewTask(testkit.Fail(errTask))
	if err := f.Run(t.Context()); err != errTask {
		t.Errorf("Run: %v", err)
	}
	if _, err := f.Get(t.Context()); err != errTask || f.Err() != errTask {
		t.Errorf("Get: %v, Err: %v", err, f.Err())
	}
}

// A task function may return an error of this package: the future has failed with that error.
func TestFutureOutcomeIsPackageError(t *testing.T) {
	for _, err := range []error{executor.ErrCanceled, executor.ErrNotDone, executor.ErrStop, context.Canceled,
		errors.ErrUnsupported} {
		f := executor.NewTask(testkit.Fail(err))
		f.Run(t.Context())
		if f.State() != executor.Failed || f.Err() != err {
			t.Errorf("%v: %v, %v", err, f.State(), f.Err())
		}
	}
}

// A future whose task function returns the error of a canceled future has failed with that error.
func TestFutureFailsWithErrorOfCanceledFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		first := executor.NewPromise[int]()
		first.Cancel()
		second := testkit.SubmitTask(t.Context(), p, first.Get)
		_, err := second.Get(context.Background())
		expect(t, "State", second.State(), executor.Failed)
		if !errors.Is(err, executor.ErrCanceled) {
			t.Errorf("Get returned the error %v, want that of the first future", err)
		}
		third := executor.NewPromise[int]()
		third.Fail(first.Err())
		if !errors.Is(third.Err(), executor.ErrCanceled) {
			t.Errorf("Err is %v after Fail, want that of the first future", third.Err())
		}
	})
}

// The names of the states are words in lower case, and exactly the last three states are final
// (testToString of the four kinds).
func TestFutureStateNames(t *testing.T) {
	want := map[executor.State]string{
		executor.Pending: "pending", executor.Running: "running",
		executor.Succeeded: "succeeded", executor.Failed: "failed", executor.Canceled: "canceled",
	}
	for s, name := range want {
		if s.String() != name {
			t.Errorf("%d is %q, want %q", s, s, name)
		}
		if s.Done() != (s != executor.Pending && s != executor.Running) {
			t.Errorf("%v.Done() is %v", s, s.Done())
		}
	}
}

// What each method does in each state.

// situation is a state of a future, with a function that makes a future in that state.
type situation struct {
	name string
	// make returns a future in that state, the number of runs of its task function,
	// and a function that lets a running one continue.
	make func(t *testing.T) (f *executor.Task[int], runs *int, release func())
}

var situations = []situation{
	{"pending", func(t *testing.T) (*executor.Task[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		return executor.NewTask(body), runs, func() {}
	}},
	{"running", func(t *testing.T) (*executor.Task[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewTask(body)
		go f.Run(t.Context())
		synctest.Wait()
		return f, runs, release
	}},
	{"succeeded", func(t *testing.T) (*executor.Task[int], *int, func()) {
		f := executor.NewTask(value(1))
		f.Complete(5)
		return f, new(int), func() {}
	}},
	{"failed", func(t *testing.T) (*executor.Task[int], *int, func()) {
		f := executor.NewTask(value(1))
		f.Fail(errTask)
		return f, new(int), func() {}
	}},
	{"canceled", func(t *testing.T) (*executor.Task[int], *int, func()) {
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewTask(body)
		f.Cancel()
		return f, runs, release
	}},
	{"abandoned", func(t *testing.T) (*executor.Task[int], *int, func()) { // canceled, its task function still running
		body, runs, release := testkit.Stuck(1, nil)
		f := executor.NewTask(body)
		go f.Run(t.Context())
		synctest.Wait()
		f.Abandon()
		return f, runs, release
	}},
}

var operations = map[string]func(ctx context.Context, f *executor.Task[int]) any{
	"Run":      func(ctx context.Context, f *executor.Task[int]) any { return f.Run(ctx) },
	"Complete": func(ctx context.Context, f *executor.Task[int]) any { return f.Complete(2) },
	"Fail":     func(ctx context.Context, f *executor.Task[int]) any { return f.Fail(context.Canceled) },
	"Cancel":   func(ctx context.Context, f *executor.Task[int]) any { return f.Cancel() },
	"Abandon":  func(ctx context.Context, f *executor.Task[int]) any { return f.Abandon() },
}

// Each method does in each state what its documentation says, and a future that is done does not
// change (testIsDone, testSet, testSetException_get, testCancelBeforeRun, testCancelAfterRun,
// FutureTask/Customized).
func TestFutureMethodsInStates(t *testing.T) {
	// What the method returns, the state after it, and the number of runs.
	want := map[string]map[string]string{
		"pending": {
			"Run":      "<nil> succeeded 1",
			"Complete": "true succeeded 0",
			"Fail":     "true failed 0",
			"Cancel":   "true canceled 0",
			"Abandon":  "true canceled 0",
		},
		"running": {
			"Run":      "<nil> running 1",
			"Complete": "true succeeded 1",
			"Fail":     "true failed 1",
			"Cancel":   "true canceled 1",
			"Abandon":  "true canceled 1",
		},
		"abandoned": final("canceled", 1),
		"succeeded": final("succeeded", 0),
		"failed":    final("failed", 0),
		"canceled":  final("canceled", 0),
	}
	for _, s := range situations {
		for name, operate := range operations {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, runs, release := s.make(t)
					result := operate(t.Context(), f)
					after := f.State()
					if got := fmt.Sprint(result, after, *runs); got != want[s.name][name] {
						t.Errorf("got %q, want %q", got, want[s.name][name])
					}
					v, err := f.Result()
					release()
					synctest.Wait()
					if !after.Done() {
						return
					}
					for _, again := range operations {
						again(t.Context(), f)
						if v2, err2 := f.Result(); f.State() != after || v2 != v || err2 != err {
							t.Errorf("the outcome %v, %d, %v turned into %v, %d, %v", after, v, err, f.State(), v2, err2)
						}
					}
				})
			})
		}
	}
}

// final returns the results of the methods for a task that is done, which nothing changes.
func final(state string, runs int) map[string]string {
	m := make(map[string]string)
	for name := range operations {
		m[name] = fmt.Sprintf("false %s %d", state, runs)
	}
	m["Run"] = fmt.Sprintf("<nil> %s %d", state, runs)
	return m
}

// Complete and Fail set the outcome of a future, whose task function then never runs (testSet,
// testSetException_get, DefaultMethods testCompletableFuture1 to 5).
func TestFutureComplete(t *testing.T) {
	body, runs, release := testkit.Stuck(1, nil)
	release()
	f := executor.NewTask(body)
	f.Complete(2)
	futureIs(t, f, executor.Succeeded, 2, nil)

	g := executor.NewTask(body)
	g.Fail(errTask)
	futureIs(t, g, executor.Failed, 0, errTask)

	h := executor.NewTask(body)
	h.Cancel()
	futureIs(t, h, executor.Canceled, 0, executor.ErrCanceled)

	for _, f := range []*executor.Task[int]{f, g, h} {
		f.Run(t.Context())
	}
	if *runs != 0 {
		t.Errorf("the task function ran %d times", *runs)
	}
}

// Complete does not disturb a running task function, whose outcome is discarded: value, error or
// panic.
func TestFutureLateOutcomeIsDiscarded(t *testing.T) {
	bodies := map[string]func() (int, error){
		"value": func() (int, error) { return 1, nil },
		"error": func() (int, error) { return 0, errTask },
		"panic": func() (int, error) { panic("late") },
	}
	for name, end := range bodies {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				var disturbed error
				f := executor.NewTask(func(ctx context.Context) (int, error) {
					<-gate
					disturbed = ctx.Err()
					return end()
				})
				go f.Run(t.Context())
				synctest.Wait()
				f.Complete(2)
				futureIs(t, f, executor.Succeeded, 2, nil)
				close(gate)
				f.Join(t.Context())
				futureIs(t, f, executor.Succeeded, 2, nil)
				if disturbed != nil {
					t.Errorf("the task's context ended: %v", disturbed)
				}
			})
		})
	}
}

// Fail panics if the error is nil, and leaves the future as it was.
func TestFutureFailNil(t *testing.T) {
	f := executor.NewPromise[int]()
	defer func() {
		if r := recover(); r == nil {
			t.Error("Fail(nil) did not panic")
		}
		futureIs(t, f, executor.Pending, 0, nil)
	}()
	f.Fail(nil)
}

// Each function that submits panics if the context is nil, before it does anything else.
func TestFutureSubmitNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none context.Context
		p := newPool(t, executor.Config{Workers: 1})
		ran := false
		body := func(context.Context) (int, error) { ran = true; return 0, nil }
		plain := func(context.Context) error { ran = true; return nil }
		for name, call := range map[string]func(){
			"Submit":  func() { executor.Submit(none, p, body) },
			"Any":     func() { executor.Any(none, p, body) },
			"Go":      func() { p.Go(none, plain) },
			"Go with": func() { p.Go(none, plain, executor.Named("x")) },
			"Execute": func() { p.Execute(none, executor.Func(plain)) },
		} {
			func() {
				defer func() {
					if r := recover(); r != "executor: nil Context" {
						t.Errorf("%s: panicked with %v", name, r)
					}
				}()
				call()
			}()
		}
		synctest.Wait()
		if s := p.Stats(); ran || s.Submitted != 0 {
			t.Errorf("something happened: ran %v, %+v", ran, s)
		}
	})
}

// Get, Join and Done.

// waiters has goroutines wait for f in each way, calls complete, and checks that they return the
// outcome at once.
func waiters(t *testing.T, f *executor.Task[int], complete func(*executor.Task[int]), s executor.State, v int,
	want error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				ctx := t.Context()
				if i%2 == 0 {
					limited, cancel := context.WithTimeout(ctx, time.Hour)
					defer cancel()
					ctx = limited
				}
				var got int
				var err error
				switch i {
				case 0, 1, 2, 3:
					got, err = f.Get(ctx)
				case 4:
					if err := f.Join(ctx); err != nil {
						t.Error(err)
					}
					got, err = f.Result()
				case 5:
					<-f.Done()
					got, err = f.Result()
				}
				if got != v || !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("waiter %d got %d, %v", i, got, err)
				}
			})
		}
		time.Sleep(time.Minute)
		complete(f)
		at := time.Now()
		wg.Wait()
		if d := time.Since(at); d != 0 {
			t.Errorf("they waited %v longer", d)
		}
		futureIs(t, f, s, v, want)
	})
}

// Get, Join and Done wait until another goroutine has run the task (testGetRun).
func TestFutureGetWaitsForRun(t *testing.T) {
	waiters(t, executor.NewTask(value(6)), func(f *executor.Task[int]) { f.Run(context.Background()) },
		executor.Succeeded, 6, nil)
}

// Get, Join and Done wait until Complete sets the value (testGetSet, FutureTask/ExplicitSet,
// JDK-7132378).
func TestFutureGetWaitsForComplete(t *testing.T) {
	waiters(t, executor.NewTask(value(0)), func(f *executor.Task[int]) { f.Complete(6) },
		executor.Succeeded, 6, nil)
}

// Get returns the error of the task function to all callers that wait (testGet_ExecutionException,
// testTimedGet_ExecutionException2).
func TestFutureGetWaitsForFailure(t *testing.T) {
	waiters(t, executor.NewTask(testkit.Fail(errTask)), func(f *executor.Task[int]) { f.Run(context.Background()) },
		executor.Failed, 0, errTask)
}

// Cancel and Abandon end the wait of all callers (testTimedGet_Cancellation).
func TestFutureGetWaitsForCancel(t *testing.T) {
	waiters(t, executor.NewTask(value(6)), func(f *executor.Task[int]) { f.Cancel() },
		executor.Canceled, 0, executor.ErrCanceled)
	waiters(t, executor.NewTask(value(6)), func(f *executor.Task[int]) { f.Abandon() },
		executor.Canceled, 0, executor.ErrCanceled)
}

// Done returns the same channel each time, before and after the task is done.
func TestFutureDoneIsOneChannel(t *testing.T) {
	f, g := executor.NewPromise[int](), executor.NewPromise[int]()
	before := f.Done()
	f.Complete(1)
	g.Complete(1)
	if after := g.Done(); f.Done() != before || g.Done() != after {
		t.Error("another channel")
	}
}

// The outcome can be read as soon as any method reports that the task is done
// (FutureTask/DoneTimedGetLoops).
func TestFutureOutcomeIsSetBeforeDone(t *testing.T) {
	completions := map[string]struct {
		do    func(*executor.Task[int])
		value int
		err   error
	}{
		"Run":      {func(f *executor.Task[int]) { f.Run(t.Context()) }, 4, nil},
		"Complete": {func(f *executor.Task[int]) { f.Complete(5) }, 5, nil},
		"Fail":     {func(f *executor.Task[int]) { f.Fail(errTask) }, 0, errTask},
		"Cancel":   {func(f *executor.Task[int]) { f.Cancel() }, 0, executor.ErrCanceled},
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range completions {
		for range 200 {
			f := executor.NewTask(value(4))
			go c.do(f)
			for looks := 1; !f.State().Done(); looks++ {
				if looks%1000 == 0 { // this goroutine may have the only processor
					runtime.Gosched()
				}
			}
			v, err := f.Get(ended)
			if v != c.value || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("%s: a task that is done returned %d, %v", name, v, err)
			}
		}
	}
}

// If the context has ended, Get and Join of a task that is not done return its error and cause at
// once; the task is not affected (testGet_Interruptible, testTimedGet_Interruptible,
// testGet_NegativeInfinityTimeout, JDK-8060052).
func TestFutureGetWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range testkit.EndedContexts(t) {
			f := executor.NewPromise[int]()
			v, err := f.Get(c.Ctx)
			joined := f.Join(c.Ctx)
			for _, want := range c.Want {
				if v != 0 || !errors.Is(err, want) || !errors.Is(joined, want) {
					t.Errorf("%s: Get: %d, %v; Join: %v; want %v", name, v, err, joined, want)
				}
			}
			futureIs(t, f, executor.Pending, 0, nil)
		}
	})
}

// Get and Join of a task that is done succeed even if the context has ended
// (FutureTask/DoneMeansDone, JDK-8073704).
func TestFutureGetOfDoneIgnoresContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range testkit.EndedContexts(t) {
			for range 100 { // a select over two ready channels chooses at random
				f := executor.NewPromise[int]()
				f.Done()
				f.Complete(3)
				if v, err := f.Get(c.Ctx); v != 3 || err != nil {
					t.Fatalf("%s: Get: %d, %v", name, v, err)
				}
				if err := f.Join(c.Ctx); err != nil {
					t.Fatalf("%s: Join: %v", name, err)
				}
			}
		}
	})
}

// Get returns the outcome if the task is done in the same instant in which the context ends.
func TestFutureGetPrefersDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			f := executor.NewPromise[int]()
			got := make(chan error, 1)
			go func() {
				_, err := f.Get(ctx)
				got <- err
			}()
			synctest.Wait()
			f.Complete(1)
			cancel()
			if err := <-got; err != nil {
				t.Fatalf("Get: %v, though the task was done before its context", err)
			}
		}
	})
}

// lastMoment is a context that has ended. It completes f when Get calls Done.
type lastMoment struct {
	context.Context
	f *executor.Task[int]
}

func (c lastMoment) Done() <-chan struct{} {
	c.f.Complete(1)
	return c.Context.Done()
}

// Get returns the outcome of a task that is done after Get has looked at it and before Get waits,
// even if the context has ended.
func TestFutureGetPrefersDoneBeforeWait(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		f := executor.NewTask(value(0))
		v, err := f.Get(lastMoment{ended, f})
		if v != 1 || err != nil {
			t.Fatalf("Get: %v, %v, though the task was done before the wait began", v, err)
		}
	}
}

// Get returns at the deadline of its context, not later; the task is not affected
// (testGet_TimeoutException, ExecutorsTest.testTimedCallable).
func TestFutureGetDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, patience := range []time.Duration{1, time.Millisecond, time.Hour} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			f := executor.NewPromise[int]()
			start := time.Now()
			_, err := f.Get(ctx)
			if d := time.Since(start); err != context.DeadlineExceeded || d != patience {
				t.Errorf("Get: %v after %v, want %v", err, d, patience)
			}
			cancel()
			futureIs(t, f, executor.Pending, 0, nil)
		}
	})
}

// Get returns when its context is canceled, with the cause (testInterruptedSubmit).
func TestFutureGetCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := executor.NewPromise[int]()
		time.AfterFunc(time.Minute, func() { cancel(errTask) })
		start := time.Now()
		_, err := f.Get(ctx)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, errTask) || time.Since(start) != time.Minute {
			t.Errorf("Get: %v after %v", err, time.Since(start))
		}
		futureIs(t, f, executor.Pending, 0, nil)
	})
}

// The state shows whether an error of Get is the task's or that of Get's context, even if both are
// the same error.
func TestFutureStateOfEqualErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := executor.NewTask(testkit.Fail(context.DeadlineExceeded))
		f.Run(t.Context())
		g := executor.NewTask(value(0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, f := range []*executor.Task[int]{f, g} {
			if _, err := f.Get(ctx); err != context.DeadlineExceeded {
				t.Errorf("Get: %v", err)
			}
		}
		if f.State() != executor.Failed || g.State() != executor.Pending {
			t.Errorf("%v, %v", f.State(), g.State())
		}
	})
}
