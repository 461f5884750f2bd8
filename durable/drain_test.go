package durable_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// logLines is a log that a test looks at.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logLines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

// Run drains: what runs is finished and committed, what has not begun is given
// back at once, with no attempt lost.
func TestRunDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(10 * time.Second)
			return "", nil
		})
		stop := start(t, jobs)
		synctest.Wait()
		running := must(k.Schedule(t.Context(), 0, ""))
		claimed := must(k.Schedule(t.Context(), 900*time.Millisecond, ""))
		synctest.Wait()
		begun := time.Now()
		stop()
		if d := time.Since(begun); d != 10*time.Second {
			t.Errorf("Run returned after %v", d)
		}
		if job := must(jobs.Get(t.Context(), running)); job.State != durable.Succeeded {
			t.Errorf("the running job is %v", job.State)
		}
		if job := must(jobs.Get(t.Context(), claimed)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("the claimed job is %v in attempt %d", job.State, job.Attempt)
		}
	})
}

// A handler that outlasts Config.Drain is canceled, and its job runs again
// elsewhere without loss of an attempt.
func TestDrainCancelsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store, func(c *durable.Config) { c.Drain = time.Minute })
		var cause error
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return "", ctx.Err()
		})
		stop := start(t, jobs)
		id := must(k.Schedule(t.Context(), 0, ""))
		time.Sleep(time.Second)
		begun := time.Now()
		stop()
		if d := time.Since(begun); d != time.Minute || !errors.Is(cause, executor.ErrShutdown) {
			t.Errorf("Run returned after %v, the handler was canceled with %v", d, cause)
		}
		heir := newJobs(t, store)
		k2 := durable.Handle(heir, "k", func(ctx context.Context, _ string) (int, error) {
			j, _ := durable.Current(ctx)
			return j.Attempt, nil
		})
		start(t, heir)
		if attempt := must(k2.Await(t.Context(), id)); attempt != 1 {
			t.Errorf("the heir had attempt %d", attempt)
		}
	})
}

// While a node that is told to end waits for a handler, it gives back what it gets
// afterwards, from an insert that was under way, and what could not be given back at
// first: others run it soon, and it does not.
func TestDrainGivesBackWhatComesLater(t *testing.T) {
	for what, disturb := range map[string]func(*faulty, *reluctant){
		"insert under way": func(line *faulty, _ *reluctant) { line.delay("insert", 20*time.Millisecond) },
		"locked":           func(_ *faulty, store *reluctant) { store.stuck.Store(2) },
		"store away": func(line *faulty, _ *reluctant) {
			line.set(func(op string) (error, error) {
				if op == "release" {
					return errDown, nil
				}
				return nil, nil
			})
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &reluctant{Store: memory.New()}
				line := newFaulty(store)
				ends, other := newJobs(t, line), newJobs(t, store)
				free := make(chan struct{})
				durable.Handle(ends, "long", func(context.Context, string) (string, error) { <-free; return "", nil })
				var d, own diary
				k := durable.Handle(ends, "k", own.handler)
				durable.Handle(other, "k", d.handler)
				ctx, end := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- ends.Run(ctx) }()
				start(t, other)
				synctest.Wait()
				must(durable.Client[string, string](ends, "long").Schedule(t.Context(), 0, ""))
				synctest.Wait()
				disturb(line, store)
				added := time.Now()
				go k.Schedule(t.Context(), 500*time.Millisecond, "")
				time.Sleep(10 * time.Millisecond)
				end()
				time.Sleep(2 * time.Second)
				line.up()
				time.Sleep(2 * time.Second)
				close(free)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if since := d.since(added); len(since) != 1 || since[0] > 4*time.Second || own.count() != 0 {
					t.Errorf("it was run after %v by the other, and %d times by the one that ends", since, own.count())
				}
			})
		})
	}
}

// Run returns though the store is away.
func TestRunEndsWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			return "", nil
		})
		stop := start(t, jobs)
		must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		line.down()
		begun := time.Now()
		stop()
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("Run returned after %v", d)
		}
	})
}

// A second Run is declined.
func TestRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		stop := start(t, jobs)
		stop()
		if err := jobs.Run(t.Context()); !errors.Is(err, durable.ErrRunning) {
			t.Error(err)
		}
	})
}

// What a node has claimed is given back if its pool is shut down.
func TestClosedPoolGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		pool := executor.Scheduled(1)
		jobs := newJobs(t, store, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		stop := start(t, jobs)
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 500*time.Millisecond, "")) // claimed at once
		pool.Close()
		time.Sleep(10 * time.Second)
		if job := must(jobs.Get(t.Context(), id)); job.State != durable.Waiting || job.Attempt != 0 {
			t.Errorf("job is %v in attempt %d", job.State, job.Attempt)
		}
		stop()
	})
}

// A node whose pool is shut down takes no jobs away from others, and says so once.
func TestClosedPoolClaimsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		pool, log := executor.Scheduled(1), new(logLines)
		closed := newJobs(t, store, func(c *durable.Config) { c.Executor, c.Logger = pool, log.logger() })
		durable.Handle(closed, "k", new(diary).handler)
		start(t, closed)
		synctest.Wait()
		pool.Close()
		open := newJobs(t, store)
		var d diary
		durable.Handle(open, "k", d.handler)
		start(t, open)
		for i := range 20 {
			from := []*durable.Jobs{closed, open}[i%2]
			id := must(durable.Client[string, string](from, "k").Schedule(t.Context(), time.Second, ""))
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

// A program may shut the pool down during the drain, to end what still runs: no job
// is to be taken then, and the log does not complain.
func TestPoolIsShutDownDuringTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, log := executor.Scheduled(1), new(logLines)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor, c.Logger = pool, log.logger() })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(time.Minute)
			return "", nil
		})
		stop := start(t, jobs)
		synctest.Wait()
		must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		time.AfterFunc(5*time.Second, func() { pool.ShutdownNow() })
		stop()
		if n := log.count("the pool is shut down"); n != 0 {
			t.Errorf("the log says it %d times", n)
		}
	})
}

// Among nodes of which one is busy, jobs go to the one that is idle: a node
// gives back what it has claimed and can't begin.
func TestBusyNodeGivesBack(t *testing.T) {
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
		ids := must(k.ScheduleAll(t.Context(), 500*time.Millisecond, make([]string, 40))) // claimed ahead, all of them
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

// No job waits behind a handler that lasts, while another node is idle: neither one
// that was due nor one that was claimed ahead, nor a periodic one again and again.
func TestNothingWaitsBehindLongHandlers(t *testing.T) {
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
			synctest.Wait()
			return k
		}
		k := add()
		must(k.ScheduleAll(t.Context(), 0, []time.Duration{5 * time.Hour, 5 * time.Hour}))
		synctest.Wait() // both workers have one
		add()
		must(k.Schedule(t.Context(), 0, 0))
		must(k.Schedule(t.Context(), 500*time.Millisecond, 0))
		must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, 0))
		time.Sleep(6 * time.Hour) // what waits behind the long ones begins after them
		if d := time.Duration(late.Load()); d > 5*time.Second {
			t.Errorf("a job began %v late", d)
		}
	})
}

// A node that gives back what waits behind long handlers is not idle for that: the
// next job begins as soon as a worker is free.
func TestStalledNodeGoesOnAtOnce(t *testing.T) {
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
		for _, id := range must(k.ScheduleAll(t.Context(), 0, make([]string, 5))) {
			must(k.Await(t.Context(), id))
		}
		if idle > 10*time.Millisecond {
			t.Errorf("the worker was idle for %v while jobs waited", idle)
		}
	})
}

// newShared gives a pool of two workers that others may use, too, and a kind of job
// that a node runs in it.
func newShared(t *testing.T) (*executor.ScheduledPool, *durable.Kind[string, string], *diary) {
	pool, d := executor.Scheduled(2), new(diary)
	t.Cleanup(pool.Close)
	jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
	k := durable.Handle(jobs, "k", d.handler)
	start(t, jobs)
	synctest.Wait()
	return pool, k, d
}

// A pool that others use too, and that always has a queue, begins a job when it is
// its turn.
func TestSharedPoolBeginsJobsInTurn(t *testing.T) {
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
		must(k.Schedule(t.Context(), 0, ""))
		time.Sleep(5 * time.Minute)
		if since := d.since(begun); len(since) != 1 || since[0] > 10*time.Second {
			t.Errorf("it was run after %v", since)
		}
	})
}

// However long a pool that others use too is busy with theirs, what a node has given
// back does not pile up in it.
func TestSharedPoolDoesNotFillUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, k, d := newShared(t)
		for range 2 {
			pool.Go(t.Context(), func(context.Context) error { time.Sleep(time.Hour); return nil })
		}
		synctest.Wait()
		must(k.ScheduleAll(t.Context(), 0, make([]string, 10)))
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

// What the pool declines while something else is just being given back is given
// back as well.
func TestDeclinedDuringReleaseIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		pool := executor.Scheduled(1)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		synctest.Wait()
		early := must(k.Schedule(t.Context(), 400*time.Millisecond, ""))
		time.Sleep(300 * time.Millisecond)
		late := must(k.Schedule(t.Context(), 1200*time.Millisecond, ""))
		pool.Close() // the first is declined when it is confirmed, and given back by the next look
		line.mu.Lock()
		line.late = map[string]time.Duration{"release": 2 * time.Second} // during which the other is declined
		line.mu.Unlock()
		time.Sleep(1700 * time.Millisecond)
		if a := must(jobs.Cancel(t.Context(), early)); a != durable.Applied { // or it would come again, and be given back with the other
			t.Fatalf("Cancel: %v", a)
		}
		time.Sleep(20 * time.Second)
		if j := must(store.Get(t.Context(), late)); j.State.Held() && time.Since(j.Updated) > 5*time.Second {
			t.Errorf("nobody runs it, and nobody else can: %+v", j)
		}
	})
}

// A node that gives back what waits for too long keeps its workers busy: what it keeps
// is at hand, and not due later.
func TestNodeThatGivesBackKeepsItsWorkersBusy(t *testing.T) {
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
		synctest.Wait()
		line.delay("release", 400*time.Millisecond)
		line.delay("claim", 400*time.Millisecond)
		must(work.ScheduleAll(t.Context(), 500*time.Millisecond, make([]string, 40)))
		releases := line.callsOf("release")
		for sampled := 0; sampled < 9; { // while it gives back, and claims again
			must(later.ScheduleAll(t.Context(), 1200*time.Millisecond, make([]string, 20)))
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
