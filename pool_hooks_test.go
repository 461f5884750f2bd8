package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// BeforeTask is called before a body and AfterTask after it, with its error,
// and Terminated comes last of all.
func TestPoolHooksOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Core: 1, Hooks: log.Hooks()})
		mustGo(t, pool, func(context.Context) error { log.Add("body"); return nil }, executor.Named("a"))
		mustGo(t, pool, func(context.Context) error { return errors.New("lost") }, executor.Named("b"))
		executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errors.New("kept") }, executor.Named("c"))
		pool.Close()
		log.Check(t, "before a", "body", "after a: <nil>", "before b", "after b: lost", "before c", "after c: kept", "terminated")
	})
}

// A task that never runs is not told to the hooks.
func TestPoolHooksOfTasksThatDoNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(3), Reject: executor.CallerRuns, Hooks: log.Hooks()})
		block := newBlocker(t)
		mustGo(t, pool, block.Run, executor.Named("block"))
		ended, cancel := context.WithCancel(t.Context())
		executor.Submit(ended, pool, block.Value, executor.Named("expired"))
		executor.Submit(t.Context(), pool, block.Value, executor.Named("canceled")).Cancel()
		executor.Submit(t.Context(), pool, block.Value, executor.Named("given back"))
		executor.Submit(t.Context(), pool, block.Value, executor.Named("given back"))
		mustGo(t, pool, func(context.Context) error { return nil }, executor.Named("by caller"))
		cancel()
		synctest.Wait()
		expect(t, "given back", len(pool.ShutdownNow()), 2)
		block.Release()
		log.Check(t, "before block", "after block: <nil>", "terminated")
	})
}

// The hooks are told the pool, the worker, and the task as it was submitted.
func TestPoolHooksInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after []executor.TaskInfo
		pool := newPool(t, executor.Config{Name: "info", Core: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				before = append(before, info)
				return nil // as good as ctx
			},
			AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) { after = append(after, info) },
		}})
		s := new(testkit.Step)
		pool.Execute(t.Context(), s)
		waitStats(t, pool)
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 1, nil }, executor.Named("f"))
		waitStats(t, pool)
		want := []executor.TaskInfo{
			{Executor: "info", Worker: 1, Task: s, Run: 1},
			{Executor: "info", Worker: 1, Task: f, Name: "f", Run: 1},
		}
		if !slices.Equal(before, want) || !slices.Equal(after, want) {
			t.Errorf("before %+v, after %+v, want %+v", before, after, want)
		}
	})
}

// The context that BeforeTask returns is that of the body and of AfterTask, for
// plain tasks and futures.
func TestPoolBeforeTaskDerivesContext(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var after []any
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				return context.WithValue(ctx, key{}, "value of "+info.Name)
			},
			AfterTask: func(ctx context.Context, _ executor.TaskInfo, _ error) { after = append(after, ctx.Value(key{})) },
		}})
		var inPlain any
		mustGo(t, pool, func(ctx context.Context) error { inPlain = ctx.Value(key{}); return nil }, executor.Named("a"))
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil }, executor.Named("b"))
		waitStats(t, pool)
		inFuture, _ := f.Result()
		expect(t, "in the plain task", inPlain, any("value of a"))
		expect(t, "in the future", inFuture, any("value of b"))
		if !slices.Equal(after, []any{"value of a", "value of b"}) {
			t.Errorf("after: %v", after)
		}
	})
}

// A task canceled by its context still ends in a body whose context BeforeTask
// derived.
func TestPoolDerivedContextIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				t.Cleanup(cancel) // not by ctx: that would be another cause, in a race with its own
				return derived
			},
		}})
		cause := make(chan error, 1)
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return 0, nil
		})
		synctest.Wait()
		f.Cancel()
		expectIs(t, "cause", <-cause, executor.ErrCanceled)
	})
}

// A future is complete when AfterTask is called, while its worker still counts
// as active and its pool does not terminate.
func TestPoolAfterTaskComesAfterTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := newBlocker(t)
		pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(ctx context.Context, _ executor.TaskInfo, _ error) { block.Run(ctx) },
		}})
		t.Cleanup(block.Release) // before the pool is closed
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 5, nil })
		v, err := f.Get(t.Context())
		expect(t, "value", v, 5)
		expect(t, "error", err, nil)
		pool.Shutdown()
		s := waitStats(t, pool)
		expect(t, "Active", s.Active, 1)
		expect(t, "Completed", s.Ended(), 0)
		expect(t, "Stage", s.Stage, executor.StageShutdown)
		block.Release()
		s = waitStats(t, pool)
		expect(t, "Completed at last", s.Ended(), 1)
		expect(t, "Stage at last", s.Stage, executor.StageTerminated)
	})
}

// Hooks may use their pool: no lock is held while they are called.
func TestPoolHooksMayUseThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool *executor.Pool
		use := func() {
			pool.Stats()
			pool.SetCore(1)
			pool.Remove(new(testkit.Step))
			pool.Purge()
			pool.Stage()
			for range pool.Waiting() {
			}
			pool.Prestart()
		}
		again := true
		pool = newPool(t, executor.Config{Core: 1, Max: 2, Queue: executor.Bounded(1),
			Hooks: executor.Hooks{
				BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context { use(); return ctx },
				AfterTask: func(context.Context, executor.TaskInfo, error) {
					use()
					if again {
						again = false
						mustGo(t, pool, func(context.Context) error { return nil })
					}
				},
				Terminated: func() { use(); pool.Shutdown(); pool.ShutdownNow() },
				OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) { use() },
			}})
		mustGo(t, pool, func(context.Context) error { panic("x") })
		expect(t, "Completed", waitStats(t, pool).Ended(), 2)
		pool.Close()
	})
}

// AfterTask is told how a body ended, whatever it was submitted as: what it
// returned, its panic, or ErrGoexit.
func TestPoolAfterTaskHearsHowABodyEnded(t *testing.T) {
	type submit func(ctx context.Context, pool *executor.Pool, body func(context.Context) error)
	for _, as := range []struct {
		name   string
		submit submit
	}{
		{"function", func(_ context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(context.Background(), body)
		}},
		{"function with a context", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(ctx, body)
		}},
		{"function with a context that never ends", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(context.WithoutCancel(ctx), body)
		}},
		{"named function", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			pool.Go(ctx, body, executor.Named("it"))
		}},
		{"future", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) {
			executor.Submit(ctx, pool, executor.Callable(body))
		}},
	} {
		for _, way := range testkit.Exits {
			t.Run(as.name+"/"+way.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var told []error
					pool := newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
						AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { told = append(told, err) },
						OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) {},
					}})
					as.submit(t.Context(), pool, func(context.Context) error { return way.Leave() })
					waitStats(t, pool)
					if len(told) != 1 {
						t.Fatalf("told %v, want one error", told)
					}
					var perr *executor.PanicError
					expect(t, "a panic", errors.As(told[0], &perr), testkit.Panics(way.Leave))
					expect(t, "a Goexit", errors.Is(told[0], executor.ErrGoexit), way.Name == "Goexit")
					expect(t, "nil", told[0] == nil, way.Name == "return nil")
				})
			})
		}
	}
}
