package executor_test

import (
	"context"
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

// ShutdownNow ends the contexts of what runs, with the cause ErrShutdown, gives
// back in order what never ran, and leaves nothing behind.
func TestPoolShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2})
		var fs []*executor.Future[struct{}]
		for range 5 {
			fs = append(fs, executor.Submit(t.Context(), pool, executor.Callable(testkit.AnHour)))
		}
		synctest.Wait()
		start := time.Now()
		unrun := pool.ShutdownNow()
		expect(t, "given back again", len(pool.ShutdownNow()), 0)
		expect(t, "queued", checkStats(t, pool).Queued, 0)
		var back []executor.Runnable
		for _, u := range unrun {
			back = append(back, u.Task())
		}
		if !slices.Equal(back, []executor.Runnable{fs[2], fs[3], fs[4]}) {
			t.Errorf("gave back %v", back)
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

// Every kind of task that runs finds its context ended by ShutdownNow, whatever
// the submitter's context.
func TestPoolShutdownNowReachesEveryBody(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		cancelable, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, ctx := range []context.Context{context.Background(), cancelable, context.WithValue(context.Background(), key{}, 1)} {
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

// A task that was given back has its future canceled, keeps its name, and can
// be run by another pool, where its context is alive.
func TestPoolUnrunRunsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran, known []string
		first, second := newPool(t, executor.Config{Core: 1}), newPool(t, executor.Config{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, info executor.TaskInfo, _ error) { known = append(known, info.Name) },
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
		unrun := first.ShutdownNow()
		expect(t, "given back", len(unrun), 3)
		expectIs(t, "future", f.Err(), executor.ErrShutdown)
		expectIs(t, "future", f.Err(), executor.ErrCanceled)
		var names []string
		for _, u := range unrun {
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
			t.Errorf("the other pool knows them as %q, want %q", known, names)
		}
		expect(t, "task", unrun[2].Task(), executor.Runnable(s))
		expectIs(t, "future in the end", f.Err(), executor.ErrShutdown)
	})
}

// A future that was canceled before is not given back.
func TestPoolCanceledIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		fs := executor.SubmitAll(t.Context(), pool, block.Value, block.Value)
		fs[0].Cancel()
		unrun := pool.ShutdownNow()
		expect(t, "given back", len(unrun), 1)
		expect(t, "task", unrun[0].Task(), executor.Runnable(fs[1]))
	})
}

// ShutdownNow does not wait for bodies that take no notice; the pool terminates
// when they have returned, and their outcome counts.
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

// A task that is accepted while the pool is shut down is canceled or given
// back, never left running (JDK-6523756).
func TestPoolShutdownNowAgainstExecute(t *testing.T) {
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
						runtime.Gosched() // js/wasm preempts nobody
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
			expect(t, "given back", checkStats(t, pool).Canceled, back.Load())
		}
		expect(t, "took", time.Since(start), 0)
	})
}

// A task may shut down its own pool, either way, and finds itself canceled or
// not accordingly.
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

// Callers who wait for futures, for all or for any of them, are released by
// ShutdownNow, also those whose task never ran (JDK-8286463).
func TestPoolShutdownNowReleasesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wait := range map[string]func(ctx context.Context, pool *executor.Pool) error{
			"Get": func(ctx context.Context, pool *executor.Pool) error {
				executor.Submit(ctx, pool, executor.Callable(testkit.AnHour))
				_, err := executor.Submit(ctx, pool, executor.Callable(testkit.AnHour)).Get(ctx) // waits in the queue
				return err
			},
			"InvokeAll": func(ctx context.Context, pool *executor.Pool) error {
				fs := executor.InvokeAll(ctx, pool, executor.Callable(testkit.AnHour), executor.Callable(testkit.AnHour), executor.Callable(testkit.AnHour))
				for _, f := range fs {
					expectIs(t, "one of InvokeAll", f.Err(), executor.ErrShutdown)
				}
				return fs[2].Err()
			},
			"InvokeAny": func(ctx context.Context, pool *executor.Pool) error {
				_, err := executor.InvokeAny(ctx, pool, executor.Callable(testkit.AnHour), executor.Callable(testkit.AnHour))
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

// After ShutdownNow nothing more is taken from the queue, even if a worker
// becomes free in the same moment.
func TestPoolStopTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			pool := newPool(t, executor.Config{Core: 2})
			block := newBlocker(t)
			block.Fill(t, pool, 20)
			go block.Release()
			back := len(pool.ShutdownNow())
			s := waitStats(t, pool)
			expect(t, "run or given back", int(s.Runs)+back, 20)
			expect(t, "ended", s.Succeeded, s.Runs)
		}
	})
}
