package executor_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// All who wait, with a bound and without, get the value when another goroutine
// runs the task (testGetRun).
func TestGetWaitsForRun(t *testing.T) {
	waiters(t, executor.NewFuture(constant(6)), func(f *executor.Future[int]) { f.Run(context.Background()) },
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
	waiters(t, executor.NewFuture(failing(errBody)), func(f *executor.Future[int]) { f.Run(context.Background()) },
		executor.Failed, 0, errBody)
}

// Cancel and Abandon wake all who wait (testTimedGet_Cancellation).
func TestGetWaitsForCancel(t *testing.T) {
	waiters(t, executor.NewFuture(constant(6)), func(f *executor.Future[int]) { f.Cancel() },
		executor.Canceled, 0, executor.ErrCanceled)
	waiters(t, executor.NewFuture(constant(6)), func(f *executor.Future[int]) { f.Abandon() },
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

// endedContexts are contexts that have ended, in every way there is, with what
// an error that they cause must match.
func endedContexts(t *testing.T) map[string]struct {
	ctx  context.Context
	want []error
} {
	errCause := errors.New("a cause of its own")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, end := context.WithCancelCause(t.Context())
	end(errCause)
	expired, cancel := context.WithDeadline(t.Context(), time.Now())
	t.Cleanup(cancel)
	negative, cancel := context.WithTimeout(t.Context(), math.MinInt64)
	t.Cleanup(cancel)
	blamed, cancel := context.WithTimeoutCause(t.Context(), -1, errCause)
	t.Cleanup(cancel)
	child, cancel := context.WithCancel(caused)
	t.Cleanup(cancel)
	return map[string]struct {
		ctx  context.Context
		want []error
	}{
		"canceled":                 {canceled, []error{context.Canceled}},
		"canceled with a cause":    {caused, []error{context.Canceled, errCause}},
		"child of it":              {child, []error{context.Canceled, errCause}},
		"expired":                  {expired, []error{context.DeadlineExceeded}},
		"expired long ago":         {negative, []error{context.DeadlineExceeded}},
		"expired with a cause":     {blamed, []error{context.DeadlineExceeded, errCause}},
		"canceled after its child": {canceledWithTimeout(t), []error{context.DeadlineExceeded}},
	}
}

// canceledWithTimeout gives a context that expired before it was canceled.
func canceledWithTimeout(t *testing.T) context.Context {
	parent, cancel := context.WithCancel(t.Context())
	ctx, stop := context.WithTimeout(parent, 0)
	t.Cleanup(stop)
	cancel()
	return ctx
}

// With a context that has ended, Get and Join of a task that is not done return
// the context's error and its cause at once, and the task goes on
// (testGet_Interruptible, testTimedGet_Interruptible,
// testGet_NegativeInfinityTimeout, JDK-8060052).
func TestGetWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range endedContexts(t) {
			f := executor.NewPromise[int]()
			v, err := f.Get(c.ctx)
			joined := f.Join(c.ctx)
			for _, want := range c.want {
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
		for name, c := range endedContexts(t) {
			for range 100 { // a select over two ready channels chooses at random
				f := executor.NewPromise[int]()
				f.Done()
				f.Complete(3)
				if v, err := f.Get(c.ctx); v != 3 || err != nil {
					t.Fatalf("%s: Get: %d, %v", name, v, err)
				}
				if err := f.Join(c.ctx); err != nil {
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
		time.AfterFunc(time.Minute, func() { cancel(errBody) })
		start := time.Now()
		_, err := f.Get(ctx)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, errBody) || time.Since(start) != time.Minute {
			t.Errorf("Get: %v after %v", err, time.Since(start))
		}
		futureIs(t, f, executor.Pending, 0, nil)
	})
}

// State tells an error of the task from one of the waiter's context, even if
// the two look alike.
func TestOwnErrorOrContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := executor.NewFuture(failing(context.DeadlineExceeded))
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
		"Fail":     {func(f *executor.Future[int]) { f.Fail(errBody) }, 0, errBody},
		"Cancel":   {func(f *executor.Future[int]) { f.Cancel() }, 0, executor.ErrCanceled},
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range completions {
		for range 200 {
			f := executor.NewFuture(constant(4))
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
