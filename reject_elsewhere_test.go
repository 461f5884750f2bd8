package executor_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A task that Decorate showed to others may be asked for its time while the
// pool turns it away.
func TestRejectedTaskIsListed(t *testing.T) {
	var listing sync.WaitGroup
	p := newScheduled(t, executor.ScheduledConfig{
		Core:   1,
		Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return errTask }),
		Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			begun := make(chan struct{})
			listing.Go(func() {
				task.Next()
				close(begun)
				for range 1000 {
					task.Next()
				}
			})
			<-begun
			return task
		},
	})
	p.Shutdown()
	for range 20 {
		p.AtFixedRate(context.Background(), time.Hour, time.Hour, func(context.Context) error { return nil })
	}
	listing.Wait()
}

// Whoever asks such a task when it is due gets that time or, once it was turned away,
// none: not that time on the other clock.
func TestRejectedTaskIsNotDueElsewhen(t *testing.T) {
	var shown atomic.Pointer[executor.ScheduledTask]
	p := newScheduled(t, executor.ScheduledConfig{
		Core:   1,
		Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return errTask }),
		Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			shown.Store(&task)
			return task
		},
	})
	p.Shutdown()
	at := time.Now().Add(time.Hour).Round(0)
	executor.At(t.Context(), p, at, value(1))
	over := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for !isClosed(over) {
			if next := (*shown.Load()).Next(); !next.IsZero() && !next.Equal(at) {
				t.Errorf("due at %v, not at %v", next, at)
				return
			}
		}
	})
	for range 5000 {
		executor.At(t.Context(), p, at, value(1))
	}
	close(over)
	asking.Wait()
}

// A future that is canceled while one pool hands it on to another leaves the
// tasks of the first alone.
func TestCanceledOnItsWayToAnotherPool(t *testing.T) {
	second := newPool(t, executor.Config{Core: 1})
	first := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1),
		Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return second.Execute(ctx, task)
		})})
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	wait := func(context.Context) error { <-hold; return nil }
	first.Go(context.Background(), wait)
	second.Go(context.Background(), wait)
	victim := executor.Submit(context.Background(), first, value(1))

	stop := make(chan struct{})
	var noise sync.WaitGroup
	for _, p := range []*executor.Pool{first, second} {
		for range 2 {
			noise.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						p.Stats()
						runtime.Gosched() // js/wasm preempts nobody
					}
				}
			})
		}
	}
	defer noise.Wait()
	defer close(stop)
	end := time.Now().Add(500 * time.Millisecond)
	for i := 0; time.Now().Before(end); i++ {
		f := executor.NewFuture(value(1))
		var cancel sync.WaitGroup
		cancel.Go(func() { f.Cancel() })
		first.Execute(context.Background(), f)
		cancel.Wait()
		if s := first.Stats(); s.Queued != 1 {
			t.Fatalf("after %d futures: %d tasks wait in the first pool, want the victim, which is %v", i, s.Queued, victim.State())
		}
	}
}

// A task that is run by the policy that decides about it has nothing to do with the
// pool that refused it: its context does not end with that, be it the simplest task
// or one with a name.
func TestRefusedTaskOutlivesThePool(t *testing.T) {
	for _, opts := range [][]executor.Option{nil, {executor.Named("named")}} {
		p := newPool(t, executor.Config{Core: 1,
			Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
				return task.Run(ctx)
			})})
		p.ShutdownNow()
		f := executor.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return 1, ctx.Err() }, opts...)
		if _, err := f.Get(context.Background()); err != nil {
			t.Errorf("with %d options: %v", len(opts), err)
		}
	}
}

// A policy of this package takes a plain Runnable into a scheduled pool, too, if it
// is asked when there is room.
func TestPolicyTakesIntoScheduledPool(t *testing.T) {
	for _, policy := range []executor.RejectPolicy{executor.Block, executor.DiscardOldest} {
		synctest.Test(t, func(t *testing.T) {
			p, err := executor.NewScheduled(executor.ScheduledConfig{Core: 1})
			if err != nil {
				t.Fatal(err)
			}
			ran := false
			err = policy.Reject(t.Context(), executor.Func(func(context.Context) error { ran = true; return nil }), p.Pool)
			p.Close()
			if err != nil || !ran {
				t.Errorf("%v: %v, ran: %v", policy, err, ran)
			}
		})
	}
}
