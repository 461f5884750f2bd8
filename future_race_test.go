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

// Of all who complete a task at the same time exactly one wins: it is told so,
// its outcome is everybody's, the callbacks run once, and the body at most once.
func TestOneWinner(t *testing.T) {
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
		var ran, told atomic.Int32
		f := executor.NewFuture(func(context.Context) (int, error) { ran.Add(1); return 1, nil })
		f.OnDone(func() { told.Add(1) })
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
		for range 2 { // those who look may see the outcome only
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
		if winners > 1 || ran.Load() > 1 || told.Load() != 1 || winners == 0 && ran.Load() != 1 {
			t.Fatalf("%d winners, %d runs, told %d times", winners, ran.Load(), told.Load())
		}
	}
}

// A getter always wakes, however close the completion comes to its wait
// (FutureTask/ExplicitSet, JDK-7132378).
func TestGetterAlwaysWakes(t *testing.T) {
	for i := range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(i)
		if v, err := f.Get(t.Context()); v != i || err != nil {
			t.Fatalf("Get: %d, %v, want %d", v, err, i)
		}
	}
}

// A callback is called exactly once, however close the completion comes to its
// registration.
func TestOnDoneRacesCompletion(t *testing.T) {
	for range 2000 {
		f := executor.NewPromise[int]()
		go f.Complete(1)
		told := make(chan struct{}, 2)
		f.OnDone(func() { told <- struct{}{} })
		<-told
		if len(told) != 0 {
			t.Fatal("told twice")
		}
	}
}

// Of callbacks that many register at the same time none is lost, and none is
// called twice.
func TestOnDoneByMany(t *testing.T) {
	const goroutines, each = 8, 200
	f := executor.NewPromise[int]()
	var told [goroutines][each]atomic.Int32
	var wg sync.WaitGroup
	for g := range told {
		wg.Go(func() {
			for i := range told[g] {
				f.OnDone(func() { told[g][i].Add(1) })
			}
		})
	}
	wg.Wait()
	f.Complete(1)
	for g := range told {
		for i := range told[g] {
			if n := told[g][i].Load(); n != 1 {
				t.Fatalf("callback %d of goroutine %d was called %d times", i, g, n)
			}
		}
	}
}

// A body that looks at its context while it is canceled finds it ended, sooner
// or later, whichever comes first.
func TestCancelRacesFirstLook(t *testing.T) {
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

// Runs by RunAndReset never overlap, and none begins after the task was
// canceled (testRunAndResetAfterCancel).
func TestRunAndResetRacesCancel(t *testing.T) {
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
					runtime.Gosched() // the one who cancels may have no other processor
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

// A future that several pools and its maker have in hand at once runs once, and
// its body's context does not change hands meanwhile.
func TestManyExecutorsRace(t *testing.T) {
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

// meanwhile is a context at whose first Err something else happens.
type meanwhile struct {
	context.Context
	happen func()
}

func (m meanwhile) Err() error {
	m.happen()
	return m.Context.Err()
}

// A future that its maker begins to run while a pool is about to reject it keeps
// its context, and its outcome.
func TestRunRacesRejection(t *testing.T) {
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
		p.Execute(meanwhile{own, run}, f) // looks at its context first
		close(gate)
		if v, err := f.Get(t.Context()); v != "own" || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// Whoever asks for the outcome of a task that waits in a pool is told, once,
// however close the task's cancellation comes, and the task is gone from its
// queue then.
func TestCancelRacesAsking(t *testing.T) {
	p := executor.Fixed(1)
	defer p.Close()
	gate := make(chan struct{})
	defer close(gate)
	p.Go(t.Context(), func(context.Context) error { <-gate; return nil })
	for range 2000 {
		f := executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
		var won, told atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if f.Cancel() {
					won.Add(1)
				}
			})
		}
		wg.Go(func() { f.OnDone(func() { told.Add(1) }) })
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
		if won.Load() != 1 || told.Load() != 1 || p.Stats().Queued != 0 {
			t.Fatalf("%d canceled it, told %d times, %d wait", won.Load(), told.Load(), p.Stats().Queued)
		}
	}
}

// A future that is canceled while a pool rejects it, and its policy hands it to
// another, is canceled and never runs; and both pools have nothing left of it.
func TestCancelRacesRejection(t *testing.T) {
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

// Tasks that are canceled while their pool gives back what has not run are
// either given back or not, and have their bodies or nothing to run.
func TestCancelRacesShutdownNow(t *testing.T) {
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
			t.Fatalf("%d ran of %d given back", ran.Load(), len(back))
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
