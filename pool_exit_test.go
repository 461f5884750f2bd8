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
)

// many is how many tasks wait in these tests: so many that most are far from
// leaving, and those that are canceled may be taken out of the queue together.
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
		p := cored(t, 2)
		c := &crowd{Pool: p.Pool, free: func() {}}
		for i := range many {
			f := executor.Schedule(contexts(t)[i%2], p, time.Hour+rand.N(time.Hour), func(context.Context) (int, error) { return int(c.ran.Add(1)), nil })
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
			f := executor.Submit(contexts(t)[i%2], p, func(context.Context) (int, error) { return int(c.ran.Add(1)), nil }, executor.Priority(rand.Int()))
			c.waiting = append(c.waiting, f)
		}
		return c
	},
}

// scheduledCrowd is a pool of so many workers, and the futures of what waits.
func scheduledCrowd(t *testing.T, core int) (*executor.ScheduledPool, []*anyFuture) {
	p := cored(t, core)
	var fs []*anyFuture
	for i := range many {
		fs = append(fs, executor.Schedule(contexts(t)[i%2], p, time.Hour+rand.N(time.Hour), schedNopValue))
	}
	rand.Shuffle(many, func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
	return p, fs
}

// crowded runs a test with each of these pools.
func crowded(t *testing.T, test func(*testing.T, *crowd)) {
	for name, open := range crowds {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
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

// Whoever looks after a cancellation finds the task gone, however many were
// canceled since the last look.
func TestCrowdIsWithoutWhoIsCanceled(t *testing.T) {
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

// Who is canceled does not run, and counts once, also if nobody looks until all
// the others have run.
func TestCrowdRunsWithoutWhoIsCanceled(t *testing.T) {
	crowded(t, func(t *testing.T, c *crowd) {
		const canceled = 50
		c.cancel(t, canceled)
		c.free()
		elapse(2 * time.Hour)
		expect(t, "tasks that ran", c.ran.Load(), many-canceled)
		s := c.Stats()
		expect(t, "canceled", s.Canceled, canceled)
		expect(t, "queued and active", s.Queued+s.Active, 0)
	})
}

// A pool that is shut down ends with the last of its tasks, be it canceled before
// or after.
func TestCrowdThatIsCanceledEndsThePool(t *testing.T) {
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

// ShutdownNow gives back who was not canceled, and nobody else.
func TestCrowdIsGivenBackWithoutWhoIsCanceled(t *testing.T) {
	crowded(t, func(t *testing.T, c *crowd) {
		c.cancel(t, 20)
		expect(t, "tasks given back", len(c.ShutdownNow()), many-20)
	})
}

// A task that was canceled while the pool retained such tasks stays, and one that
// was canceled before does not, nor one after.
func TestCrowdIsRetainedAsItWasCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, fs := scheduledCrowd(t, 2)
		cancel := func(n int) {
			for _, f := range fs[:n] {
				f.Cancel()
			}
			fs = fs[n:]
		}
		cancel(5)
		p.SetRetainCanceled(true)
		cancel(7)
		p.SetRetainCanceled(false)
		cancel(11)
		expect(t, "queued", p.Stats().Queued, many-5-11)
		expect(t, "purged", p.Purge(), 7)
		expect(t, "canceled", p.Stats().Canceled, 5+7+11)
	})
}

// The last worker of a pool that keeps none leaves when the last task is canceled.
func TestCrowdThatIsCanceledSendsTheWorkerHome(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, fs := scheduledCrowd(t, 0)
		for _, f := range fs {
			f.Cancel()
		}
		synctest.Wait()
		expect(t, "workers", p.Stats().Workers, 0)
	})
}

// Of those that were canceled a pool keeps no more alive than the queue may, once
// anybody has looked, and none once the queue is empty.
func TestCrowdKeepsFewAliveWhoAreCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, fs := scheduledCrowd(t, 2)
		var held []weak.Pointer[anyFuture]
		for _, f := range fs[:500] {
			f.Cancel()
			held = append(held, weak.Make(f))
		}
		clear(fs)
		alive := func() (n int) {
			runtime.GC()
			for _, w := range held {
				if w.Value() != nil {
					n++
				}
			}
			return n
		}
		if n := alive(); n > 32+31 {
			t.Errorf("%d futures are reachable", n)
		}
		p.Stats()
		if n := alive(); n > 31 {
			t.Errorf("%d futures are reachable after a look", n)
		}
		p.ShutdownNow()
		if n := alive(); n > 0 {
			t.Errorf("%d futures are reachable in an empty pool", n)
		}
	})
}

// A queue that is first-in, first-out keeps nobody alive who is canceled.
func TestLineKeepsNobodyAliveWhoIsCanceled(t *testing.T) {
	for name, queue := range map[string]executor.Queue{"unbounded": executor.Unbounded(), "bounded": executor.Bounded(20)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPool(t, executor.Config{Core: 2, Queue: queue})
				newBlocker(t).fill(t, p, 2)
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
					isCollected(t, "a future", w)
				}
			})
		})
	}
}

// While many are canceled others look, schedule and end the pool, and each task
// counts once.
func TestCrowdCountsOnce(t *testing.T) {
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
				executor.Schedule(t.Context(), p, time.Hour, schedNopValue)
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

// A future that is canceled on its way into a queue whose gate is open does not stay
// there. It may get its place in the same moment. In a bubble time would stand still,
// and the gate would let nobody in.
func TestFutureThatIsCanceledOnItsWayIn(t *testing.T) {
	p := cored(t, 1)
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
