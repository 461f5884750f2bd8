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

// cargo is what a body holds on to.
type cargo struct{ _ [1 << 10]byte }

// loaded gives a body that holds a cargo, and runs then if there is one.
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

// A task that ended in whatever way is let go of by its pool at once, future
// and body, while workers wait for others. JDK-6602600, and the JDK's
// GCRetention.
func TestEndedTasksAreCollected(t *testing.T) {
	for what, end := range map[string]func(*executor.ScheduledPool, *anyFuture){
		"canceled":  func(_ *executor.ScheduledPool, f *anyFuture) { f.Cancel() },
		"abandoned": func(_ *executor.ScheduledPool, f *anyFuture) { f.Abandon() },
		"removed":   func(p *executor.ScheduledPool, f *anyFuture) { p.Remove(f) },
		"completed": func(_ *executor.ScheduledPool, f *anyFuture) { f.Complete(struct{}{}) },
		"failed":    func(_ *executor.ScheduledPool, f *anyFuture) { f.Fail(context.Canceled) },
		"purged": func(p *executor.ScheduledPool, f *anyFuture) {
			p.SetRetainCanceled(true)
			f.Cancel()
			p.Purge()
		},
		"finished": func(*executor.ScheduledPool, *anyFuture) { elapse(2 * time.Hour) },
		"given back": func(p *executor.ScheduledPool, _ *anyFuture) {
			p.ShutdownNow()
		},
		"dropped": func(p *executor.ScheduledPool, _ *anyFuture) {
			p.SetDelayed(executor.DropAtShutdown)
			p.Shutdown()
		},
	} {
		t.Run(what, func(t *testing.T) {
			for i := range 2 {
				synctest.Test(t, func(t *testing.T) {
					p := scheduled(t, 2)
					executor.Schedule(t.Context(), p, 30*time.Minute, nopValue)
					executor.Schedule(t.Context(), p, 30*time.Hour, nopValue)
					elapse(time.Second)
					future, body := func() (weak.Pointer[anyFuture], weak.Pointer[cargo]) {
						body, held := loaded(nil)
						f := executor.Schedule(testkit.Contexts(t)[i], p, time.Hour, executor.Callable(body))
						defer end(p, f)
						return weak.Make(f), held
					}()
					check.Collected(t, "the body", body)
					check.Collected(t, "the future", future)
				})
			}
		})
	}
}

// A future that is kept does not hold the body of a task that ended.
func TestKeptFutureDoesNotHoldBody(t *testing.T) {
	for what, end := range map[string]func(*anyFuture){
		"canceled while it waits":  func(f *anyFuture) { f.Cancel() },
		"finished":                 func(*anyFuture) { elapse(2 * time.Hour) },
		"canceled while it runs":   func(f *anyFuture) { elapse(time.Hour); f.Cancel(); elapse(time.Hour) },
		"abandoned while it runs":  func(f *anyFuture) { elapse(time.Hour); f.Abandon(); elapse(time.Hour) },
		"completed while it waits": func(f *anyFuture) { f.Complete(struct{}{}) },
	} {
		t.Run(what, func(t *testing.T) {
			for i := range 2 {
				synctest.Test(t, func(t *testing.T) {
					p, ctx := scheduled(t, 1), testkit.Contexts(t)[i]
					sleep := func(context.Context) error { time.Sleep(time.Minute); return nil }
					body, held := loaded(sleep)
					once := executor.Schedule(ctx, p, time.Hour, executor.Callable(body))
					end(once)
					body = nil
					check.Collected(t, "the body of a one-shot", held)

					body, held = loaded(sleep)
					beat, _ := p.AtFixedRate(ctx, time.Hour, time.Hour, body, executor.Times(1))
					end(beat)
					body = nil
					check.Collected(t, "the body of a periodic task", held)
					runtime.KeepAlive(once)
					runtime.KeepAlive(beat)
				})
			}
		})
	}
}

// A retained canceled task is held, as asked for, but not its body.
func TestRetainedTaskDoesNotHoldBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		body, held := loaded(nil)
		executor.Schedule(t.Context(), p, time.Hour, executor.Callable(body)).Cancel()
		body = nil
		expect(t, "queued", waitStats(t, p).Queued, 1)
		check.Collected(t, "the body", held)
	})
}

// A submitter's context that lives on does not hold tasks that ended.
func TestContextDoesNotHoldEndedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		finished, canceled := func() (weak.Pointer[anyFuture], weak.Pointer[anyFuture]) {
			f := executor.Schedule(ctx, p, time.Second, func(ctx context.Context) (struct{}, error) {
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

// A task that was rejected is not held.
func TestRejectedTaskIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.Shutdown()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		body, held := loaded(nil)
		future := weak.Make(executor.Schedule(ctx, p, time.Hour, executor.Callable(body)))
		body = nil
		check.Collected(t, "the body", held)
		check.Collected(t, "the future", future)
	})
}

// A pool with Core 0 that has nothing to do has no goroutine and no timer: it
// needs no shutdown to be collected.
func TestIdleCoreZeroPoolIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := func() weak.Pointer[executor.Pool] {
			p := executor.Scheduled(0)
			executor.Schedule(t.Context(), p, time.Second, nopValue)
			executor.Schedule(t.Context(), p, time.Hour, nopValue).Cancel()
			f, _ := p.AtFixedRate(t.Context(), 0, time.Minute, nop)
			elapse(time.Hour)
			f.Cancel()
			return weak.Make(p.Pool)
		}()
		elapse(time.Second)
		check.Collected(t, "the pool", pool)
	})
}

// When many tasks are canceled the memory of the heap's array is returned, too.
func TestHeapMemoryIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		const n = 100_000
		before := check.HeapInUse()
		fs := make([]*anyFuture, n)
		for i := range fs {
			fs[i] = executor.Schedule(context.Background(), p, time.Hour+time.Duration(i), nopValue)
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
