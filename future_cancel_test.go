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

// A pending task that is canceled or abandoned never runs (testCancelBeforeRun,
// testCancelBeforeRun2, testRunAndResetAfterCancel).
func TestCancelBeforeRun(t *testing.T) {
	for name, cancel := range cancels {
		body, runs, release := testkit.Stuck(1, nil)
		release()
		f := executor.NewFuture(body)
		if !cancel(f) {
			t.Errorf("%s: false for a pending task", name)
		}
		for range 3 {
			if err := f.Run(t.Context()); err != nil {
				t.Errorf("%s: Run: %v", name, err)
			}
			if f.RunAndReset(t.Context()) {
				t.Errorf("%s: RunAndReset: true", name)
			}
		}
		if *runs != 0 {
			t.Errorf("%s: the body ran", name)
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
	}
}

var cancels = map[string]func(*executor.Future[int]) bool{
	"Cancel":  (*executor.Future[int]).Cancel,
	"Abandon": (*executor.Future[int]).Abandon,
}

// Whoever has asked for the end of a task that waits in a queue is told of its
// cancellation, though its submitter's context can't end.
func TestCancelTellsWhoAsked(t *testing.T) {
	for what, ask := range map[string]func(f *executor.Future[int], tell func()){
		"OnDone": func(f *executor.Future[int], tell func()) { f.OnDone(tell) },
		"Done":   func(f *executor.Future[int], tell func()) { c := f.Done(); go func() { <-c; tell() }() },
		"Get":    func(f *executor.Future[int], tell func()) { go func() { f.Get(context.Background()); tell() }() },
		"Join":   func(f *executor.Future[int], tell func()) { go func() { f.Join(context.Background()); tell() }() },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, executor.Config{Core: 1})
			newBlocker(t).Fill(t, p, 1)
			f := executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
			told := 0
			ask(f, func() { told++ })
			synctest.Wait()
			expect(t, what+" before", told, 0)
			f.Cancel()
			synctest.Wait()
			expect(t, what+" after", told, 1)
		})
	}
}

// A task that is done can't be canceled (testCancelAfterRun,
// testCancelAfterRun2).
func TestCancelAfterRun(t *testing.T) {
	for name, cancel := range cancels {
		f := executor.NewFuture(value(1))
		f.Run(t.Context())
		if cancel(f) {
			t.Errorf("%s: true for a task that is done", name)
		}
		futureIs(t, f, executor.Succeeded, 1, nil)
	}
}

// Cancel completes a running task at once and ends its body's context, with the
// cause ErrCanceled; whatever the body then does is discarded
// (testCancelInterrupt, testCancelInterrupt_taskFails, SubmitTest WithCancelTrue).
func TestCancelEndsContext(t *testing.T) {
	for name, end := range map[string]func() (int, error){
		"returns": func() (int, error) { return 1, nil },
		"fails":   func() (int, error) { return 0, errTask },
		"panics":  func() (int, error) { panic("late") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var err, cause error
				f := executor.NewFuture(func(ctx context.Context) (int, error) {
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
					t.Errorf("the body saw %v, cause %v", err, cause)
				}
			})
		})
	}
}

// Abandon completes a running task at once and leaves its body undisturbed, to
// the end (testCancelNoInterrupt, SubmitTest WithCancelFalse).
func TestAbandonLeavesContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disturbed error
		f := executor.NewFuture(func(ctx context.Context) (int, error) {
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
			t.Errorf("the body's context ended: %v", disturbed)
		}
		futureIs(t, f, executor.Canceled, 0, executor.ErrCanceled)
	})
}

// A body that looks at its context for the first time after Cancel finds it
// ended; after Abandon, it does not.
func TestFirstLookAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, cancel := range cancels {
			gate := make(chan struct{})
			var err, cause error
			f := executor.NewFuture(func(ctx context.Context) (int, error) {
				<-gate
				err, cause = ctx.Err(), context.Cause(ctx)
				return 0, nil
			})
			go f.Run(t.Context())
			synctest.Wait()
			cancel(f)
			close(gate)
			f.Join(t.Context())
			if canceled := name == "Cancel"; canceled != (err == context.Canceled) || canceled != (cause == executor.ErrCanceled) {
				t.Errorf("%s: the body saw %v, cause %v", name, err, cause)
			}
		}
	})
}

// A body may cancel its own task.
func TestCancelByBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *executor.Future[int]
		var ok bool
		var cause error
		f = executor.NewFuture(func(ctx context.Context) (int, error) {
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

// Get returns at once after Cancel, Join when the body has returned.
func TestJoinWaitsForBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := executor.NewFuture(func(context.Context) (int, error) {
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
		for range 2 { // the second finds the body gone
			if err := f.Join(t.Context()); err != nil || time.Since(start) != time.Hour {
				t.Errorf("Join: %v at %v", err, time.Since(start))
			}
		}
	})
}

// Any number of goroutines can join, before and after the task is done.
func TestManyJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _, release := testkit.Stuck(1, nil)
		f := executor.NewFuture(body)
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
			t.Errorf("%d joined while the body ran", len(joined))
		}
		release()
		synctest.Wait()
		if len(joined) != 10 {
			t.Errorf("%d of 10 joined", len(joined))
		}
	})
}

// Join tells that the body has returned, not how: it returns nil for every
// outcome.
func TestJoinReturnsNil(t *testing.T) {
	for name, f := range map[string]*executor.Future[int]{
		"value": executor.NewFuture(value(1)),
		"error": executor.NewFuture(testkit.Fail(errTask)),
		"panic": executor.NewFuture(func(context.Context) (int, error) { panic("x") }),
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

// The holder of a contended lock completes though all who wait for it are
// canceled, and those end as canceled (FutureTask/CancelledFutureLoops,
// JDK-4486658).
func TestCancelContenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 16
		p := newPool(t, executor.Config{Core: n})
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
		synctest.Wait() // a task is counted after its body has returned
		if s := p.Stats(); s.Succeeded != 1 || s.Canceled != n-1 {
			t.Errorf("%+v", s)
		}
	})
}
