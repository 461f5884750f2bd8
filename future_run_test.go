package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Run runs the body in the calling goroutine, once, and returns the body's
// error (testIsDone).
func TestRunByCaller(t *testing.T) {
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
		t.Errorf("the body ran %d times", runs)
	}
	futureIs(t, f, executor.Failed, 1, errTask)
}

// While the body is running a second Run and RunAndReset do nothing
// (testTimedGet_Cancellation).
func TestRunWhileRunning(t *testing.T) {
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
			t.Errorf("the body ran %d times", *runs)
		}
	})
}

// RunAndReset runs the body each time, keeps no value, and leaves the task
// pending with nobody told (testRunAndReset, FutureTask/Customized).
func TestRunAndReset(t *testing.T) {
	runs, told := 0, 0
	f := executor.NewFuture(func(context.Context) (int, error) { runs++; return runs, nil })
	f.OnDone(func() { told++ })
	for i := range 3 {
		if !f.RunAndReset(t.Context()) {
			t.Error("RunAndReset: false")
		}
		if runs != i+1 || told != 0 {
			t.Errorf("%d runs, told %d times", runs, told)
		}
		futureIs(t, f, executor.Pending, 0, nil)
	}
	f.Run(t.Context())
	futureIs(t, f, executor.Succeeded, 4, nil)
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// An error or a panic ends the series of runs by RunAndReset.
func TestRunAndResetFails(t *testing.T) {
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

// A task that is completed during a run by RunAndReset is not pending again.
func TestRunAndResetCompletedMeanwhile(t *testing.T) {
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

// Each run by RunAndReset has a context of its own, which has ended after it: a
// context leaked from one run is not revived by the next (the 2011 rewrite of
// FutureTask: cancel must not hit the next task).
func TestRunsHaveTheirOwnContexts(t *testing.T) {
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

// A Run after RunAndReset can be canceled as any other.
func TestCancelRunAfterReset(t *testing.T) {
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

// OnDone callbacks run once, in the order of registration, by the goroutine that
// completes the task, when its outcome is there (testIsDone: the done hook,
// FutureTask/Customized, JDK-6464365).
func TestOnDone(t *testing.T) {
	for name, c := range map[string]struct {
		complete func(context.Context, *executor.Future[int])
		want     executor.State
	}{
		"Run":         {func(ctx context.Context, f *executor.Future[int]) { f.Run(ctx) }, executor.Succeeded},
		"RunAndReset": {func(ctx context.Context, f *executor.Future[int]) { f.Cancel(); f.RunAndReset(ctx) }, executor.Canceled},
		"Complete":    {func(_ context.Context, f *executor.Future[int]) { f.Complete(1) }, executor.Succeeded},
		"Fail":        {func(_ context.Context, f *executor.Future[int]) { f.Fail(errTask) }, executor.Failed},
		"Cancel":      {func(_ context.Context, f *executor.Future[int]) { f.Cancel() }, executor.Canceled},
		"Abandon":     {func(_ context.Context, f *executor.Future[int]) { f.Abandon() }, executor.Canceled},
		"rejection": {func(ctx context.Context, f *executor.Future[int]) {
			p := executor.Fixed(1)
			p.Close()
			p.Execute(ctx, f)
		}, executor.Failed},
	} {
		f := executor.NewFuture(value(1))
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
			t.Errorf("%s: told before it was done", name)
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

// On a task that is done OnDone calls at once.
func TestOnDoneWhenDone(t *testing.T) {
	f := executor.NewPromise[int]()
	f.Complete(1)
	told := false
	f.OnDone(func() { told = true })
	if !told {
		t.Error("not told")
	}
}

// A callback may register further ones, ask and cancel the future: no lock is
// held.
func TestOnDoneReenters(t *testing.T) {
	f := executor.NewPromise[int]()
	told := 0
	f.OnDone(func() {
		f.Cancel()
		f.Complete(2)
		f.OnDone(func() { told++ })
		if v, _ := f.Get(t.Context()); v != 1 {
			t.Errorf("Get: %d", v)
		}
		told++
	})
	f.Complete(1)
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}

// If a callback panics, against the rules, the panic is its caller's, and the
// outcome stands: it was final before (JDK-6415572,
// testCancelInterrupt_ThrowsSecurityException).
func TestOnDonePanics(t *testing.T) {
	for name, c := range map[string]struct {
		complete func(*executor.Future[int])
		want     executor.State
	}{
		"Run":    {func(f *executor.Future[int]) { f.Run(t.Context()) }, executor.Succeeded},
		"Cancel": {func(f *executor.Future[int]) { f.Cancel() }, executor.Canceled},
	} {
		f := executor.NewFuture(value(1))
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

// Done gives the same channel each time, before and after the task is done.
func TestDoneIsOneChannel(t *testing.T) {
	f, g := executor.NewPromise[int](), executor.NewPromise[int]()
	before := f.Done()
	f.Complete(1)
	g.Complete(1)
	if after := g.Done(); f.Done() != before || g.Done() != after {
		t.Error("another channel")
	}
}

// What an error handler needs is there: the outcome of a body is what it
// returned, be it an error that this package uses itself.
func TestOwnErrorsAsOutcome(t *testing.T) {
	for _, err := range []error{executor.ErrCanceled, executor.ErrNotDone, executor.Stop, context.Canceled, errors.ErrUnsupported} {
		f := executor.NewFuture(testkit.Fail(err))
		f.Run(t.Context())
		if f.State() != executor.Failed || f.Err() != err {
			t.Errorf("%v: %v, %v", err, f.State(), f.Err())
		}
	}
}
