package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// Of all calls that complete a task at the same time exactly one returns true: its outcome is the
// only one, callbacks run once, the task function at most once.
func TestFutureRaceOneWinner(t *testing.T) {
	contenders := []struct {
		name  string
		try   func(*executor.Future[int]) bool // reports whether it won, for certain
		state executor.State
		value int
		err   error
	}{
		{"Cancel", func(f *executor.Future[int]) bool { return f.Cancel() }, executor.Canceled, 0, executor.ErrCanceled},
		{"Abandon", func(f *executor.Future[int]) bool { return f.Abandon() }, executor.Canceled, 0, executor.ErrCanceled},
		{"Complete", func(f *executor.Future[int]) bool { return f.Complete(2) }, executor.Succeeded, 2, nil},
		{"Fail", func(f *executor.Future[int]) bool { return f.Fail(errTask) }, executor.Failed, 0, errTask},
	}
	for range 500 {
		var ran, called atomic.Int32
		f := executor.NewFuture(func(context.Context) (int, error) { ran.Add(1); return 1, nil })
		f.OnDone(func() { called.Add(1) })
		won := make([]bool, len(contenders))
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, i := range rand.Perm(len(contenders)) {
			wg.Go(func() {
				<-start
				won[i] = contenders[i].try(f)
			})
		}
		for range 2 {
			wg.Go(func() {
				<-start
				f.Run(t.Context())
			})
		}
		for range 2 { // Get returns the final outcome, or none
			wg.Go(func() {
				<-start
				v, err := f.Get(t.Context())
				if v2, err2 := f.Result(); v != v2 || err != err2 {
					t.Errorf("%d, %v turned into %d, %v", v, err, v2, err2)
				}
			})
		}
		close(start)
		wg.Wait()

		winners := 0
		for i, c := range contenders {
			if won[i] {
				winners++
				futureIs(t, f, c.state, c.value, c.err)
			}
		}
		if winners == 0 {
			futureIs(t, f, executor.Succeeded, 1, nil)
		}
		if winners > 1 || ran.Load() > 1 || called.Load() != 1 || winners == 0 && ran.Load() != 1 {
			t.Fatalf("%d winners, %d runs, %d calls of the callback", winners, ran.Load(), called.Load())
		}
	}
}

// Get returns however close the completion comes to its wait (FutureTask/ExplicitSet, JDK-7132378).
func TestFutureRaceGetComplete(t *testing.T) {
	for i := range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(i)
		if v, err := f.Get(t.Context()); v != i || err != nil {
			t.Fatalf("Get: %d, %v, want %d", v, err, i)
		}
	}
}

// A callback runs exactly once, however close the completion comes to its registration.
func TestFutureRaceOnDoneComplete(t *testing.T) {
	for range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(1)
		called := make(chan struct{}, 2)
		f.OnDone(func() { called <- struct{}{} })
		<-called
		if len(called) != 0 {
			t.Fatal("the callback was called twice")
		}
	}
}

// Of callbacks that many goroutines register at the same time none is lost, and none runs twice.
func TestFutureRaceOnDone(t *testing.T) {
	const goroutines, each = 8, 200
	f := executor.NewPromise[int]()
	var called [goroutines][each]atomic.Int32
	var wg sync.WaitGroup
	for g := range called {
		wg.Go(func() {
			for i := range called[g] {
				f.OnDone(func() { called[g][i].Add(1) })
			}
		})
	}
	wg.Wait()
	f.Complete(1)
	for g := range called {
		for i := range called[g] {
			if n := called[g][i].Load(); n != 1 {
				t.Fatalf("callback %d of goroutine %d was called %d times", i, g, n)
			}
		}
	}
}

// A task function that uses its context for the first time while it is canceled finds it ended
// sooner or later.
func TestFutureRaceCancelFirstUseOfContext(t *testing.T) {
	for range 1000 {
		begun := make(chan struct{})
		f := executor.NewFuture(func(ctx context.Context) (int, error) {
			close(begun)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { <-ctx.Done() })
			}
			wg.Wait()
			if cause := context.Cause(ctx); cause != executor.ErrCanceled {
				t.Errorf("cause: %v", cause)
			}
			return 0, nil
		})
		go f.Run(t.Context())
		<-begun
		f.Cancel()
		f.Join(t.Context())
	}
}

// Calls of RunAndReset never overlap, and no run begins after the task was canceled
// (testRunAndResetAfterCancel).
func TestFutureRaceRunAndResetCancel(t *testing.T) {
	for range 200 {
		var inside, overlaps, late atomic.Int32
		var canceled atomic.Bool
		f := executor.NewFuture(func(context.Context) (int, error) {
			if inside.Add(1) > 1 {
				overlaps.Add(1)
			}
			if canceled.Load() {
				late.Add(1)
			}
			inside.Add(-1)
			return 0, nil
		})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for !f.State().Done() {
					f.RunAndReset(t.Context())
					runtime.Gosched() // the goroutine that cancels may need this processor
				}
			})
		}
		wg.Go(func() {
			f.Cancel()
			f.Join(t.Context())
			canceled.Store(true)
		})
		wg.Wait()
		if overlaps.Load() > 0 || late.Load() > 0 {
			t.Fatalf("%d overlaps, %d late", overlaps.Load(), late.Load())
		}
		if !errors.Is(f.Err(), executor.ErrCanceled) {
			t.Fatalf("outcome: %v", f.Err())
		}
	}
}

// A future that two pools and Run get at the same time runs once, and its context does not change
// during the run.
func TestFutureRaceExecutors(t *testing.T) {
	p, q := executor.Fixed(2), executor.Fixed(2)
	defer p.Close()
	defer q.Close()
	for i := range 300 {
		var runs atomic.Int32
		f := executor.NewFuture(func(ctx context.Context) (int, error) {
			runs.Add(1)
			for range 10 {
				ctx.Value(contextKey{})
				ctx.Deadline()
			}
			return i, ctx.Err()
		})
		var wg sync.WaitGroup
		wg.Go(func() { p.Execute(t.Context(), f) })
		wg.Go(func() { q.Execute(context.Background(), f) })
		wg.Go(func() { f.Run(t.Context()) })
		wg.Wait()
		if v, err := f.Get(t.Context()); v != i || err != nil || runs.Load() != 1 {
			t.Fatalf("%d, %v, after %d runs", v, err, runs.Load())
		}
	}
}

// OnDone, Get and Done of a task in a queue learn of its cancellation, once, however close that
// comes; then the task has left the queue.
func TestFutureRaceCancelWaiters(t *testing.T) {
	p := executor.Fixed(1)
	defer p.Close()
	gate := make(chan struct{})
	defer close(gate)
	p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
	for range 2000 {
		f := executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
		var won, called atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if f.Cancel() {
					won.Add(1)
				}
			})
		}
		wg.Go(func() { f.OnDone(func() { called.Add(1) }) })
		wg.Go(func() {
			if _, err := f.Get(t.Context()); !errors.Is(err, executor.ErrCanceled) {
				t.Errorf("Get: %v", err)
			}
			select {
			case <-f.Done():
			default:
				t.Error("the channel of a task that is done is open")
			}
		})
		wg.Wait()
		if won.Load() != 1 || called.Load() != 1 || p.Stats().Queued != 0 {
			t.Fatalf("%d calls canceled it, %d calls of the callback, %d tasks wait", won.Load(), called.Load(), p.Stats().Queued)
		}
	}
}

// A future that is canceled while a rejection policy hands it to another pool is canceled and never
// runs, and neither pool keeps it.
func TestFutureRaceCancelRejection(t *testing.T) {
	q := executor.Fixed(1)
	defer q.Close()
	p := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(),
		Reject: executor.RejectFunc(func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error { return q.Execute(ctx, r) })})
	gate := make(chan struct{})
	defer close(gate)
	for _, p := range []*executor.Pool{p, q} {
		p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
	}
	for range 2000 {
		f := executor.NewFuture(func(context.Context) (int, error) { t.Error("it ran"); return 1, nil })
		var wg sync.WaitGroup
		wg.Go(func() { p.Execute(context.Background(), f) })
		wg.Go(func() { f.Cancel() })
		wg.Wait()
		if !errors.Is(f.Err(), executor.ErrCanceled) || p.Stats().Queued != 0 {
			t.Fatalf("%v, %d wait", f.Err(), p.Stats().Queued)
		}
	}
}

// A task that is canceled during ShutdownNow is returned by it or not, and one that is returned has
// its function or nothing to run.
func TestFutureRaceCancelShutdownNow(t *testing.T) {
	for range 200 {
		p := executor.Fixed(1)
		gate := make(chan struct{})
		p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
		var ran atomic.Int32
		var futures [20]*executor.Future[int]
		for i := range futures {
			futures[i] = executor.Submit(context.Background(), p, func(context.Context) (int, error) { ran.Add(1); return 1, nil })
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for _, f := range futures {
				f.Cancel()
			}
		})
		back := p.ShutdownNow()
		wg.Wait()
		for _, u := range back {
			u.Run(t.Context())
		}
		if int(ran.Load()) > len(back) {
			t.Fatalf("%d ran, %d were returned", ran.Load(), len(back))
		}
		for _, f := range futures {
			if !errors.Is(f.Err(), executor.ErrCanceled) && !errors.Is(f.Err(), executor.ErrShutdown) {
				t.Fatalf("outcome: %v", f.Err())
			}
		}
		close(gate)
		p.Close()
	}
}

// meanwhile is a context that calls happen whenever Err is called.
type meanwhile struct {
	context.Context
	happen func()
}

func (m meanwhile) Err() error {
	m.happen()
	return m.Context.Err()
}

// A future that is run by Run while a pool is about to reject it keeps its context and its outcome.
func TestFutureRunDuringRejection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(),
			Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return nil })})
		newBlocker(t).Fill(t, p, 1)
		gate := make(chan struct{})
		f := executor.NewFuture(func(ctx context.Context) (any, error) {
			<-gate
			return ctx.Value(contextKey{}), ctx.Err()
		})
		own := context.WithValue(t.Context(), contextKey{}, "own")
		run := sync.OnceFunc(func() {
			go f.Run(own)
			synctest.Wait()
		})
		p.Execute(meanwhile{own, run}, f) // it calls Err of the context first
		close(gate)
		if v, err := f.Get(t.Context()); v != "own" || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	})
}
