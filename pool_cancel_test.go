package executor_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

// many is how many tasks wait in these tests: so many that most are far from
// the head of the queue.
const many = 4000

// crowd is a pool with many tasks that wait.
type crowd struct {
	*executor.Pool
	waiting []canceler // in random order
	ran     atomic.Int64
	free    func() // ends the tasks that its workers are busy with
}

type canceler interface {
	executor.Runnable
	Cancel() bool
}

// crowds are the pools whose queue tells what is far.
var crowds = map[string]func(*testing.T) *crowd{
	"scheduled": func(t *testing.T) *crowd {
		p := scheduled(t, 2)
		c := &crowd{Pool: p.Pool, free: func() {}}
		for i := range many {
			f := executor.Schedule(testkit.Contexts(t)[i%2], p, time.Hour+rand.N(time.Hour), func(context.Context) (int, error) { return int(c.ran.Add(1)), nil })
			c.waiting = append(c.waiting, f)
		}
		return c
	},
	"prioritized": func(t *testing.T) *crowd {
		p := newPool(t, executor.Config{Core: 2, Queue: executor.Prioritized()})
		busy := make(chan struct{})
		c := &crowd{Pool: p, free: sync.OnceFunc(func() { close(busy) })}
		t.Cleanup(c.free)
		for range 2 {
			p.Go(t.Context(), func(context.Context) error { <-busy; return nil })
		}
		for i := range many {
			f := executor.Submit(testkit.Contexts(t)[i%2], p, func(context.Context) (int, error) { return int(c.ran.Add(1)), nil }, executor.Priority(rand.Int()))
			c.waiting = append(c.waiting, f)
		}
		return c
	},
}

// scheduledCrowd is a pool of so many workers, and the futures of what waits.
func scheduledCrowd(t *testing.T, core int) (*executor.ScheduledPool, []*anyFuture) {
	p := scheduled(t, core)
	var fs []*anyFuture
	for i := range many {
		fs = append(fs, executor.Schedule(testkit.Contexts(t)[i%2], p, time.Hour+rand.N(time.Hour), nopValue))
	}
	rand.Shuffle(many, func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
	return p, fs
}

// crowded runs a test with each of these pools.
func crowded(t *testing.T, test func(*testing.T, *crowd)) {
	for name, open := range crowds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t)
				rand.Shuffle(many, func(i, j int) { c.waiting[i], c.waiting[j] = c.waiting[j], c.waiting[i] })
				test(t, c)
			})
		})
	}
}

// cancel cancels the first n of those that wait.
func (c *crowd) cancel(t *testing.T, n int) {
	t.Helper()
	for _, f := range c.waiting[:n] {
		if !f.Cancel() {
			t.Fatal("a task that waits could not be canceled")
		}
	}
	c.waiting = c.waiting[n:]
}

// A canceled task has left the queue when Cancel returns, also among many.
func TestPoolCancelManyRemovesAll(t *testing.T) {
	crowded(t, func(t *testing.T, c *crowd) {
		for canceled := 0; len(c.waiting) > 0; {
			n := min(1+rand.IntN(100), len(c.waiting))
			gone := c.waiting[0]
			c.cancel(t, n)
			canceled += n
			if rand.IntN(20) == 0 && slices.Contains(slices.Collect(c.Waiting()), executor.Runnable(gone)) {
				t.Error("a canceled task waits")
			}
			s := c.Stats()
			expect(t, "queued", s.Queued, len(c.waiting))
			expect(t, "canceled", s.Canceled, int64(canceled))
		}
	})
}

// A pool that is shut down ends with the last of its tasks, be it canceled before
// or after the shutdown.
func TestPoolCancelManyEndsThePool(t *testing.T) {
	for name, before := range map[string]int{"before": many, "half before": many / 2, "after": 0} {
		t.Run(name, func(t *testing.T) {
			crowded(t, func(t *testing.T, c *crowd) {
				c.cancel(t, before)
				c.Shutdown()
				c.cancel(t, many-before)
				c.free()
				synctest.Wait()
				expect(t, "stage", c.Stats().Stage, executor.StageTerminated)
			})
		})
	}
}

// A first-in, first-out queue retains no canceled future.
func TestPoolCancelReleasesFutures(t *testing.T) {
	for name, queue := range map[string]executor.Queue{"unbounded": executor.Unbounded(), "bounded": executor.Bounded(20)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Core: 2, Queue: queue})
				newBlocker(t).Fill(t, p, 2)
				var fs []*executor.Future[int]
				for range 20 {
					fs = append(fs, executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, nil }))
				}
				var held []weak.Pointer[executor.Future[int]]
				for _, f := range fs {
					held = append(held, weak.Make(f))
					f.Cancel()
				}
				clear(fs)
				for _, w := range held {
					check.Collected(t, "a future", w)
				}
			})
		})
	}
}

// Each task counts once while many are canceled and others schedule and shut down.
func TestPoolCancelCountsOnce(t *testing.T) {
	for range 20 {
		p, fs := scheduledCrowd(t, 2)
		var wg sync.WaitGroup
		var canceled, scheduled, given atomic.Int64
		for k := range 3 {
			wg.Go(func() {
				for _, f := range fs[k*many/4 : (k+2)*many/4] { // two for each in the middle
					if f.Cancel() {
						canceled.Add(1)
					}
				}
			})
		}
		wg.Go(func() {
			for range 200 {
				scheduled.Add(1)
				executor.Schedule(t.Context(), p, time.Hour, nopValue)
				if s := p.Stats(); s.Submitted != int64(s.Queued+s.Active)+s.Ended()+s.Rejected {
					t.Errorf("%+v does not add up", s)
				}
			}
			given.Store(int64(len(p.ShutdownNow())))
		})
		wg.Wait()
		<-p.Terminated()
		s := p.Stats()
		expect(t, "canceled or given back", s.Canceled, canceled.Load()+given.Load())
		expect(t, "submitted", s.Submitted, many+scheduled.Load())
		expect(t, "all that ended", s.Ended()+s.Rejected, s.Submitted)
	}
}

// A future that is canceled while it is being pushed through an open gate does not
// stay in the queue. This runs outside of a bubble, where the gate would not open.
func TestPoolCancelDuringPush(t *testing.T) {
	p := scheduled(t, 1)
	busy, end := make(chan struct{}), make(chan struct{})
	mustGo(t, p.Pool, func(context.Context) error { close(busy); <-end; return nil })
	defer close(end)
	<-busy
	for range 2000 {
		f := executor.NewFuture(func(context.Context) (int, error) { return 1, nil })
		var begun atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for !begun.Load() {
				runtime.Gosched()
			}
			for range rand.IntN(100) {
				begun.Load() // some nanoseconds
			}
			f.Cancel()
		})
		begun.Store(true)
		p.Execute(context.Background(), f)
		wg.Wait()
		expect(t, "queued", p.Stats().Queued, 0)
	}
}
