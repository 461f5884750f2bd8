package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A schedule that kills its process is dead in the end, and takes none of its neighbors with it: not those that begin
// when it does, nor those that run when it begins.
func TestJobThatKillsNodesSparesItsNeighbors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		client := durable.KindOf[string, string](newJobs(t, store), "k")
		pill := must(client.AtFixedRate(t.Context(), "pill", 0, time.Second, ""))
		for i := range 9 {
			must(client.AtFixedRate(t.Context(), fmt.Sprint("neighbor", i), 0, time.Second, ""))
		}
		start(t, newJobs(t, store)) // it declares the dead ones dead
		for range 100 {
			line, died := newFaulty(store), make(chan struct{})
			pool := executor.Scheduled(10)
			t.Cleanup(pool.Close)
			jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
			durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
				if j, _ := durable.Current(ctx); j.ID == pill {
					time.Sleep(20 * time.Millisecond)
					line.down()
					close(died)
				}
				select {
				case <-died:
					<-ctx.Done()
				case <-time.After(100 * time.Millisecond):
				}
				return "", nil
			})
			start(t, jobs)
			select {
			case <-died:
			case <-time.After(10 * time.Minute):
			}
			if must(store.Get(t.Context(), pill)).State == durable.Dead {
				break
			}
		}
		for _, j := range must(store.List(t.Context(), durable.Filter{Limit: 1000})) {
			if dead := j.State == durable.Dead; dead != (j.ID == pill) || !dead && j.Lost > 3 {
				t.Errorf("%s is %v, lost %d times in a row", j.Key, j.State, j.Lost)
			}
		}
	})
}

// neglectedOften adds a job of which three runs were lost with their nodes.
func neglectedOften(t *testing.T, store durable.Store, payload string) durable.ID {
	t.Helper()
	k := durable.KindOf[string, string](newJobs(t, store), "k")
	id := must(k.AtFixedRate(t.Context(), payload, 0, 24*time.Hour, payload))
	for i := range 3 {
		node := fmt.Sprint("lost", payload, i)
		must(store.Join(t.Context(), node, time.Second))
		time.Sleep(10 * time.Second)
		must(store.Heartbeat(t.Context(), node, time.Hour, durablestore.Watch{}))
		c := must(store.Claim(t.Context(), durablestore.ClaimRequest{Node: node, Lead: time.Hour, Limit: 1,
			Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}))
		j := c.Jobs[0]
		must(store.Commit(t.Context(), durablestore.CommitRequest{Node: node,
			Begun: []durablestore.Begin{{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, Started: c.Now}}}))
		must(store.Heartbeat(t.Context(), node, -time.Second, durablestore.Watch{}))
		must(store.Join(t.Context(), "other", time.Hour))
		must(store.Heartbeat(t.Context(), "other", time.Hour, durablestore.Watch{}))
		if err := store.Leave(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
	}
	if j := must(store.Get(t.Context(), id)); j.Lost != 3 {
		t.Fatalf("job is %+v", j)
	}
	return id
}

// A job that was lost three times waits for the handlers that run, up to 10 s, and is alone for as long: what would
// begin meanwhile begins when it has ended, or after that time.
func TestJobLostOftenRunsAlone(t *testing.T) {
	for _, test := range []struct {
		before, lasts time.Duration // a handler that runs when it is due, and itself
		begins, over  time.Duration // after it is due, and when another begins that was added with it
	}{
		{0, time.Second, 0, time.Second},
		{3 * time.Second, time.Second, 3 * time.Second, 4 * time.Second},
		{20 * time.Minute, time.Second, 10 * time.Second, 11 * time.Second},
		{0, 20 * time.Minute, 0, 10 * time.Second},
		{20 * time.Minute, 20 * time.Minute, 10 * time.Second, 20 * time.Second},
	} {
		t.Run(fmt.Sprint(test.before, " ", test.lasts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				id := neglectedOften(t, store, "often")
				jobs := newJobs(t, store)
				var mu sync.Mutex
				began := make(map[string]time.Time)
				k := durable.Handle(jobs, "k", func(ctx context.Context, name string) (string, error) {
					mu.Lock()
					began[name] = time.Now()
					mu.Unlock()
					time.Sleep(map[string]time.Duration{"before": test.before, "often": test.lasts}[name])
					return "", nil
				})
				must(jobs.Pause(t.Context(), id))
				start(t, jobs)
				must(k.Add(t.Context(), "before"))
				synctest.Wait()
				due := time.Now()
				must(jobs.RunNow(t.Context(), id))
				time.Sleep(time.Millisecond)
				must(k.Add(t.Context(), "after"))
				time.Sleep(time.Hour)
				mu.Lock()
				defer mu.Unlock()
				const exact = 2500 * time.Millisecond // a poll, and what may be released to another node
				if late := began["often"].Sub(due) - test.begins; late < 0 || late > exact {
					t.Errorf("it began after %v, want %v", began["often"].Sub(due), test.begins)
				}
				if late := began["after"].Sub(due) - test.over; late < 0 || late > exact {
					t.Errorf("another began after %v, want %v", began["after"].Sub(due), test.over)
				}
				if j := must(jobs.Get(t.Context(), id)); j.Lost != 0 || j.Suspect {
					t.Errorf("in the end it is %+v", j)
				}
			})
		})
	}
}

// The registration of a schedule that is dead says so, each time, and returns its ID.
func TestAtFixedRateReportsDeadSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		k := durable.KindOf[string, string](jobs, "k")
		id := must(k.AtFixedRate(t.Context(), "key", 0, time.Hour, ""))
		for i := 0; must(store.Get(t.Context(), id)).State != durable.Dead; i++ {
			line := newFaulty(store)
			dies := newJobs(t, line)
			durable.Handle(dies, "k", func(ctx context.Context, _ string) (string, error) {
				time.Sleep(untilNoted)
				line.down()
				<-ctx.Done()
				return "", nil
			})
			start(t, dies)
			start(t, newJobs(t, store))
			time.Sleep(time.Minute)
		}
		for range 2 {
			got, err := k.AtFixedRate(t.Context(), "key", 0, time.Hour, "other")
			var dead *durable.JobError
			if got != id || !errors.Is(err, durable.ErrDead) || !errors.As(err, &dead) || dead.ID != id {
				t.Errorf("registered as %v: %v", got, err)
			}
		}
		must(jobs.Revive(t.Context(), id))
		if got, err := k.AtFixedRate(t.Context(), "key", 0, time.Hour, ""); got != id || err != nil {
			t.Errorf("revived, it is registered as %v: %v", got, err)
		}
	})
}
