package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// All who wait, with a bound and without, get the value when another goroutine
// runs the task (testGetRun).
func TestGetWaitsForRun(t *testing.T) {
	waiters(t, executor.NewFuture(value(6)), func(f *executor.Future[int]) { f.Run(context.Background()) },
		executor.Succeeded, 6, nil)
}

// All who wait get the value that is set by hand (testGetSet,
// FutureTask/ExplicitSet, JDK-7132378).
func TestGetWaitsForComplete(t *testing.T) {
	waiters(t, executor.NewPromise[int](), func(f *executor.Future[int]) { f.Complete(6) },
		executor.Succeeded, 6, nil)
}

// All who wait get the body's error (testGet_ExecutionException,
// testTimedGet_ExecutionException2).
func TestGetWaitsForFailure(t *testing.T) {
	waiters(t, executor.NewFuture(testkit.Fail(errTask)), func(f *executor.Future[int]) { f.Run(context.Background()) },
		executor.Failed, 0, errTask)
}

// Cancel and Abandon wake all who wait (testTimedGet_Cancellation).
func TestGetWaitsForCancel(t *testing.T) {
	waiters(t, executor.NewFuture(value(6)), func(f *executor.Future[int]) { f.Cancel() },
		executor.Canceled, 0, executor.ErrCanceled)
	waiters(t, executor.NewFuture(value(6)), func(f *executor.Future[int]) { f.Abandon() },
		executor.Canceled, 0, executor.ErrCanceled)
}

// waiters has goroutines wait for f in every way, and checks what they get once
// f has been completed, which must take no time.
func waiters(t *testing.T, f *executor.Future[int], complete func(*executor.Future[int]), s executor.State, v int, want error) {
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

// With a context that has ended, Get and Join of a task that is not done return
// the context's error and its cause at once, and the task goes on
// (testGet_Interruptible, testTimedGet_Interruptible,
// testGet_NegativeInfinityTimeout, JDK-8060052).
func TestGetWithEndedContext(t *testing.T) {
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

// Done beats everything: a task that is done gives its outcome whatever the
// state of the context (FutureTask/DoneMeansDone, JDK-8073704).
func TestDoneMeansDone(t *testing.T) {
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

// Done beats the end of the context also if both come in the same instant, to a
// waiter that waits already.
func TestDoneWinsATie(t *testing.T) {
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

// A bound of the wait holds to the instant, and the task goes on
// (testGet_TimeoutException, ExecutorsTest.testTimedCallable).
func TestGetTimesOut(t *testing.T) {
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

// A context that is canceled while Get waits ends the wait, with the cause
// (testInterruptedSubmit).
func TestGetIsInterruptible(t *testing.T) {
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

// State tells an error of the task from one of the waiter's context, even if
// the two look alike.
func TestOwnErrorOrContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := executor.NewFuture(testkit.Fail(context.DeadlineExceeded))
		f.Run(t.Context())
		g := executor.NewPromise[int]()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, f := range []*executor.Future[int]{f, g} {
			if _, err := f.Get(ctx); err != context.DeadlineExceeded {
				t.Errorf("Get: %v", err)
			}
		}
		if f.State() != executor.Failed || g.State() != executor.Pending {
			t.Errorf("%v, %v", f.State(), g.State())
		}
	})
}

// The outcome is there before anybody can see that the task is done
// (FutureTask/DoneTimedGetLoops).
func TestOutcomeBeforeDone(t *testing.T) {
	completions := map[string]struct {
		do    func(*executor.Future[int])
		value int
		err   error
	}{
		"Run":      {func(f *executor.Future[int]) { f.Run(t.Context()) }, 4, nil},
		"Complete": {func(f *executor.Future[int]) { f.Complete(5) }, 5, nil},
		"Fail":     {func(f *executor.Future[int]) { f.Fail(errTask) }, 0, errTask},
		"Cancel":   {func(f *executor.Future[int]) { f.Cancel() }, 0, executor.ErrCanceled},
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range completions {
		for range 200 {
			f := executor.NewFuture(value(4))
			go c.do(f)
			for looks := 1; !f.State().Done(); looks++ {
				if looks%1000 == 0 { // who looks may have the only processor, and keep it
					runtime.Gosched()
				}
			}
			v, err := f.Get(ended)
			if v != c.value || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("%s: a done task gave %d, %v", name, v, err)
			}
		}
	}
}
