package executor_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// A body that first looks at its context after ShutdownNow has returned finds
// it ended, also if the submitter's context can end by itself.
func TestContextFirstLookedAtAfterShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		pool := executor.Fixed(1)
		stopped := make(chan struct{})
		seen := executor.Submit(ctx, pool, func(ctx context.Context) (error, error) {
			<-stopped
			return ctx.Err(), nil
		})
		synctest.Wait()
		pool.ShutdownNow()
		close(stopped)
		if err, _ := seen.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx.Err() = %v after ShutdownNow, want context.Canceled", err)
		}
		pool.Close()
	})
}

// meetingContext never ends. Once it is open, the first two calls of Value wait
// for each other.
type meetingContext struct {
	context.Context
	open    atomic.Bool
	callers atomic.Int32
	met     sync.WaitGroup
}

func (c *meetingContext) Value(key any) any {
	if c.open.Load() && c.callers.Add(1) <= 2 {
		c.met.Done()
		c.met.Wait()
	}
	return c.Context.Value(key)
}

// Two goroutines of a body that are the first to look at its context, both at
// the same time, get the same one: a cancellation ends it for both.
func TestContextLookedAtByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		parent := &meetingContext{Context: context.Background()}
		parent.met.Add(2)
		f := executor.Submit(parent, pool, func(ctx context.Context) (struct{}, error) {
			parent.open.Store(true)
			var lookers sync.WaitGroup
			for range 2 {
				lookers.Go(func() { <-ctx.Done() })
			}
			lookers.Wait()
			return struct{}{}, nil
		})
		synctest.Wait()
		if n := parent.callers.Load(); n < 2 {
			t.Fatalf("%d lookers met", n)
		}
		f.Cancel()
		synctest.Wait()
		if s := pool.Stats(); s.Active != 0 {
			t.Error("a looker's context did not end")
			pool.ShutdownNow()
		}
	})
}

// silentContext ends without telling those who watch it.
type silentContext struct {
	context.Context
	over bool
}

func (c *silentContext) Done() <-chan struct{} { return make(chan struct{}) }

func (c *silentContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func (c *silentContext) Err() error {
	if c.over {
		return context.Canceled
	}
	return nil
}

// A worker asks for the end of the submitter's context itself: the watch over it
// may be late.
func TestContextThatEndedUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx, ran := &silentContext{Context: context.Background()}, false
		f := executor.Submit(ctx, pool, func(context.Context) (int, error) { ran = true; return 1, nil })
		ctx.over = true
		block.Release()
		synctest.Wait()
		expect(t, "State", f.State(), executor.Canceled)
		expect(t, "ran", ran, false)
	})
}
