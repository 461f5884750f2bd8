package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// A task whose submitter's context never ends costs no allocation, and a future
// costs itself only. Outside of a bubble, as the property is the runtime's.
func TestPoolAllocations(t *testing.T) {
	pool := testkit.Closing(t, executor.Fixed(1))
	ctx := context.Background()
	ran := make(chan struct{})
	body := func(context.Context) error { ran <- struct{}{}; return nil }
	task := executor.Func(body)
	result := func(context.Context) (int, error) { ran <- struct{}{}; return 1, nil }
	for name, c := range map[string]struct {
		submit func()
		want   float64
	}{
		"Go":      {func() { pool.Go(ctx, body) }, 0},
		"Execute": {func() { pool.Execute(ctx, task) }, 0},
		"Submit":  {func() { executor.Submit(ctx, pool, result) }, 1},
	} {
		if got := testing.AllocsPerRun(1000, func() { c.submit(); <-ran }); got > c.want {
			t.Errorf("%s: %v allocations, want %v", name, got, c.want)
		}
	}
}

// What a task holds is free once it has run, was canceled, removed or discarded:
// neither a worker, nor the queue, nor the future keeps it.
func TestPoolRetainsNothing(t *testing.T) {
	type large [1 << 16]byte
	for name, use := range map[string]func(pool *executor.Pool, block *testkit.Blocker, body func(context.Context) (int, error)) any{
		"ran": func(pool *executor.Pool, block *testkit.Blocker, body func(context.Context) (int, error)) any {
			f := executor.Submit(context.Background(), pool, body)
			block.Release()
			f.Join(context.Background())
			return f
		},
		"canceled in the queue": func(pool *executor.Pool, _ *testkit.Blocker, body func(context.Context) (int, error)) any {
			f := executor.Submit(context.Background(), pool, body)
			f.Cancel()
			return f
		},
		"removed": func(pool *executor.Pool, _ *testkit.Blocker, body func(context.Context) (int, error)) any {
			f := executor.Submit(context.Background(), pool, body)
			pool.Remove(f)
			return f
		},
		"plain": func(pool *executor.Pool, block *testkit.Blocker, body func(context.Context) (int, error)) any {
			pool.Go(context.Background(), func(ctx context.Context) error { body(ctx); return nil })
			block.Release()
			return nil
		},
		"given back": func(pool *executor.Pool, block *testkit.Blocker, body func(context.Context) (int, error)) any {
			f := executor.Submit(context.Background(), pool, body)
			block.Release()
			pool.ShutdownNow()
			return f
		},
		"discarded": func(pool *executor.Pool, _ *testkit.Blocker, body func(context.Context) (int, error)) any {
			f := executor.Submit(context.Background(), pool, body)
			for range 4 {
				executor.Submit(context.Background(), pool, value(1))
			}
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(4), Reject: executor.DiscardOldest})
				block := newBlocker(t)
				mustGo(t, pool, block.Run)
				held := new(large)
				gone := weak.Make(held)
				kept := use(pool, block, func(context.Context) (int, error) { return len(held), nil })
				held = nil
				synctest.Wait() // the worker may still be on its way out of the task
				runtime.GC()
				if gone.Value() != nil {
					t.Error("what the body holds is still reachable")
				}
				runtime.KeepAlive(kept)
				runtime.KeepAlive(pool)
			})
		})
	}
}

// A pool does not keep the context of a body that has returned, though the body
// looked at it and nobody has canceled its parent.
func TestPoolLetsGoOfContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		cancelable := context.WithCancel // whose function nobody calls
		submit := func(use func(ctx context.Context, body func(context.Context) error)) weak.Pointer[burden] {
			held := new(burden)
			ctx, _ := cancelable(context.WithValue(context.Background(), &pool, held))
			use(ctx, func(ctx context.Context) error { return ctx.Err() })
			return weak.Make(held)
		}
		plain := submit(func(ctx context.Context, body func(context.Context) error) { pool.Go(ctx, body) })
		future := submit(func(ctx context.Context, body func(context.Context) error) {
			executor.Submit(ctx, pool, executor.Callable(body))
		})
		synctest.Wait()
		runtime.GC()
		if plain.Value() != nil {
			t.Error("the context of a Runnable is still reachable")
		}
		if future.Value() != nil {
			t.Error("the context of a task is still reachable")
		}
		runtime.KeepAlive(pool)
	})
}

// A pool whose workers leave when they are idle needs no shutdown to be collected.
func TestIdlePoolIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := func() weak.Pointer[executor.Pool] {
			p, err := executor.New(executor.Config{Core: 2, KeepAlive: time.Second, AllowCoreTimeout: true})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				executor.Submit(t.Context(), p, testkit.After(time.Second, 1))
			}
			elapse(time.Minute)
			return weak.Make(p)
		}()
		check.Collected(t, "the pool", pool)
	})
}
