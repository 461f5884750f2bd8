package executor_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// The cost of a fire-and-forget task, admission to end.
func BenchmarkGo(b *testing.B) {
	p := executor.Fixed(2)
	ctx := context.Background()
	f := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		p.Go(ctx, f)
	}
	p.Close()
}

// The cost of a task with a future that is not waited for.
func BenchmarkSubmitBatch(b *testing.B) {
	p := executor.Fixed(2)
	ctx := context.Background()
	f := func(context.Context) (int, error) { return 0, nil }
	b.ReportAllocs()
	for b.Loop() {
		executor.Submit(ctx, p, f)
	}
	p.Close()
}

// The cost of a timeout that is canceled in time, as most are.
func BenchmarkScheduleCancel(b *testing.B) {
	p := executor.Scheduled(2)
	ctx := context.Background()
	f := func(context.Context) (int, error) { return 0, nil }
	b.ReportAllocs()
	for b.Loop() {
		executor.SubmitAfter(ctx, p, time.Hour, f).Cancel()
	}
	p.Close()
}

// The cost of a task that does nothing, where one in so many is measured.
func BenchmarkObserved(b *testing.B) {
	for _, every := range []int{0, 64, 1} {
		b.Run("every="+strconv.Itoa(every), func(b *testing.B) {
			p := executor.Fixed(2)
			if every > 0 {
				(&executor.Observer{Every: every}).Watch(p)
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				p.Go(ctx, nop)
			}
			p.Close()
		})
	}
}

// What is retained. A garbage collection shows what is still reachable.

// burden is something large that a task function refers to.
type burden struct{ _ [1 << 16]byte }

// burdened returns a task function with a burden, and a weak pointer to that.
func burdened() (func(context.Context) (int, error), weak.Pointer[burden]) {
	held := new(burden)
	return func(context.Context) (int, error) { runtime.KeepAlive(held); return 1, nil }, weak.Make(held)
}

// before returns a task function that calls f first.
func before(body func(context.Context) (int, error), f func()) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { f(); return body(ctx) }
}

// A future that is kept does not retain its task function once that will not run again, on
// whichever path the task ended.
func TestFutureReleasesFunction(t *testing.T) {
	type body = func(context.Context) (int, error)
	run := func(ctx context.Context, f *executor.Task[int]) { f.Run(ctx) }
	for name, end := range map[string]func(*testing.T, body) *executor.Task[int]{
		"run": func(t *testing.T, fn body) *executor.Task[int] {
			f := executor.NewTask(fn)
			run(t.Context(), f)
			return f
		},
		"canceled": func(t *testing.T, fn body) *executor.Task[int] {
			f := executor.NewTask(fn)
			f.Cancel()
			return f
		},
		"abandoned": func(t *testing.T, fn body) *executor.Task[int] {
			f := executor.NewTask(fn)
			f.Abandon()
			return f
		},
		"completed by Complete": func(t *testing.T, fn body) *executor.Task[int] {
			f := executor.NewTask(fn)
			f.Complete(1)
			return f
		},
		"run, then submitted to a pool": func(t *testing.T, fn body) *executor.Task[int] {
			f := executor.NewTask(fn)
			run(t.Context(), f)
			newPool(t, executor.Config{Workers: 1}).Execute(t.Context(), f)
			return f
		},
		"rejected": func(t *testing.T, fn body) *executor.Task[int] {
			p := executor.Fixed(1)
			p.Close()
			return testkit.SubmitTask(t.Context(), p, fn)
		},
		"with an invalid option": func(t *testing.T, fn body) *executor.Task[int] {
			return testkit.SubmitTask(t.Context(), testkit.Inline{}, fn, executor.Timeout(-1))
		},
		"in a pool": func(t *testing.T, fn body) *executor.Task[int] {
			return testkit.SubmitTask(t.Context(), newPool(t, executor.Config{Workers: 1}), fn)
		},
		"canceled in a queue": func(t *testing.T, fn body) *executor.Task[int] {
			p := newPool(t, executor.Config{Workers: 1})
			newBlocker(t).Fill(t, p, 1)
			f := testkit.SubmitTask(t.Context(), p, fn)
			f.Cancel()
			return f
		},
		"canceled during its run": func(t *testing.T, fn body) *executor.Task[int] {
			var f *executor.Task[int]
			f = executor.NewTask(before(fn, func() { f.Cancel() }))
			run(t.Context(), f)
			return f
		},
		"completed during its run": func(t *testing.T, fn body) *executor.Task[int] {
			var f *executor.Task[int]
			f = executor.NewTask(before(fn, func() { f.Complete(1) }))
			run(t.Context(), f)
			return f
		},
		"failed before its run, by a hook": func(t *testing.T, fn body) *executor.Task[int] {
			p := newPool(t, executor.Config{Workers: 1, Hooks: executor.Hooks{
				BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("hook") },
				OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) {},
			}})
			return testkit.SubmitTask(t.Context(), p, fn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body, gone := burdened()
				f := end(t, body)
				synctest.Wait()
				if !f.State().Done() {
					t.Fatalf("State: %v", f.State())
				}
				runtime.GC()
				runtime.GC()
				if gone.Value() != nil {
					t.Error("the task function is still reachable")
				}
				runtime.KeepAlive(f)
			})
		})
	}
}

// A scheduled future that is kept does not retain the function of a task that ended.
func TestScheduledTaskReleasesFunction(t *testing.T) {
	for what, end := range map[string]func(timedTask){
		"canceled while it waits": func(f timedTask) { f.Cancel() },
		"finished":                func(timedTask) { elapse(2 * time.Hour) },
		"canceled while it runs":  func(f timedTask) { elapse(time.Hour); f.Cancel(); elapse(time.Hour) },
		"abandoned while it runs": func(f timedTask) { elapse(time.Hour); f.Abandon(); elapse(time.Hour) },
	} {
		t.Run(what, func(t *testing.T) {
			for i := range 2 {
				synctest.Test(t, func(t *testing.T) {
					p, ctx := scheduled(t, 1), testkit.Contexts(t)[i]
					sleep := func(context.Context) error { time.Sleep(time.Minute); return nil }
					body, held := loaded(sleep)
					once := executor.SubmitAfter(ctx, p, time.Hour, executor.Func(body).Call)
					end(once)
					body = nil
					check.Collected(t, "the task function of a one-shot", held)

					body, held = loaded(sleep)
					beat, _ := p.AtFixedRate(ctx, time.Hour, time.Hour, body, executor.Times(1))
					end(beat)
					body = nil
					check.Collected(t, "the task function of a periodic task", held)
					runtime.KeepAlive(once)
					runtime.KeepAlive(beat)
				})
			}
		})
	}
}

// A pool retains neither the tasks that it has run nor their results.
func TestPoolReleasesFutures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 2})
		var gone []weak.Pointer[burden]
		for range 8 {
			f := executor.Submit(context.Background(), p,
				func(context.Context) (*burden, error) { return new(burden), nil })
			v, _ := f.Get(t.Context())
			gone = append(gone, weak.Make(v))
		}
		synctest.Wait()
		runtime.GC()
		runtime.GC()
		for i, g := range gone {
			if g.Value() != nil {
				t.Errorf("the value of task %d is kept", i)
			}
		}
		runtime.KeepAlive(p)
	})
}

// A pool, its queue and the future release a task function when it has run, was canceled, removed
// or discarded.
func TestPoolReleasesFunctions(t *testing.T) {
	type large [1 << 16]byte
	for name, use := range map[string]func(*executor.Pool, *testkit.Blocker, func(context.Context) (int, error)) any{
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
		"returned by ShutdownNow": func(pool *executor.Pool, block *testkit.Blocker, body func(context.Context) (int, error)) any {
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
				pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(4), Reject: executor.DiscardOldest})
				block := newBlocker(t)
				mustGo(t, pool, block.Run)
				held := new(large)
				gone := weak.Make(held)
				kept := use(pool, block, func(context.Context) (int, error) { return len(held), nil })
				held = nil
				synctest.Wait() // the worker may still be on its way out of the task
				runtime.GC()
				if gone.Value() != nil {
					t.Error("the data of the task function are still reachable")
				}
				runtime.KeepAlive(kept)
				runtime.KeepAlive(pool)
			})
		})
	}
}

// A pool releases the context of a task function that has returned, even if the function
// used it and its parent is not canceled.
func TestPoolReleasesContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		cancelable := context.WithCancel // whose function is not called
		submit := func(use func(ctx context.Context, body func(context.Context) error)) weak.Pointer[burden] {
			held := new(burden)
			ctx, _ := cancelable(context.WithValue(context.Background(), &pool, held))
			use(ctx, func(ctx context.Context) error { return ctx.Err() })
			return weak.Make(held)
		}
		plain := submit(func(ctx context.Context, body func(context.Context) error) { pool.Go(ctx, body) })
		future := submit(func(ctx context.Context, body func(context.Context) error) {
			executor.Submit(ctx, pool, executor.Func(body).Call)
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

// cargo is something that a task function refers to.
type cargo struct{ _ [1 << 10]byte }

// loaded returns a task function with a cargo, which calls then if that is not nil.
func loaded(then func(context.Context) error) (func(context.Context) error, weak.Pointer[cargo]) {
	c := new(cargo)
	return func(ctx context.Context) error {
		defer runtime.KeepAlive(c)
		if then != nil {
			return then(ctx)
		}
		return nil
	}, weak.Make(c)
}

// A scheduled pool releases a task that ended at once, future and function, while its workers wait
// for others (JDK-6602600, and GCRetention of the JDK).
func TestScheduledPoolReleasesTasks(t *testing.T) {
	for what, end := range map[string]func(*executor.ScheduledPool, *anyFuture){
		"canceled":  func(_ *executor.ScheduledPool, f *anyFuture) { f.Cancel() },
		"abandoned": func(_ *executor.ScheduledPool, f *anyFuture) { f.Abandon() },
		"removed":   func(p *executor.ScheduledPool, f *anyFuture) { p.Remove(f) },
		"finished":  func(*executor.ScheduledPool, *anyFuture) { elapse(2 * time.Hour) },
		"returned by ShutdownNow": func(p *executor.ScheduledPool, _ *anyFuture) {
			p.ShutdownNow()
		},
		"dropped": func(p *executor.ScheduledPool, _ *anyFuture) {
			setDropDelayed(p, true)
			p.Shutdown()
		},
	} {
		t.Run(what, func(t *testing.T) {
			for i := range 2 {
				synctest.Test(t, func(t *testing.T) {
					p := scheduled(t, 2)
					executor.SubmitAfter(t.Context(), p, 30*time.Minute, nopValue)
					executor.SubmitAfter(t.Context(), p, 30*time.Hour, nopValue)
					elapse(time.Second)
					future, body := func() (weak.Pointer[anyFuture], weak.Pointer[cargo]) {
						body, held := loaded(nil)
						f := executor.SubmitAfter(testkit.Contexts(t)[i], p, time.Hour, executor.Func(body).Call)
						defer end(p, f)
						return weak.Make(f), held
					}()
					check.Collected(t, "the task function", body)
					check.Collected(t, "the future", future)
				})
			}
		})
	}
}

// A submitter's context that does not end does not retain tasks that ended.
func TestScheduledPoolContextReleasesTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		finished, canceled := func() (weak.Pointer[anyFuture], weak.Pointer[executor.Series]) {
			f := executor.SubmitAfter(ctx, p, time.Second, func(ctx context.Context) (struct{}, error) {
				ctx.Done() // makes the context behind
				return struct{}{}, nil
			})
			g, _ := p.AtFixedRate(ctx, time.Second, time.Minute, nop)
			elapse(time.Hour)
			g.Cancel()
			return weak.Make(f), weak.Make(g)
		}()
		elapse(time.Second)
		check.Collected(t, "the finished task", finished)
		check.Collected(t, "the canceled task", canceled)
	})
}

// A rejected task is not retained.
func TestScheduledPoolReleasesRejectedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.Shutdown()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		body, held := loaded(nil)
		future := weak.Make(executor.SubmitAfter(ctx, p, time.Hour, executor.Func(body).Call))
		body = nil
		check.Collected(t, "the task function", held)
		check.Collected(t, "the future", future)
	})
}

// A pool whose idle workers leave is garbage without a shutdown.
func TestPoolIdleIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := func() weak.Pointer[executor.Pool] {
			p, err := executor.New(executor.Config{Workers: 2, KeepAlive: time.Second, KeepNone: true})
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

// A scheduled pool with Workers 0 that has nothing to do has no goroutine and no timer, and is garbage
// without a shutdown.
func TestScheduledPoolIdleIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := func() weak.Pointer[executor.Pool] {
			p := executor.Scheduled(0)
			executor.SubmitAfter(t.Context(), p, time.Second, nopValue)
			executor.SubmitAfter(t.Context(), p, time.Hour, nopValue).Cancel()
			f, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
			elapse(time.Hour)
			f.Cancel()
			return weak.Make(p.Pool)
		}()
		elapse(time.Second)
		check.Collected(t, "the pool", pool)
	})
}

// When many tasks are canceled the queue returns its memory too.
func TestScheduledPoolCancelReturnsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		const n = 100_000
		before := check.HeapInUse()
		fs := make([]*anyFuture, n)
		for i := range fs {
			fs[i] = executor.SubmitAfter(context.Background(), p, time.Hour+time.Duration(i), nopValue)
		}
		full := check.HeapInUse() - before
		for _, f := range fs {
			f.Cancel()
		}
		fs = nil
		if left := check.HeapInUse() - before; left > full/100 {
			t.Errorf("%d bytes are left of %d", left, full)
		}
	})
}

// After a loop was left, a future that is not done retains none of the others.
func TestCompletedBreakReleasesFutures(t *testing.T) {
	late := executor.NewPromise[int]().Future()
	first := func() weak.Pointer[executor.Future[int]] {
		task := executor.NewTask(value(1))
		task.Run(t.Context())
		f := task.Future()
		for range executor.Completed(context.Background(), f, late) {
			break
		}
		return weak.Make(f)
	}()
	check.Collected(t, "the future that was done", first)
	runtime.KeepAlive(late)
}

// Loops that were left leave nothing behind on a future that all of them waited for, however many
// there were at the same time.
func TestCompletedBreakReturnsMemory(t *testing.T) {
	const n = 20_000
	late, promise := executor.NewPromise[int]().Future(), executor.NewPromise[int]()
	promise.Complete(1)
	done := promise.Future()
	var loop func(depth int)
	loop = func(depth int) {
		for range executor.Completed(context.Background(), done, late) {
			if depth > 1 {
				loop(depth - 1)
			}
			break
		}
	}
	before := check.HeapInUse()
	loop(n)
	if kept := check.HeapInUse() - before; kept > n {
		t.Errorf("%d bytes are kept of %d loops", kept, n)
	}
	runtime.KeepAlive(late)
}

// Allocations.

// A future is one allocation, as is submitting a function; fire and forget is none.
func TestFutureAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		ctx := context.Background()
		body := value(1)
		usesContext := func(ctx context.Context) (int, error) { return 0, ctx.Err() }
		batch := func(submit func()) func() {
			return func() {
				for range 100 {
					submit()
				}
				synctest.Wait()
			}
		}
		for name, c := range map[string]struct {
			run  func()
			most float64
		}{
			"Go":                  {batch(func() { p.Go(ctx, nop) }), 0},
			"Submit":              {batch(func() { testkit.SubmitTask(ctx, p, body) }), 1},
			"Submit, Cancel":      {batch(func() { testkit.SubmitTask(ctx, p, body).Cancel() }), 1},
			"NewTask, Run":        {batch(func() { executor.NewTask(body).Run(ctx) }), 1},
			"Complete, Get":       {batch(func() { f := executor.NewPromise[int](); f.Complete(1); f.Get(ctx) }), 1},
			"Submit, use context": {batch(func() { testkit.SubmitTask(ctx, p, usesContext) }), 6},
			"Submit with option":  {batch(func() { testkit.SubmitTask(ctx, p, body, executor.Priority(1)) }), 5},
		} {
			c.run() // the queue has its size
			if n := testing.AllocsPerRun(10, c.run) / 100; n > c.most+0.5 {
				t.Errorf("%s: %v allocations, want %v", name, n, c.most)
			}
		}
	})
}

// A task whose context cannot end costs no allocation, and a future only itself. Not in a bubble,
// which allocates too.
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
