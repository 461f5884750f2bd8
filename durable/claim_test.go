package durable_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// What falls due at the same moment begins then, though it is far more than there
// are workers and each claim takes its time.
func TestManyThatFallDueTogetherBeginThen(t *testing.T) {
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
		other := durable.Client[string, string](newJobs(t, store), "k")
		must(other.ScheduleAll(t.Context(), 5*time.Second, make([]string, 200)))
		time.Sleep(10 * time.Second)
		d.wants(t, begun, slices.Repeat([]time.Duration{5 * time.Second}, 200)...)
	})
}

// A backlog is worked off without a pause: a node that has begun what it claimed
// claims more at once.
func TestBacklogIsWorkedOffWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		must(k.ScheduleAll(t.Context(), 0, make([]string, 500)))
		begun := time.Now()
		start(t, jobs)
		time.Sleep(time.Hour)
		d.wants(t, begun, make([]time.Duration, 500)...)
	})
}

// A node claims when half of what it has at hand has begun, and not for each job,
// however often it is told to look.
func TestNodeClaimsSeveralAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newHinting(store)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = 10 * time.Minute })
		durable.Handle(jobs, "k", func(_ context.Context, d time.Duration) (string, error) {
			time.Sleep(d)
			return "", nil
		})
		other := durable.Client[time.Duration, string](newJobs(t, store), "k")
		must(other.ScheduleAll(t.Context(), 0, slices.Repeat([]time.Duration{time.Hour}, 3), durable.WithPriority(durable.High)))
		ids := must(other.ScheduleAll(t.Context(), 0, slices.Repeat([]time.Duration{time.Second}, 40))) // on the fourth worker
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

func (c *crowded) Claim(ctx context.Context, r durable.ClaimRequest) (durable.ClaimResult, error) {
	now, err := c.Now(ctx)
	if err != nil || !now.Before(c.until) {
		return c.Store.Claim(ctx, r)
	}
	return durable.ClaimResult{Now: now, Busy: true}, nil
}

// A node that finds another one claiming what is limited for all claims again in a
// moment.
func TestNodeThatFindsAnotherClaimingLooksAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		store := &crowded{memory.New(), begun.Add(12 * time.Millisecond)}
		jobs := newJobs(t, store)
		var d diary
		k := durable.Handle(jobs, "k", d.handler, durable.GlobalLimit(1))
		must(k.Schedule(t.Context(), 0, ""))
		start(t, jobs)
		time.Sleep(10 * time.Second)
		d.wants(t, begun, 15*time.Millisecond)
	})
}
