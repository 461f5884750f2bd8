package durable_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Jobs that are due at the same moment begin then, though they are far more than there are workers and each claim takes
// its time.
func TestNodeBeginsManyJobsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		line.delay("claim", 100*time.Millisecond)
		jobs := newJobs(t, line)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(10 * time.Second)
		begun := time.Now()
		other := durable.KindOf[string, string](newJobs(t, store), "k")
		must(other.AddAll(t.Context(), 5*time.Second, make([]string, 200)))
		time.Sleep(10 * time.Second)
		d.wants(t, begun, slices.Repeat([]time.Duration{5 * time.Second}, 200)...)
	})
}

// A node that has begun what it claimed claims more at once.
func TestNodeRunsBacklogWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		must(k.AddAll(t.Context(), 0, make([]string, 500)))
		begun := time.Now()
		start(t, jobs)
		time.Sleep(time.Hour)
		d.wants(t, begun, make([]time.Duration, 500)...)
	})
}

// A node claims when half of what it has at hand has begun, and not for each job, however often it is woken.
func TestNodeClaimsSeveralJobsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = 10 * time.Minute })
		durable.Handle(jobs, "k", func(_ context.Context, d time.Duration) (string, error) {
			time.Sleep(d)
			return "", nil
		})
		other := durable.KindOf[time.Duration, string](newJobs(t, store), "k")
		must(other.AddAll(t.Context(), 0, slices.Repeat([]time.Duration{time.Hour}, 3),
			durable.WithPriority(durable.High)))
		// On the fourth worker.
		ids := must(other.AddAll(t.Context(), 0, slices.Repeat([]time.Duration{time.Second}, 40)))
		start(t, jobs)
		for range 80 {
			time.Sleep(time.Second / 2)
			line.wake <- struct{}{}
		}
		for _, id := range ids {
			must(other.Await(t.Context(), id))
		}
		if n := line.callsOf("claim"); n > 30 {
			t.Errorf("%d claims of 43 jobs", n)
		}
	})
}

// crowded is a store in which other nodes claim what is limited, until some time.
type crowded struct {
	durable.Store
	until time.Time
}

func (c *crowded) Claim(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	now, err := c.Now(ctx)
	if err != nil || !now.Before(c.until) {
		return c.Store.Claim(ctx, r)
	}
	return durablestore.ClaimResult{Now: now, Busy: true}, nil
}

// A node that finds another one claiming of a kind with a global limit claims again in a moment.
func TestNodeRetriesBusyClaimSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		store := &crowded{memory.New(), begun.Add(12 * time.Millisecond)}
		jobs := newJobs(t, store)
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalLimit(1))
		must(k.Add(t.Context(), ""))
		start(t, jobs)
		time.Sleep(10 * time.Second)
		d.wants(t, begun, 15*time.Millisecond)
	})
}

// Of a backlog, jobs of high priority begin before those that were there first.
func TestNodeBeginsUrgentJobsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
		var order []string
		k := durable.Handle(jobs, "k", func(_ context.Context, s string) (string, error) {
			order = append(order, s)
			time.Sleep(10 * time.Millisecond)
			return "", nil
		})
		for _, p := range []durable.Priority{durable.Low, durable.Normal, durable.High} {
			must(k.AddAll(t.Context(), 0, []string{string(rune('a' + p)), string(rune('a' + p))},
				durable.WithPriority(p)))
		}
		start(t, jobs)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"b", "b", "a", "a", "`", "`"}
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("order %q, want %q", order, want)
			}
		}
	})
}

// A node that has nothing to do calls the store little more than once a second: it sends heartbeats, and hardly ever
// polls.
func TestNodeIdleSendsHeartbeatsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", new(diary).handler)
		start(t, jobs)
		must(k.AddAfter(t.Context(), time.Hour, ""))
		time.Sleep(time.Second)
		all, claims := line.count(), line.callsOf("claim")
		time.Sleep(10 * time.Minute)
		if n := line.count() - all; n < 600 || n > 700 {
			t.Errorf("%d calls in 600 seconds, want one in 900 ms", n)
		}
		// An audit that comes with a heartbeat has the node miss what that heartbeat says.
		if n := line.callsOf("claim") - claims; n > 10 {
			t.Errorf("of these %d are claims, want one in a minute at most", n)
		}
	})
}

// What others add begins in time, or no later than one poll interval, however long the node has had nothing to do.
func TestNodeIdleFindsNewJobs(t *testing.T) {
	for _, delay := range []time.Duration{0, 500 * time.Millisecond, 1100 * time.Millisecond, 1400 * time.Millisecond,
		3 * time.Second} {
		for idle := 10 * time.Second; idle < 11*time.Second; idle += 50 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				jobs := newJobs(t, store)
				var d diary
				durable.Handle(jobs, "k", d.handler)
				other := durable.Handle(newJobs(t, store), "k", d.handler)
				start(t, jobs)
				time.Sleep(idle)
				added := time.Now()
				id := must(other.AddAfter(t.Context(), delay, ""))
				time.Sleep(5 * time.Second)
				j := must(jobs.Get(t.Context(), id))
				if j.State != durable.Succeeded {
					t.Fatalf("job is %v", j.State)
				}
				begun := must(jobs.History(t.Context(), id, 0, 1))[0].Started.Sub(added)
				if late := begun - delay; late > max(time.Second-delay, 0) {
					t.Errorf("after %v without work, due in %v: it began %v late", idle, delay, late)
				}
			})
		}
	}
}

// A node that polls seldom begins what others add in time all the same, or as soon as a heartbeat has found it; and of
// some fifty heartbeats few make it claim.
func TestNodeThatPollsSeldomFindsNewJobs(t *testing.T) {
	step := 170 * time.Millisecond
	if os.Getenv("EXECUTOR_LONG") == "" {
		step *= 10
	}
	for idle := 10 * time.Second; idle < 75*time.Second; idle += step {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			line := newFaulty(store)
			jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = 30 * time.Second })
			var d diary
			durable.Handle(jobs, "k", d.handler)
			other := durable.KindOf[string, string](newJobs(t, store), "k")
			start(t, jobs)
			time.Sleep(idle)
			added, claims := time.Now(), line.callsOf("claim")
			if claims > 2 {
				t.Errorf("%d claims in %v without work", claims, idle)
			}
			var want []time.Duration
			for i := range 20 { // of which some are due before the next poll, and some are not
				want = append(want, time.Duration(i+1)*2*time.Second)
				must(other.AddAfter(t.Context(), want[i], ""))
			}
			must(other.Add(t.Context(), ""))
			time.Sleep(50 * time.Second)
			since := d.since(added)
			if len(since) != 21 || since[0] > time.Second || !slices.Equal(since[1:], want) {
				t.Errorf("after %v without work, runs began after %v", idle, since)
			}
			if n := line.callsOf("claim") - claims; n > 10 {
				t.Errorf("%d claims", n)
			}
		})
	}
}

// Heartbeats that are answered late, or not at all, put no poll off.
func TestNodePollsWithoutHeartbeats(t *testing.T) {
	const delay, last = 1200 * time.Millisecond, 1300 * time.Millisecond
	for what, test := range map[string]struct {
		late  time.Duration // how long a heartbeat takes
		until time.Duration // when the last job is added; its time comes before the lease is over
	}{
		"slow":   {700 * time.Millisecond, 3 * time.Second},
		"silent": {time.Hour, 200 * time.Millisecond},
	} {
		t.Run(what, func(t *testing.T) {
			for at := time.Duration(0); at <= test.until; at += 50 * time.Millisecond {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					line := newFaulty(store)
					jobs := newJobs(t, line)
					var d diary
					durable.Handle(jobs, "k", d.handler)
					other := durable.Handle(newJobs(t, store), "k", d.handler)
					start(t, jobs)
					time.Sleep(10 * time.Second)
					line.delay("heartbeat", test.late)
					time.Sleep(at)
					added := time.Now()
					must(other.AddAfter(t.Context(), delay, ""))
					time.Sleep(last)
					d.wants(t, added, delay)
				})
			}
		})
	}
}

// A claim whose answer was lost is repeated at once although a heartbeat, which was under way meanwhile, has found
// nothing.
func TestNodeIdleHeartbeatEndsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.Limit(1)) // such a job is claimed
		start(t, jobs)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		line.delay("heartbeat", 100*time.Millisecond)
		beats, lost := make(chan time.Time, 10), false
		line.set(func(op string) (error, error) {
			switch {
			case op == "heartbeat":
				beats <- time.Now()
			case op == "claim" && !lost:
				lost = true
				return nil, errLost
			}
			return nil, nil
		})
		<-beats
		time.Sleep(90 * time.Millisecond)
		synctest.Wait()
		added := time.Now()
		must(k.Add(t.Context(), ""))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if since := d.since(added); len(since) != 1 || since[0] > 20*time.Millisecond || !lost {
			t.Errorf("runs began after %v, want one within 20ms", since)
		}
	})
}
