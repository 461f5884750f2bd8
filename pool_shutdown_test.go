package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
	"github.com/executor-go/executor/java"
)

// Shutdown and termination.

// Shutdown stops admission at once; waiting and running tasks are not affected, and the pool is
// terminated when the last has ended.
func TestPoolShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		var seen error
		mustGo(t, pool, func(ctx context.Context) error { block.Run(ctx); seen = ctx.Err(); return nil })
		f := executor.Submit(t.Context(), pool, block.Value)
		expect(t, "stage before", pool.Stats().Stage, executor.StageRunning)
		pool.Shutdown()
		expect(t, "stage after", pool.Stats().Stage, executor.StageShutdown)
		expectIs(t, "Go", pool.Go(t.Context(), block.Run), executor.ErrShutdown)
		time.Sleep(time.Hour)
		synctest.Wait()
		expect(t, "stage later", pool.Stats().Stage, executor.StageShutdown)
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
		note := func() { stages = append(stages, pool.Stats().Stage.String()) }
		pool = newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{Terminated: func() { note() }}})
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
		pool := newPool(t, executor.Config{Workers: 1})
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
		pool := newPool(t, executor.Config{Workers: 1})
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

// A pool that has never had a worker is terminated when Shutdown returns; of one that is idle, one of
// the workers may be about to do that.
func TestPoolShutdownIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []func(*executor.Pool){
			(*executor.Pool).Shutdown, (*executor.Pool).Close, func(p *executor.Pool) { p.ShutdownNow() },
		} {
			for _, used := range []bool{false, true} {
				pool := newPool(t, executor.Config{Workers: 3})
				if used {
					mustGo(t, pool, func(context.Context) error { return nil })
					synctest.Wait()
				}
				stop(pool)
				if used {
					synctest.Wait()
				}
				expect(t, "Stage", pool.Stats().Stage, executor.StageTerminated)
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
					pool = newPool(t, executor.Config{Workers: 3, Hooks: executor.Hooks{Terminated: func() {
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
				pool := newPool(t, executor.Config{Workers: 2})
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
				expect(t, "Stage", pool.Stats().Stage, executor.StageTerminated)
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
		pool := newPool(t, executor.Config{Workers: 1})
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

// Drain waits for all tasks until its context ends; then it ends those that run, waits until they
// have returned, and returns those that never ran.
func TestPoolDrain(t *testing.T) {
	for name, c := range map[string]struct {
		patience, took time.Duration
		ran, unrun     int
	}{
		"in time":         {time.Minute, 4 * time.Second, 4, 0},
		"at the deadline": {1500 * time.Millisecond, 1750 * time.Millisecond, 2, 2},
		"at once":         {0, 250 * time.Millisecond, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				ran := 0
				for range 4 {
					pool.Go(t.Context(), func(ctx context.Context) error {
						ran++
						select {
						case <-time.After(time.Second):
						case <-ctx.Done():
							check.Is(t, "cause", context.Cause(ctx), executor.ErrShutdown)
							time.Sleep(250 * time.Millisecond) // its clean-up
						}
						return nil
					}, executor.Named("job"))
				}
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				start := time.Now()
				unrun := pool.Drain(ctx)
				check.Equal(t, "time", time.Since(start), c.took)
				check.Equal(t, "stage", pool.Stats().Stage, executor.StageTerminated)
				check.Equal(t, "tasks that ran", ran, c.ran)
				check.Equal(t, "tasks that never ran", len(unrun), c.unrun)
				for _, d := range unrun {
					check.Equal(t, "name", d.Name(), "job")
				}
				if again := pool.Drain(ctx); again != nil {
					t.Errorf("a second call returns %v", again)
				}
			})
		})
	}
}

// The pool does not terminate before the functions of canceled and abandoned tasks have returned
// (JDK-8347039).
func TestPoolTerminationWaitsForFunctions(t *testing.T) {
	for name, cancel := range map[string]func(*executor.Task[int]) bool{
		"Cancel": (*executor.Task[int]).Cancel, "Abandon": (*executor.Task[int]).Abandon,
		"Complete": func(f *executor.Task[int]) bool { return f.Complete(1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 1})
				block := newBlocker(t)
				f := testkit.SubmitTask(t.Context(), pool, block.Value)
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
			pool := newPool(t, executor.Config{Workers: 1})
			fs := testkit.SubmitAll(t.Context(), pool, value(1), value(2))
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
			pool := newPool(t, executor.Config{Workers: 1})
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
		pool := newPool(t, executor.Config{Workers: 2})
		var fs []*executor.Future[struct{}]
		for range 5 {
			fs = append(fs, executor.Submit(t.Context(), pool, executor.Func(testkit.AnHour).Call))
		}
		synctest.Wait()
		start := time.Now()
		dropped := pool.ShutdownNow()
		expect(t, "returned again", len(pool.ShutdownNow()), 0)
		expect(t, "queued", checkStats(t, pool).Queued, 0)
		var back []any
		for _, u := range dropped {
			back = append(back, u.Task())
		}
		if !slices.Equal(back, []any{fs[2], fs[3], fs[4]}) {
			t.Errorf("returned %v", back)
		}
		expect(t, "AwaitTermination", pool.AwaitTermination(t.Context()), nil)
		expect(t, "took", time.Since(start), 0)
		for _, f := range fs {
			expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), executor.Canceled)
		}
		s := checkStats(t, pool)
		expect(t, "Failed", s.Failed, 0)
		expect(t, "Canceled", s.Canceled, 5)
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
			pool := newPool(t, executor.Config{Workers: 10})
			causes := make(chan error, 4)
			body := func(ctx context.Context) error { causes <- testkit.AnHour(ctx); return nil }
			pool.Go(ctx, body)
			pool.Go(ctx, body, executor.Timeout(time.Minute))
			executor.Submit(ctx, pool, executor.Func(body).Call)
			executor.Submit(ctx, pool, executor.Func(body).Call, executor.Timeout(time.Minute))
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
		first, second := newPool(t, executor.Config{Workers: 1}), newPool(t,
			executor.Config{Workers: 1, Hooks: executor.Hooks{
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
		f := executor.Submit(t.Context(), first, executor.Func(body("future")).Call, executor.Named("f"))
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
		expect(t, "task", dropped[2].Task(), any(s))
		expectIs(t, "future in the end", f.Err(), executor.ErrShutdown)
	})
}

// ShutdownNow does not return a future that was canceled before.
func TestPoolShutdownNowOmitsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := testkit.SubmitAll(t.Context(), pool, block.Value, block.Value)
		fs[0].Cancel()
		dropped := pool.ShutdownNow()
		expect(t, "returned", len(dropped), 1)
		expect(t, "task", dropped[0].Task(), any(fs[1]))
	})
}

// ShutdownNow does not return a task whose context has ended, also if the pool was not notified.
func TestPoolShutdownNowOmitsEnded(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Workers: 1})
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
		pool := newPool(t, executor.Config{Workers: 1})
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
			pool := newPool(t, executor.Config{Workers: 1, Max: 4, Queue: executor.Bounded(2), Reject: executor.Discard})
			var accepted, ended, back atomic.Int64
			for i := range 2 {
				go func() {
					var ctx context.Context = context.Background()
					if i == 1 {
						ctx = t.Context()
					}
					for pool.Stats().Stage == executor.StageRunning {
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
				executor.Submit(ctx, pool, executor.Func(testkit.AnHour).Call)
				_, err := executor.Submit(ctx, pool, executor.Func(testkit.AnHour).Call).Get(ctx) // waits in the queue
				return err
			},
			"InvokeAll": func(ctx context.Context, pool *executor.Pool) error {
				fs := java.InvokeAll(ctx, pool, executor.Func(testkit.AnHour).Call,
					executor.Func(testkit.AnHour).Call, executor.Func(testkit.AnHour).Call)
				for _, f := range fs {
					expectIs(t, "one of InvokeAll", f.Err(), executor.ErrShutdown)
				}
				return fs[2].Err()
			},
			"Any": func(ctx context.Context, pool *executor.Pool) error {
				_, err := executor.Any(ctx, pool, executor.Func(testkit.AnHour).Call,
					executor.Func(testkit.AnHour).Call)
				return err
			},
		} {
			pool := newPool(t, executor.Config{Workers: 1})
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
			pool := newPool(t, executor.Config{Workers: 2})
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

// drops records the calls of Hooks.Dropped.
type drops struct {
	mu    sync.Mutex
	infos []executor.TaskInfo
	errs  []error
}

func (d *drops) hook(_ context.Context, info executor.TaskInfo, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.infos = append(d.infos, info)
	d.errs = append(d.errs, err)
}

// Each way in which an accepted task may be lost calls Dropped once, with the task's name,
// its age and the reason. What no future shows is logged too, with and without the hook.
func TestPoolDropped(t *testing.T) {
	type way struct {
		config executor.Config
		lose   func(p *executor.Pool, cancel context.CancelFunc)
		want   error
		logged bool // if there is no future
	}
	for name, way := range map[string]way{
		"context ends": {lose: func(_ *executor.Pool, cancel context.CancelFunc) { cancel() }, want: context.Canceled, logged: true},
		"ShutdownNow":  {lose: func(p *executor.Pool, _ context.CancelFunc) { p.ShutdownNow() }, want: executor.ErrShutdown},
		"DiscardOldest": {
			config: executor.Config{Queue: executor.Bounded(1), Reject: executor.DiscardOldest},
			lose:   func(p *executor.Pool, _ context.CancelFunc) { mustGo(t, p, nop) },
			want:   executor.ErrSaturated, logged: true,
		},
		"DropLowest": {
			config: executor.Config{Queue: executor.BoundedPrioritized(1), Reject: executor.DropLowest},
			lose:   func(p *executor.Pool, _ context.CancelFunc) { mustGo(t, p, nop, executor.Priority(-1)) },
			want:   executor.ErrSaturated, logged: true,
		},
	} {
		for _, hooked := range []bool{true, false} {
			for form, submit := range map[string]func(context.Context, *executor.Pool) error{
				"Go": func(ctx context.Context, p *executor.Pool) error { return p.Go(ctx, nop) },
				"Go with a name": func(ctx context.Context, p *executor.Pool) error {
					return p.Go(ctx, nop, executor.Named("x"))
				},
				"Submit": func(ctx context.Context, p *executor.Pool) error {
					executor.Submit(ctx, p, value(1), executor.Named("x"))
					return nil
				},
			} {
				t.Run(fmt.Sprint(name, "/", hooked, "/", form), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var d drops
						var out bytes.Buffer
						config := way.config
						config.Name, config.Workers, config.Logger = "p", 1, slog.New(slog.NewTextHandler(&out, nil))
						if hooked {
							config.Hooks.Dropped = d.hook
						}
						pool := newPool(t, config)
						block := newBlocker(t)
						block.Fill(t, pool, 1)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						at := time.Now()
						expect(t, "submit", submit(ctx, pool), nil)
						time.Sleep(time.Minute)
						way.lose(pool, cancel)
						synctest.Wait()
						block.Release()
						waitStats(t, pool)
						named := ""
						if form != "Go" {
							named = "x"
						}
						logs := strings.Count(out.String(), "task dropped")
						if want := way.logged && form != "Submit"; want != (logs == 1) || logs > 1 ||
							want && !strings.Contains(out.String(), "reason=") {
							t.Errorf("logged %q", out.String())
						}
						if !hooked {
							return
						}
						if len(d.infos) != 1 {
							t.Fatalf("Dropped was called for %+v", d.infos)
						}
						expect(t, "Name", d.infos[0].Name, named)
						expect(t, "Executor", d.infos[0].Executor, "p")
						expect(t, "Submitted", d.infos[0].Submitted.Equal(at), true)
						expect(t, "Run", d.infos[0].Run, 0)
						expectIs(t, "error", d.errs[0], way.want)
					})
				})
			}
		}
	}
}

// A future that its holder ends while it waits, and what Remove takes out, call Dropped and are not
// logged.
func TestPoolDroppedByHand(t *testing.T) {
	for name, end := range map[string]func(*executor.Pool, *executor.Task[int]){
		"Cancel":   func(_ *executor.Pool, f *executor.Task[int]) { f.Cancel() },
		"Abandon":  func(_ *executor.Pool, f *executor.Task[int]) { f.Abandon() },
		"Complete": func(_ *executor.Pool, f *executor.Task[int]) { f.Complete(2) },
		"Fail":     func(_ *executor.Pool, f *executor.Task[int]) { f.Fail(errTask) },
		"Remove":   func(p *executor.Pool, f *executor.Task[int]) { p.Remove(f) },
	} {
		for _, q := range []executor.Queue{
			executor.Unbounded(), executor.Bounded(9), executor.Prioritized(), executor.BoundedPrioritized(9),
		} {
			t.Run(fmt.Sprintf("%s/%T", name, q), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var d drops
					var out bytes.Buffer
					log := slog.New(slog.NewTextHandler(&out, nil))
					hooks := executor.Hooks{Dropped: d.hook}
					pool := newPool(t, executor.Config{Workers: 1, Queue: q, Hooks: hooks, Logger: log})
					block := newBlocker(t)
					defer block.Release()
					block.Fill(t, pool, 1)
					f := testkit.SubmitTask(t.Context(), pool, value(1))
					end(pool, f)
					end(pool, f)
					if len(d.infos) != 1 {
						t.Fatalf("Dropped was called for %+v", d.infos)
					}
					expect(t, "error", d.errs[0], f.Err())
					expect(t, "log", out.String(), "")
				})
			})
		}
	}
}

// Tasks of a scheduled pool that a shutdown drops call Dropped, unless they have run.
func TestPoolDroppedAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drops
		var out bytes.Buffer
		pool := newScheduled(t, executor.ScheduledConfig{
			Workers: 1, DropDelayed: true, Hooks: executor.Hooks{Dropped: d.hook},
			Logger: slog.New(slog.NewTextHandler(&out, nil)),
		})
		pool.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Named("has run"))
		pool.AtFixedRate(t.Context(), time.Hour, time.Hour, nop, executor.Named("periodic"))
		executor.SubmitAfter(t.Context(), pool, time.Hour, value(1), executor.Named("once"))
		pool.GoAfter(t.Context(), time.Hour, nop, executor.Named("after"))
		synctest.Wait()
		pool.Close()
		names := map[string]bool{}
		for i, info := range d.infos {
			names[info.Name] = true
			expectIs(t, info.Name, d.errs[i], executor.ErrShutdown)
		}
		expect(t, "names", fmt.Sprint(names), "map[after:true once:true periodic:true]")
		expect(t, "calls", len(d.infos), 3)
		if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "task=after") {
			t.Errorf("logged %q", out.String())
		}
	})
}

// A Dropped that panics changes nothing: the future is canceled, and others follow.
func TestPoolDroppedPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler),
			Hooks: executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) {
				calls.Add(1)
				panic("no")
			}},
		})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		fs := testkit.SubmitAll(ctx, pool, value(1), value(2), value(3))
		cancel()
		for _, f := range fs {
			_, err := f.Get(t.Context())
			expectIs(t, "Get", err, context.Canceled)
		}
		synctest.Wait()
		expect(t, "calls", calls.Load(), 3)
	})
}

// Whatever happens to the tasks of a pool, each that was accepted runs or calls Dropped, and none does
// both, or twice.
func TestPoolDroppedOrRun(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 3))
			var mu sync.Mutex
			ends := map[string]int{}
			note := func(name string) {
				mu.Lock()
				defer mu.Unlock()
				ends[name]++
			}
			config := executor.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)}
			config.Hooks.Dropped = func(_ context.Context, info executor.TaskInfo, _ error) { note(info.Name) }
			switch draw.IntN(4) {
			case 0:
				config.Queue, config.Reject = executor.Bounded(5), executor.DiscardOldest
			case 1:
				config.Queue, config.Reject = executor.Bounded(5), executor.Discard
			case 2:
				config.Queue = executor.Prioritized()
			}
			pool := newPool(t, config)
			accepted := map[string]bool{}
			var futures []*executor.Task[int]
			for i := range 200 {
				name := fmt.Sprint(i)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+draw.IntN(50))*time.Millisecond)
				defer cancel()
				body := func(context.Context) error { note(name); time.Sleep(time.Millisecond); return nil }
				if draw.IntN(2) == 0 {
					accepted[name] = pool.Go(ctx, body, executor.Named(name)) == nil
				} else {
					f := testkit.SubmitTask(ctx, pool, func(ctx context.Context) (int, error) { return 1, body(ctx) },
						executor.Named(name))
					futures = append(futures, f)
					accepted[name] = true
				}
				switch draw.IntN(20) {
				case 0:
					time.Sleep(time.Duration(draw.IntN(20)) * time.Millisecond)
				case 1, 2:
					if len(futures) > 0 {
						futures[draw.IntN(len(futures))].Cancel()
					}
				case 3:
					if len(futures) > 0 {
						go futures[draw.IntN(len(futures))].Run(t.Context())
					}
				}
			}
			if draw.IntN(2) == 0 {
				pool.ShutdownNow()
			}
			pool.Close()
			synctest.Wait()
			for name, taken := range accepted {
				if want := map[bool]int{true: 1}[taken]; ends[name] != want {
					t.Errorf("seed %d: task %s ended %d times, want %d", seed, name, ends[name], want)
				}
			}
		})
	}
}

// Join calls all hooks: BeforeTask in order with the context of the one before, AfterTask in the
// inverse order, the others in order, also if one panics.
func TestHooksJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var diary testkit.Trace
		var panics bool
		hooks := func(name string) executor.Hooks {
			return executor.Hooks{
				BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
					seen, _ := ctx.Value(contextKey{}).(string)
					diary.Add("before %s with %s", name, seen)
					return context.WithValue(ctx, contextKey{}, seen+name)
				},
				AfterTask: func(ctx context.Context, _ executor.TaskInfo, err error) {
					diary.Add("after %s with %v %v", name, ctx.Value(contextKey{}), err)
					if panics {
						panic(name)
					}
				},
				Terminated: func() { diary.Add("terminated %s", name) },
				Dropped:    func(_ context.Context, _ executor.TaskInfo, err error) { diary.Add("dropped %s", name) },
				OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
					diary.Add("panic %s %v", name, err.Value)
				},
			}
		}
		only := executor.Hooks{BeforeTask: func(context.Context, executor.TaskInfo) context.Context { return nil }}
		pool := newPool(t, executor.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler),
			Hooks: hooks("a").Join(executor.Hooks{}, only, hooks("b"))})
		mustGo(t, pool, func(context.Context) error { return errors.New("x") })
		synctest.Wait()
		diary.Check(t, "before a with ", "before b with a", "after b with ab x", "after a with ab x")
		panics = true
		mustGo(t, pool, nop)
		synctest.Wait()
		diary.Check(t, "before a with ", "before b with a", "after b with ab <nil>", "after a with ab <nil>",
			"panic a a", "panic b a")
		panics = false
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		executor.Submit(t.Context(), pool, value(1)).Cancel()
		block.Release()
		pool.Close()
		diary.Check(t, "before a with ", "before b with a", "dropped a", "dropped b",
			"after b with ab <nil>", "after a with ab <nil>", "terminated a", "terminated b")
		empty := executor.Hooks{}.Join()
		expect(t, "no hooks", empty.BeforeTask == nil && empty.AfterTask == nil && empty.Dropped == nil, true)
	})
}
