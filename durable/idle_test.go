package durable_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A node that has nothing to do asks the store little more than once a second: it
// beats, and hardly ever looks for jobs.
func TestIdleNodeOnlyBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", new(diary).handler)
		start(t, jobs)
		must(k.Schedule(t.Context(), time.Hour, ""))
		time.Sleep(time.Second)
		all, claims := line.count(), line.callsOf("claim")
		time.Sleep(10 * time.Minute)
		if n := line.count() - all; n < 600 || n > 700 {
			t.Errorf("%d calls in 600 seconds, want one in 900 ms", n)
		}
		// An audit that comes with a beat has the node miss what that beat says.
		if n := line.callsOf("claim") - claims; n > 10 {
			t.Errorf("of these %d are claims, want one in a minute at most", n)
		}
	})
}

// What others add begins in time, or no later than a look takes to come round,
// however long the node has had nothing to do.
func TestIdleNodeFindsJobsOfOthers(t *testing.T) {
	for _, delay := range []time.Duration{0, 500 * time.Millisecond, 1100 * time.Millisecond, 1400 * time.Millisecond, 3 * time.Second} {
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
				id := must(other.Schedule(t.Context(), delay, ""))
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

// A node that looks seldom begins what others add in time all the same, or as soon
// as a beat has found it; and of some fifty beats few make it claim.
func TestLazyNodeFindsJobsOfOthers(t *testing.T) {
	for idle := 10 * time.Second; idle < 75*time.Second; idle += 170 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			line := newFaulty(store)
			jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = 30 * time.Second })
			var d diary
			durable.Handle(jobs, "k", d.handler)
			other := durable.Client[string, string](newJobs(t, store), "k")
			start(t, jobs)
			time.Sleep(idle)
			added, claims := time.Now(), line.callsOf("claim")
			if claims > 2 {
				t.Errorf("%d claims in %v without work", claims, idle)
			}
			var want []time.Duration
			for i := range 20 { // of which some are due before the next look, and some are not
				want = append(want, time.Duration(i+1)*2*time.Second)
				must(other.Schedule(t.Context(), want[i], ""))
			}
			must(other.Schedule(t.Context(), 0, ""))
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

// Beats that are answered late, or not at all, put no look off.
func TestLooksGoOnWithoutBeats(t *testing.T) {
	const delay, last = 1200 * time.Millisecond, 1300 * time.Millisecond
	for what, test := range map[string]struct {
		late  time.Duration // how long a beat takes
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
					must(other.Schedule(t.Context(), delay, ""))
					time.Sleep(last)
					d.wants(t, added, delay)
				})
			}
		})
	}
}

// reluctant is a store that can't free anything the first times.
type reluctant struct {
	durable.Store
	stuck, releases atomic.Int64
}

func (r *reluctant) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	r.releases.Add(1)
	if r.stuck.Add(-1) >= 0 {
		return true, nil
	}
	return r.Store.Release(ctx, node, keep)
}

// What could not be freed is released again although beats find nothing.
func TestQuietBeatLeavesNothingStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &reluctant{Store: memory.New()}
		store.stuck.Store(3)
		jobs := newJobs(t, store)
		durable.Handle(jobs, "k", new(diary).handler)
		start(t, jobs) // which releases, as any node does that has joined
		time.Sleep(10 * time.Second)
		if n := store.releases.Load(); n != 4 {
			t.Errorf("%d releases, want one that freed all after three that did not", n)
		}
	})
}

// A claim whose answer was lost is asked for again at once although a beat, which
// was on its way meanwhile, has found nothing.
func TestQuietBeatEndsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.Limit(1)) // such a job is claimed
		start(t, jobs)
		time.Sleep(10 * time.Second)
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
		added := time.Now()
		must(k.Schedule(t.Context(), 0, ""))
		time.Sleep(5 * time.Second)
		if since := d.since(added); len(since) != 1 || since[0] > 20*time.Millisecond || !lost {
			t.Errorf("runs began after %v, want one within 20ms", since)
		}
	})
}
