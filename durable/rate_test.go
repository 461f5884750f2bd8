package durable_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// keepsRate sees to it that within no time more begin than a rate allows.
func keepsRate(t *testing.T, begins []time.Time, every time.Duration, burst int) {
	t.Helper()
	begins = slices.SortedFunc(slices.Values(begins), time.Time.Compare)
	for i := range begins {
		for k := i; k < len(begins); k++ {
			if d := begins[k].Sub(begins[i]); k-i+1 > burst+int(d/every) {
				t.Fatalf("%d began within %v", k-i+1, d)
			}
		}
	}
}

// Of a kind with a rate no more jobs begin on all nodes together, in any time, than the rate and the burst allow; they
// begin as soon as that allows it; and other kinds are not held up.
func TestKindGlobalRateHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		var mails, quick *durable.Kind[string, string]
		for range 2 {
			jobs := newJobs(t, store)
			mails = durable.Handle(jobs, "mail", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 100.0 / 60, Burst: 10}))
			quick = durable.Handle(jobs, "quick", func(context.Context, string) (string, error) { return "", nil })
			start(t, jobs)
		}
		time.Sleep(time.Minute)
		begun := time.Now()
		ids := must(mails.AddAll(t.Context(), 0, make([]string, 30)))
		for i := range 30 { // and some of which the node knows at once, now and ahead of time
			ids = append(ids, must(mails.AddAfter(t.Context(), time.Duration(i%4)*700*time.Millisecond, "")))
			at := time.Now()
			must(quick.Await(t.Context(), must(quick.Add(t.Context(), ""))))
			if d := time.Since(at); d > 100*time.Millisecond {
				t.Errorf("a quick one took %v", d)
			}
		}
		for _, id := range ids {
			must(mails.Await(t.Context(), id))
		}
		keepsRate(t, d.begun, 600*time.Millisecond, 10)
		// The last fifty take their tokens as they come.
		if last := slices.Max(d.since(begun)); last > 50*600*time.Millisecond+time.Second {
			t.Errorf("60 jobs took %v", last)
		}
	})
}

// Jobs that had to wait for a worker do not begin together once there is one: until then they wait in the store,
// without their part of the rate.
func TestKindGlobalRateHoldsAfterBusyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 5}))
		busy := durable.Handle(jobs, "busy", func(context.Context, string) (string, error) {
			time.Sleep(900 * time.Millisecond)
			return "", nil
		})
		must(busy.AddAll(t.Context(), 0, make([]string, 4)))
		start(t, jobs)
		begun := time.Now()
		must(k.AddAll(t.Context(), 0, make([]string, 20)))
		time.Sleep(time.Minute)
		if since := d.since(begun); len(since) != 20 || since[0] > time.Second {
			t.Fatalf("runs began after %v", since)
		}
		keepsRate(t, d.begun, 200*time.Millisecond, 1)
	})
}

// A clock of the store that is put back does not stop a kind with a rate until the time has come again.
func TestKindGlobalRateOfClockPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 0.1, Burst: 2}))
		start(t, jobs)
		for range 2 {
			must(k.Add(t.Context(), ""))
		}
		time.Sleep(time.Second)
		store.Shift(-time.Hour)
		time.Sleep(5 * time.Second) // until the node knows
		begun := time.Now()
		for range 4 {
			must(k.Add(t.Context(), ""))
		}
		time.Sleep(time.Minute)
		if since := d.since(begun); len(since) != 6 || since[5] > 40*time.Second {
			t.Errorf("runs began after %v", since)
		}
	})
}

// Jobs that were claimed ahead of their times do not begin together if all workers are busy at those times, and are
// free later: their tokens were for those times.
func TestKindGlobalRateHoldsOfJobsClaimedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 5}))
		busy := durable.Handle(jobs, "busy", func(context.Context, string) (string, error) {
			time.Sleep(900 * time.Millisecond)
			return "", nil
		})
		start(t, jobs)
		must(k.AddAll(t.Context(), 600*time.Millisecond, make([]string, 1)))
		must(k.AddAll(t.Context(), 800*time.Millisecond, make([]string, 1)))
		must(k.AddAll(t.Context(), 1000*time.Millisecond, make([]string, 1)))
		time.Sleep(500 * time.Millisecond)
		must(busy.AddAll(t.Context(), 0, make([]string, 4)))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := d.count(); n != 3 {
			t.Errorf("%d have begun", n)
		}
		keepsRate(t, d.begun, 200*time.Millisecond, 1)
	})
}

// A kind with a rate is not held up by a backlog of another kind, which gives each worker its next job before it is
// free.
func TestKindGlobalRateHoldsBesideBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 5}))
		backlog := durable.Handle(jobs, "backlog", func(context.Context, string) (string, error) {
			time.Sleep(100 * time.Millisecond)
			return "", nil
		})
		must(backlog.AddAll(t.Context(), 0, make([]string, 2000))) // 50s of work
		start(t, jobs)
		time.Sleep(5 * time.Second)
		begun := time.Now()
		must(k.AddAll(t.Context(), 0, make([]string, 10), durable.WithPriority(durable.High)))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if since := d.since(begun); len(since) != 10 {
			t.Errorf("runs began after %v", since)
		}
		keepsRate(t, d.begun, 200*time.Millisecond, 1)
	})
}

// A kind with a rate is not held up by jobs of another kind that are added at this node, faster than it runs them: it
// need not ask the store for them.
func TestKindGlobalRateHoldsBesideJobsAddedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 5}))
		other := durable.Handle(jobs, "other", func(context.Context, string) (string, error) {
			time.Sleep(100 * time.Millisecond)
			return "", nil
		})
		start(t, jobs)
		begun := time.Now()
		for i := range 1000 {
			if i == 100 {
				begun = time.Now()
				must(k.AddAll(t.Context(), 0, make([]string, 5), durable.WithPriority(durable.High)))
			}
			must(other.Add(t.Context(), ""))
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if since := d.since(begun); len(since) != 5 {
			t.Errorf("runs began after %v", since)
		}
		keepsRate(t, d.begun, 200*time.Millisecond, 1)
	})
}

// Jobs with a rate do not wait for workers behind jobs of other kinds that were claimed with them: they would begin
// later than their tokens are for, and then together.
func TestKindGlobalRateHoldsAmongJobsOfBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New()) // four workers
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalRate(executor.Rate{PerSecond: 10}))
		work := new(atomic.Int64)
		backlog := durable.Handle(jobs, "backlog", func(context.Context, string) (string, error) {
			time.Sleep(time.Duration(work.Add(37)%200) * time.Millisecond)
			return "", nil
		})
		must(backlog.AddAll(t.Context(), 0, make([]string, 2000)))
		must(k.AddAll(t.Context(), 0, make([]string, 200)))
		start(t, jobs)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := d.count(); n != 200 {
			t.Errorf("%d have begun", n)
		}
		keepsRate(t, d.begun, 100*time.Millisecond, 1)
	})
}

// A kind that waits for its next token is looked for at that time, also if a kind in another queue, which is asked
// afterwards, waits for a later one.
func TestKindGlobalRateHoldsBesideSlowerKindOfQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Poll, c.Lease, c.Queues = time.Hour, time.Hour, []string{durable.DefaultQueue, "other"}
		})
		var quick, slow diary
		k := durable.Handle(jobs, "quick", quick.handler, durable.GlobalRate(executor.Rate{PerSecond: 1}))
		s := durable.Handle(jobs, "slow", slow.handler, durable.GlobalRate(executor.Rate{PerSecond: 0.001}))
		must(k.AddAll(t.Context(), 0, make([]string, 20)))
		must(s.AddAll(t.Context(), 0, make([]string, 20), durable.Queue("other")))
		begun := time.Now()
		start(t, jobs)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if since := quick.since(begun); len(since) != 20 {
			t.Errorf("runs began after %v", since)
		}
		keepsRate(t, quick.begun, time.Second, 1)
	})
}

// claimedAt notes when the jobs that a store lets nodes have are to begin.
type claimedAt struct {
	*memory.Store
	mu     sync.Mutex
	begins []time.Time
}

func (c *claimedAt) ClaimLimited(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	claims, err := c.Store.ClaimLimited(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range claims.Jobs {
		if j.Due.Before(claims.Now) {
			j.Due = claims.Now
		}
		c.begins = append(c.begins, j.Due)
	}
	return claims, err
}

// Whatever goes wrong between three nodes and the store, also where they die with jobs that have their tokens, the
// store lets no more begin in any time than the rate and the burst allow; and nothing is lost, nor committed twice.
func TestHistoryOfGlobalRate(t *testing.T) {
	lost := 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &claimedAt{Store: memory.New()}
				c := &crowd{running: make(map[int]context.Context)}
				m := mob{store: store, seed: seed, jobs: 200, pause: 800 * time.Millisecond, work: time.Second, enter: c.enterAt,
					limits: []durable.HandlerOption{durable.GlobalRate(executor.Rate{PerSecond: 2, Burst: 4})}}
				m.run(t)
				store.mu.Lock()
				defer store.mu.Unlock()
				keepsRate(t, store.begins, 500*time.Millisecond, 4)
				c.mu.Lock()
				defer c.mu.Unlock()
				lost += m.lost(t, c.starts)
			})
		})
	}
	if lost == 0 {
		t.Error("no run was lost: too quiet to prove anything")
	}
}

// slowClaims counts the claims of kinds with limits, each of which takes a while.
type slowClaims struct {
	*memory.Store
	takes  time.Duration
	claims atomic.Int64
}

func (c *slowClaims) ClaimLimited(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	time.Sleep(c.takes)
	c.claims.Add(1)
	return c.Store.ClaimLimited(ctx, r)
}

// A kind with a rate, of which no job waits, does not make a node claim a backlog of other kinds in small parts, though
// jobs of that backlog leave workers idle until the next claim.
func TestKindGlobalRateWithoutJobsLeavesClaimsLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowClaims{Store: memory.New(), takes: time.Millisecond}
		jobs := newJobs(t, store) // four workers
		durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil },
			durable.GlobalRate(executor.Rate{PerSecond: 5}))
		backlog := durable.Handle(jobs, "backlog", func(context.Context, string) (string, error) { return "", nil })
		ids := must(backlog.AddAll(t.Context(), 0, make([]string, 2000)))
		start(t, jobs)
		for _, id := range ids {
			must(backlog.Await(t.Context(), id))
		}
		if n := store.claims.Load(); n > 50 {
			t.Errorf("there were %d claims", n)
		}
	})
}

// Workers that become idle during a claim get jobs of a kind with a rate at once, if there are more than were asked
// for.
func TestKindGlobalRateBeginsOnWorkersThatAreIdleAfterClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowClaims{Store: memory.New(), takes: 50 * time.Millisecond}
		jobs := newJobs(t, store, func(c *durable.Config) { c.Poll, c.Lease = time.Minute, time.Minute }) // four workers
		begun := new(atomic.Int64)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			begun.Add(1)
			time.Sleep(10 * time.Second)
			return "", nil
		}, durable.GlobalRate(executor.Rate{PerSecond: 5, Burst: 10}))
		busy := durable.Handle(jobs, "busy", func(context.Context, string) (string, error) {
			time.Sleep(75 * time.Millisecond)
			return "", nil
		})
		must(busy.AddAll(t.Context(), 0, make([]string, 3)))
		start(t, jobs)
		time.Sleep(100 * time.Millisecond) // three workers are busy for another 25ms
		must(k.AddAll(t.Context(), 0, make([]string, 4)))
		time.Sleep(time.Second)
		synctest.Wait()
		if n := begun.Load(); n != 4 {
			t.Errorf("%d have begun", n)
		}
	})
}
