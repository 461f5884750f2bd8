package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Shutdown stops admission at once; tasks that wait still run, those that run
// are not disturbed, and the pool is terminated when the last has ended.
func TestPoolShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		var seen error
		mustGo(t, pool, func(ctx context.Context) error { block.Run(ctx); seen = ctx.Err(); return nil })
		f := executor.Submit(t.Context(), pool, block.Value)
		expect(t, "stage before", pool.Stage(), executor.StageRunning)
		pool.Shutdown()
		expect(t, "stage after", pool.Stage(), executor.StageShutdown)
		expectIs(t, "Go", pool.Go(t.Context(), block.Run), executor.ErrShutdown)
		time.Sleep(time.Hour)
		expect(t, "stage later", pool.Stage(), executor.StageShutdown)
		expect(t, "future", f.State(), executor.Pending)
		block.Release()
		s := waitStats(t, pool)
		expect(t, "stage at last", s.Stage, executor.StageTerminated)
		expect(t, "context of the first", seen, nil)
		expect(t, "future at last", f.Err(), nil)
		expect(t, "Succeeded", s.Succeeded, 2)
		expect(t, "Rejected", s.Rejected, 1)
	})
}

// Waiting for the termination of a live pool ends with the context; that of a
// terminated one succeeds whatever the context.
func TestPoolAwaitTermination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		expectIs(t, "live, ended", pool.AwaitTermination(ended), context.Canceled)
		for _, d := range hostileTimeouts {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			start := time.Now()
			expectIs(t, "live, timed", pool.AwaitTermination(ctx), context.DeadlineExceeded)
			expect(t, "waited", time.Since(start), max(d, 0))
			cancel()
		}
		pool.Shutdown()
		for range 100 { // of two ready channels a select would choose at random
			expect(t, "terminated, ended", pool.AwaitTermination(ended), nil)
		}
		select {
		case <-pool.Terminated():
		default:
			t.Error("Terminated is open")
		}
	})
}

// hostileTimeouts are aimed at arithmetic that overflows.
var hostileTimeouts = []time.Duration{-1 << 63, -1, 0, 1, 999999, time.Millisecond, time.Hour}

// Several callers that wait for termination are all released.
func TestPoolAwaitTerminationByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		released := make(chan error, 10)
		for range cap(released) {
			go func() { released <- pool.AwaitTermination(context.Background()) }()
		}
		pool.Shutdown()
		synctest.Wait()
		expect(t, "released early", len(released), 0)
		block.Release()
		for range cap(released) {
			expect(t, "AwaitTermination", <-released, nil)
		}
	})
}

// A pool that is idle, or has never had a worker, terminates within Shutdown.
func TestPoolShutdownWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []func(*executor.Pool){
			(*executor.Pool).Shutdown, (*executor.Pool).Close, func(p *executor.Pool) { p.ShutdownNow() },
		} {
			for _, used := range []bool{false, true} {
				pool := newPool(t, executor.Config{Core: 3})
				if used {
					mustGo(t, pool, func(context.Context) error { return nil })
					synctest.Wait()
				}
				stop(pool)
				expect(t, "Stage", pool.Stage(), executor.StageTerminated)
			}
		}
	})
}

// The Terminated hook is called once; in it the pool is terminating and not
// terminated, and every other call to shut it down does nothing; it has
// returned before anybody learns that the pool is terminated.
func TestPoolTerminatedHook(t *testing.T) {
	for name, stop := range map[string]func(*executor.Pool){
		"Shutdown": (*executor.Pool).Shutdown, "ShutdownNow": func(p *executor.Pool) { p.ShutdownNow() },
	} {
		for _, busy := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls := 0
					var pool *executor.Pool
					pool = newPool(t, executor.Config{Core: 3, Hooks: executor.Hooks{Terminated: func() {
						calls++
						ended, cancel := context.WithCancel(context.Background())
						cancel()
						s := checkStats(t, pool)
						expect(t, "Stage inside", s.Stage, executor.StageTidying)
						expect(t, "Workers inside", s.Workers, 0)
						expectIs(t, "AwaitTermination inside", pool.AwaitTermination(ended), context.Canceled)
						pool.Shutdown()
						expect(t, "given back inside", len(pool.ShutdownNow()), 0)
						expectIs(t, "Go inside", pool.Go(context.Background(), nop), executor.ErrShutdown)
						time.Sleep(time.Hour)
					}}})
					block := newBlocker(t)
					if busy {
						block.Fill(t, pool, 3)
					}
					stop(pool)
					if !busy {
						expect(t, "calls when Shutdown returns", calls, 1)
					}
					block.Release()
					start := time.Now()
					pool.AwaitTermination(context.Background())
					if busy {
						expect(t, "waited for the hook", time.Since(start), time.Hour)
					}
					for range 3 {
						pool.Shutdown()
						pool.ShutdownNow()
						pool.Close()
					}
					expect(t, "calls", calls, 1)
				})
			})
		}
	}
}

// Close waits for tasks that run and that wait to end normally, also after a
// Shutdown, and may be called by many and again.
func TestPoolClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, running := range []int{0, 1, 2, 5} {
			for _, before := range []func(*executor.Pool){func(*executor.Pool) {}, (*executor.Pool).Shutdown} {
				pool := newPool(t, executor.Config{Core: 2})
				var fs []*executor.Future[error]
				for range running {
					fs = append(fs, executor.Submit(t.Context(), pool, func(ctx context.Context) (error, error) {
						time.Sleep(time.Minute)
						return ctx.Err(), nil
					}))
				}
				before(pool)
				go pool.Close()
				pool.Close()
				expect(t, "Stage", pool.Stage(), executor.StageTerminated)
				for _, f := range fs {
					disturbed, err := f.Result()
					expect(t, "outcome", err, nil)
					expect(t, "context in the task", disturbed, nil)
				}
				pool.Close()
			}
		}
	})
}

// A closer with a bound of its own goes on to ShutdownNow when its context ends
// and then waits for the bodies: what Java's close does when interrupted.
func TestPoolCloseWithABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return 0, context.Cause(ctx)
		})
		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		pool.Shutdown()
		if err := pool.AwaitTermination(bound); err != nil {
			pool.ShutdownNow()
			pool.Close()
		}
		expect(t, "took", time.Since(start), time.Minute+time.Second)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
	})
}

// The pool does not terminate before the bodies of canceled and abandoned tasks
// have returned, whose futures were done long ago (JDK-8347039).
func TestPoolTerminationWaitsForBodies(t *testing.T) {
	for name, cancel := range map[string]func(*executor.Future[int]) bool{
		"Cancel": (*executor.Future[int]).Cancel, "Abandon": (*executor.Future[int]).Abandon,
		"Complete": func(f *executor.Future[int]) bool { return f.Complete(1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1})
				block := newBlocker(t)
				f := executor.Submit(t.Context(), pool, block.Value)
				synctest.Wait()
				expect(t, name, cancel(f), true)
				expect(t, "done", f.State().Done(), true)
				pool.Shutdown()
				time.Sleep(time.Hour)
				s := checkStats(t, pool)
				expect(t, "Stage", s.Stage, executor.StageShutdown)
				expect(t, "Active", s.Active, 1)
				block.Release()
				expect(t, "Stage at last", waitStats(t, pool).Stage, executor.StageTerminated)
			})
		})
	}
}

// A task that is canceled at any moment does not keep its pool from
// terminating.
func TestPoolCancelAtAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			pool := newPool(t, executor.Config{Core: 1})
			fs := executor.SubmitAll(t.Context(), pool, value(1), value(2))
			for _, f := range fs {
				go f.Cancel()
			}
			pool.Close()
			for _, f := range fs {
				if err := f.Err(); err != nil && !errors.Is(err, executor.ErrCanceled) {
					t.Error(err)
				}
			}
		}
	})
}

// The stages come in their order, each has a name, and none comes twice.
func TestPoolStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stages []string
		var pool *executor.Pool
		look := func() { stages = append(stages, pool.Stage().String()) }
		pool = newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{Terminated: func() { look() }}})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		look()
		pool.Shutdown()
		look()
		pool.ShutdownNow()
		look()
		pool.Shutdown() // does not go back
		look()
		block.Release()
		pool.AwaitTermination(t.Context())
		look()
		if want := []string{"running", "shutdown", "stop", "stop", "tidying", "terminated"}; !slices.Equal(stages, want) {
			t.Errorf("stages: %v, want %v", stages, want)
		}
	})
}
