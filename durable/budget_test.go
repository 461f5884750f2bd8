package durable_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// What a node has claimed is released if its pool is shut down.
func TestNodeReleasesJobsOfClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		pool := executor.Scheduled(1)
		jobs := newJobs(t, store, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		stop := start(t, jobs)
		id := must(k.AddAfter(t.Context(), 500*time.Millisecond, "")) // claimed at once
		pool.Close()
		time.Sleep(10 * time.Second)
		if job := must(jobs.Get(t.Context(), id)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("job is %v in attempt %d", job.State, job.Attempt)
		}
		stop()
	})
}

// A node whose pool is shut down takes no jobs away from others, and the log has one line about it.
func TestNodeClaimsNothingForClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		pool, log := executor.Scheduled(1), new(logLines)
		closed := newJobs(t, store, func(c *durable.Config) { c.Executor, c.Logger = pool, log.logger() })
		durable.Handle(closed, "k", new(diary).handler)
		start(t, closed)
		pool.Close()
		open := newJobs(t, store)
		var d diary
		durable.Handle(open, "k", d.handler)
		start(t, open)
		for i := range 20 {
			from := []*durable.Jobs{closed, open}[i%2]
			id := must(durable.KindOf[string, string](from, "k").AddAfter(t.Context(), time.Second, ""))
			must(open.Await(t.Context(), id))
			if job := must(open.Get(t.Context(), id)); job.Epoch != 1 {
				t.Errorf("job %d was claimed %d times", i, job.Epoch)
			}
		}
		if n := log.count("the pool is shut down"); n != 1 {
			t.Errorf("the log says it %d times", n)
		}
	})
}

// Among nodes of which one is busy, jobs go to the one that is idle: a node releases what it has claimed and can't
// begin.
func TestNodeReleasesJobsItCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var byNode [2]atomic.Int64
		add := func(i int) *durable.Kind[string, string] {
			jobs := newJobs(t, store)
			k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
				byNode[i].Add(1)
				time.Sleep(10 * time.Second)
				return "", nil
			})
			start(t, jobs)
			return k
		}
		k := add(0)
		synctest.Wait()
		ids := must(k.AddAll(t.Context(), 500*time.Millisecond, make([]string, 40))) // claimed ahead, all of them
		add(1)
		begun := time.Now()
		for _, id := range ids {
			must(k.Await(t.Context(), id))
		}
		if d := time.Since(begun); d > 65*time.Second {
			t.Errorf("40 jobs of ten seconds on two nodes of four workers took %v: %d and %d", d, byNode[0].Load(), byNode[1].Load())
		}
	})
}

// No job waits behind a handler that lasts, while another node is idle: neither one that was due nor one that was
// claimed ahead, nor a periodic one again and again.
func TestNodeReleasesJobsBehindLongHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var late atomic.Int64
		add := func() *durable.Kind[time.Duration, string] {
			pool := executor.Scheduled(2)
			t.Cleanup(pool.Close)
			jobs := newJobs(t, store, func(c *durable.Config) { c.Executor = pool })
			k := durable.Handle(jobs, "k", func(ctx context.Context, d time.Duration) (string, error) {
				job, _ := durable.Current(ctx)
				if d := int64(time.Since(job.Due)); d > late.Load() {
					late.Store(d)
				}
				time.Sleep(d)
				return "", nil
			})
			start(t, jobs)
			return k
		}
		k := add()
		must(k.AddAll(t.Context(), 0, []time.Duration{20 * time.Minute, 20 * time.Minute}))
		synctest.Wait() // both workers have one
		add()
		must(k.Add(t.Context(), 0))
		must(k.AddAfter(t.Context(), 500*time.Millisecond, 0))
		must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, 0))
		time.Sleep(30 * time.Minute) // what waits behind the long ones begins after them
		if d := time.Duration(late.Load()); d > 5*time.Second {
			t.Errorf("a job began %v late", d)
		}
	})
}

// A node that has released what waits behind long handlers begins the next job as soon as a worker is free.
func TestNodeStalledGoesOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
		var ended time.Time
		var idle time.Duration
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			if !ended.IsZero() {
				idle = max(idle, time.Since(ended))
			}
			time.Sleep(10 * time.Second)
			ended = time.Now()
			return "", nil
		})
		defer start(t, jobs)()
		synctest.Wait()
		for _, id := range must(k.AddAll(t.Context(), 0, make([]string, 5))) {
			must(k.Await(t.Context(), id))
		}
		if idle > 10*time.Millisecond {
			t.Errorf("the worker was idle for %v while jobs waited", idle)
		}
	})
}

// newShared returns a pool of two workers that others may use, too, and a kind of job
// that a node runs in it.
func newShared(t *testing.T) (*executor.ScheduledPool, *durable.Kind[string, string], *diary) {
	pool, d := executor.Scheduled(2), new(diary)
	t.Cleanup(pool.Close)
	jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
	k := durable.Handle(jobs, "k", d.handler)
	start(t, jobs)
	return pool, k, d
}

// A pool that the program shares, and that always has a queue, begins a job when it is its turn.
func TestNodeOnSharedPoolBeginsJobsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, k, d := newShared(t)
		// Work of the pool's own: two tasks of a second each second, five seconds behind.
		ctx, stop := context.WithCancel(t.Context())
		work := func() { pool.Go(ctx, func(context.Context) error { time.Sleep(time.Second); return nil }) }
		for range 10 {
			work()
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		wg.Go(func() {
			for ctx.Err() == nil {
				work()
				work()
				time.Sleep(time.Second)
			}
		})
		synctest.Wait()
		begun := time.Now()
		must(k.Add(t.Context(), ""))
		time.Sleep(5 * time.Minute)
		if since := d.since(begun); len(since) != 1 || since[0] > 10*time.Second {
			t.Errorf("it was run after %v", since)
		}
	})
}

// However long a shared pool is busy with other tasks, what a node has released does not pile up in it.
func TestNodeDoesNotFillSharedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, k, d := newShared(t)
		for range 2 {
			pool.Go(t.Context(), func(context.Context) error { time.Sleep(time.Hour); return nil })
		}
		synctest.Wait()
		must(k.AddAll(t.Context(), 0, make([]string, 10)))
		time.Sleep(59 * time.Minute)
		if n := pool.Stats().Queued; n > 20 {
			t.Errorf("%d tasks wait in the pool for 10 jobs", n)
		}
		time.Sleep(2 * time.Minute)
		if d.count() != 10 {
			t.Errorf("%d jobs were run, want 10", d.count())
		}
	})
}

// What the pool declines while a release is under way is released as well.
func TestNodeReleasesJobDeclinedDuringRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		pool := executor.Scheduled(1)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		early := must(k.AddAfter(t.Context(), 400*time.Millisecond, ""))
		time.Sleep(300 * time.Millisecond)
		late := must(k.AddAfter(t.Context(), 1200*time.Millisecond, ""))
		pool.Close() // the first is declined when it is confirmed, and released by the next poll
		line.mu.Lock()
		line.late = map[string]time.Duration{"release": 2 * time.Second} // during which the other is declined
		line.mu.Unlock()
		time.Sleep(1700 * time.Millisecond)
		// Or it would come again, and be released with the other.
		if a := must(jobs.Cancel(t.Context(), early)); a != durable.Applied {
			t.Fatalf("Cancel: %v", a)
		}
		time.Sleep(20 * time.Second)
		if j := must(store.Get(t.Context(), late)); j.State.Held() && time.Since(j.Updated) > 5*time.Second {
			t.Errorf("no node runs it, and no other can: %+v", j)
		}
	})
}

// A node that releases what waits for too long keeps its workers busy: what it keeps is due now, and not later.
func TestNodeThatReleasesKeepsWorkersBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var running atomic.Int64
		work := durable.Handle(jobs, "work", func(context.Context, string) (string, error) {
			running.Add(1)
			defer running.Add(-1)
			time.Sleep(900 * time.Millisecond)
			return "", nil
		})
		later := durable.Handle(jobs, "later", new(diary).handler)
		start(t, jobs)
		line.delay("release", 400*time.Millisecond)
		line.delay("claim", 400*time.Millisecond)
		must(work.AddAll(t.Context(), 500*time.Millisecond, make([]string, 40)))
		releases := line.callsOf("release")
		for sampled := 0; sampled < 9; { // while it releases, and claims again
			must(later.AddAll(t.Context(), 1200*time.Millisecond, make([]string, 20)))
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if line.callsOf("release") == releases {
				continue
			}
			if sampled++; running.Load() < 4 {
				t.Errorf("%d of 4 workers are busy", running.Load())
			}
		}
	})
}
