package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Shutdown and termination.

// Shutdown stops admission at once; waiting and running tasks are not affected, and the pool is
// terminated when the last has ended.
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

// The stages follow each other in order, each has a name, and none comes twice.
func TestPoolStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stages []string
		var pool *executor.Pool
		note := func() { stages = append(stages, pool.Stage().String()) }
		pool = newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{Terminated: func() { note() }}})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		note()
		pool.Shutdown()
		note()
		pool.ShutdownNow()
		note()
		pool.Shutdown() // does not go back
		note()
		block.Release()
		pool.AwaitTermination(t.Context())
		note()
		if want := []string{"running", "shutdown", "stop", "stop", "tidying", "terminated"}; !slices.Equal(stages, want) {
			t.Errorf("stages: %v, want %v", stages, want)
		}
	})
}

// hostileTimeouts are timeouts of which some overflow.
var hostileTimeouts = []time.Duration{-1 << 63, -1, 0, 1, 999999, time.Millisecond, time.Hour}

// AwaitTermination of a live pool ends with its context; of a terminated one it succeeds whatever
// the context is.
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

// Termination releases all callers of AwaitTermination.
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

// A pool that is idle, or has never had a worker, is terminated when Shutdown returns.
func TestPoolShutdownIdle(t *testing.T) {
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

// Terminated is called once, while the pool is terminating and not terminated; other calls that
// shut down do nothing; it has returned before anything reports that the pool is terminated.
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
						expect(t, "returned inside", len(pool.ShutdownNow()), 0)
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

// Close waits until running and waiting tasks have ended normally, also after Shutdown, and may be
// called by many and again.
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

// A caller can go on to ShutdownNow when its context ends, and then wait for the task functions:
// what close of the JDK does when it is interrupted.
func TestPoolCloseWithDeadline(t *testing.T) {
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

// The pool does not terminate before the functions of canceled and abandoned tasks have returned
// (JDK-8347039).
func TestPoolTerminationWaitsForFunctions(t *testing.T) {
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

// A task that is canceled at any time does not keep its pool from terminating.
func TestPoolTerminationAfterCancelAtAnyTime(t *testing.T) {
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

// A task may shut down its own pool: ShutdownNow ends its context, Shutdown does not.
func TestPoolShutdownByTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, now := range []bool{false, true} {
			pool := newPool(t, executor.Config{Core: 1})
			f := executor.Submit(t.Context(), pool, func(ctx context.Context) (error, error) {
				if now {
					pool.ShutdownNow()
				} else {
					pool.Shutdown()
				}
				synctest.Wait()
				return context.Cause(ctx), nil
			})
			cause, err := f.Get(t.Context())
			expect(t, "error", err, nil)
			expectIs(t, "cause", cause, map[bool]error{true: executor.ErrShutdown}[now])
			expect(t, "Stage", waitStats(t, pool).Stage, executor.StageTerminated)
		}
	})
}

// ShutdownNow.

// ShutdownNow ends the contexts of running tasks with the cause ErrShutdown, returns in order the
// tasks that did not run, and leaves none.
func TestPoolShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2})
		var fs []*executor.Future[struct{}]
		for range 5 {
			fs = append(fs, executor.Submit(t.Context(), pool, executor.Callable(testkit.AnHour)))
		}
		synctest.Wait()
		start := time.Now()
		dropped := pool.ShutdownNow()
		expect(t, "returned again", len(pool.ShutdownNow()), 0)
		expect(t, "queued", checkStats(t, pool).Queued, 0)
		var back []executor.Runnable
		for _, u := range dropped {
			back = append(back, u.Task())
		}
		if !slices.Equal(back, []executor.Runnable{fs[2], fs[3], fs[4]}) {
			t.Errorf("returned %v", back)
		}
		expect(t, "AwaitTermination", pool.AwaitTermination(t.Context()), nil)
		expect(t, "took", time.Since(start), 0)
		for i, f := range fs {
			expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), []executor.State{executor.Failed, executor.Canceled}[min(i/2, 1)])
		}
		s := checkStats(t, pool)
		expect(t, "Failed", s.Failed, 2)
		expect(t, "Canceled", s.Canceled, 3)
		expect(t, "Completed", s.Ended(), 5)
		expect(t, "Runs", s.Runs, 2)
	})
}

// ShutdownNow ends the context of each running task, whichever way it was submitted and whatever
// the submitter's context is.
func TestPoolShutdownNowEndsAllContexts(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		cancelable, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, ctx := range []context.Context{context.Background(), cancelable,
			context.WithValue(context.Background(), key{}, 1)} {
			pool := newPool(t, executor.Config{Core: 10})
			causes := make(chan error, 4)
			body := func(ctx context.Context) error { causes <- testkit.AnHour(ctx); return nil }
			pool.Go(ctx, body)
			pool.Go(ctx, body, executor.Timeout(time.Minute))
			executor.Submit(ctx, pool, executor.Callable(body))
			executor.Submit(ctx, pool, executor.Callable(body), executor.Timeout(time.Minute))
			synctest.Wait()
			pool.ShutdownNow()
			for range cap(causes) {
				expectIs(t, "cause", <-causes, executor.ErrShutdown)
			}
		}
	})
}

// A task that ShutdownNow returned has its future canceled and keeps its name, and can run in
// another pool, where its context is alive.
func TestPoolShutdownNowDroppedRunsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran, known []string
		first, second := newPool(t, executor.Config{Core: 1}), newPool(t,
			executor.Config{Core: 1, Hooks: executor.Hooks{
				AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) {
					known = append(known, info.Name)
				},
			}})
		block := newBlocker(t)
		block.Fill(t, first, 1)
		body := func(name string) func(context.Context) error {
			return func(ctx context.Context) error {
				if ctx.Err() == nil {
					ran = append(ran, name)
				}
				return nil
			}
		}
		f := executor.Submit(t.Context(), first, executor.Callable(body("future")), executor.Named("f"))
		mustGo(t, first, body("named"), executor.Named("n"))
		s := new(testkit.Step)
		first.Execute(t.Context(), s)
		dropped := first.ShutdownNow()
		expect(t, "returned", len(dropped), 3)
		expectIs(t, "future", f.Err(), executor.ErrShutdown)
		expectIs(t, "future", f.Err(), executor.ErrCanceled)
		var names []string
		for _, u := range dropped {
			names = append(names, u.Name())
			if err := second.Execute(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		waitStats(t, second)
		if !slices.Equal(names, []string{"f", "n", ""}) || !slices.Equal(ran, []string{"future", "named"}) || !s.Ran {
			t.Errorf("names %q, ran %q and step %v", names, ran, s.Ran)
		}
		if !slices.Equal(known, names) {
			t.Errorf("the hooks of the other pool got the names %q, want %q", known, names)
		}
		expect(t, "task", dropped[2].Task(), executor.Runnable(s))
		expectIs(t, "future in the end", f.Err(), executor.ErrShutdown)
	})
}

// ShutdownNow does not return a future that was canceled before.
func TestPoolShutdownNowOmitsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := executor.SubmitAll(t.Context(), pool, block.Value, block.Value)
		fs[0].Cancel()
		dropped := pool.ShutdownNow()
		expect(t, "returned", len(dropped), 1)
		expect(t, "task", dropped[0].Task(), executor.Runnable(fs[1]))
	})
}

// ShutdownNow does not return a task whose context has ended, also if the pool was not notified.
func TestPoolShutdownNowOmitsEnded(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx := &silentContext{Context: t.Context()}
		submit(ctx, pool, func(context.Context) error { t.Error("ran"); return nil })
		ctx.over = true
		expect(t, "returned", len(pool.ShutdownNow()), 0)
		expect(t, "Canceled", pool.Stats().Canceled, 1)
	})
}

// ShutdownNow does not wait for task functions; the pool terminates when they have returned, and
// their outcome counts.
func TestPoolShutdownNowDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		f := executor.Submit(t.Context(), pool, block.Value)
		synctest.Wait()
		pool.ShutdownNow()
		expect(t, "Stage", waitStats(t, pool).Stage, executor.StageStop)
		expect(t, "state", f.State(), executor.Running)
		block.Release()
		expect(t, "Stage at last", waitStats(t, pool).Stage, executor.StageTerminated)
		v, err := f.Result()
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
	})
}

// A task that is accepted during ShutdownNow is canceled or returned, and never left running
// (JDK-6523756).
func TestPoolShutdownNowDuringExecute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for range 256 {
			pool := newPool(t, executor.Config{Core: 1, Max: 4, Queue: executor.Bounded(2), Reject: executor.Discard})
			var accepted, ended, back atomic.Int64
			for i := range 2 {
				go func() {
					var ctx context.Context = context.Background()
					if i == 1 {
						ctx = t.Context()
					}
					for pool.Stage() == executor.StageRunning {
						pool.Go(ctx, func(ctx context.Context) error {
							accepted.Add(1)
							testkit.AnHour(ctx)
							ended.Add(1)
							return nil
						})
						runtime.Gosched() // js/wasm does not preempt
					}
				}()
			}
			go func() {
				for range rand.IntN(50) {
					pool.Stats()
				}
				back.Add(int64(len(pool.ShutdownNow())))
			}()
			if err := pool.AwaitTermination(context.Background()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			expect(t, "ended", ended.Load(), accepted.Load())
			expect(t, "returned", checkStats(t, pool).Canceled, back.Load())
		}
		expect(t, "took", time.Since(start), 0)
	})
}

// ShutdownNow releases callers that wait for futures, for all or for any, also of tasks that never
// ran (JDK-8286463).
func TestPoolShutdownNowReleasesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wait := range map[string]func(ctx context.Context, pool *executor.Pool) error{
			"Get": func(ctx context.Context, pool *executor.Pool) error {
				executor.Submit(ctx, pool, executor.Callable(testkit.AnHour))
				_, err := executor.Submit(ctx, pool, executor.Callable(testkit.AnHour)).Get(ctx) // waits in the queue
				return err
			},
			"InvokeAll": func(ctx context.Context, pool *executor.Pool) error {
				fs := executor.InvokeAll(ctx, pool, executor.Callable(testkit.AnHour),
					executor.Callable(testkit.AnHour), executor.Callable(testkit.AnHour))
				for _, f := range fs {
					expectIs(t, "one of InvokeAll", f.Err(), executor.ErrShutdown)
				}
				return fs[2].Err()
			},
			"InvokeAny": func(ctx context.Context, pool *executor.Pool) error {
				_, err := executor.InvokeAny(ctx, pool, executor.Callable(testkit.AnHour),
					executor.Callable(testkit.AnHour))
				return err
			},
		} {
			pool := newPool(t, executor.Config{Core: 1})
			start := time.Now()
			time.AfterFunc(time.Minute, func() { pool.ShutdownNow() })
			err := wait(t.Context(), pool)
			expectIs(t, name, err, executor.ErrShutdown)
			expect(t, name+" took", time.Since(start), time.Minute)
		}
	})
}

// After ShutdownNow no worker takes a task from the queue, even one that becomes free in the same
// moment.
func TestPoolShutdownNowTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			pool := newPool(t, executor.Config{Core: 2})
			block := newBlocker(t)
			block.Fill(t, pool, 20)
			go block.Release()
			back := len(pool.ShutdownNow())
			s := waitStats(t, pool)
			expect(t, "run or returned", int(s.Runs)+back, 20)
			expect(t, "ended", s.Succeeded, s.Runs)
		}
	})
}
