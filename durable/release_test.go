package durable_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// overtaken is a store whose first insert, and first claim, are given up by those
// who wait for the answer, and reach it after what is asked of it next.
type overtaken struct {
	durable.Store
	by            time.Duration
	insert, claim sync.Once
}

func (o *overtaken) Insert(ctx context.Context, jobs []durable.NewJob,
	p durablestore.Placement) (placed []durable.InsertResult, err error) {
	o.insert.Do(func() {
		err = errLost
		time.AfterFunc(o.by, func() { o.Store.Insert(context.WithoutCancel(ctx), jobs, p) })
	})
	if err != nil {
		return nil, err
	}
	return o.Store.Insert(ctx, jobs, p)
}

func (o *overtaken) Claim(ctx context.Context, r durablestore.ClaimRequest) (c durablestore.ClaimResult, err error) {
	o.claim.Do(func() {
		err = errLost
		time.AfterFunc(o.by, func() { o.Store.Claim(context.WithoutCancel(ctx), r) })
	})
	if err != nil {
		return c, err
	}
	return o.Store.Claim(ctx, r)
}

// What an insert or a claim places on a node that has given up waiting, and has made a release since, is released by a
// later poll: soon, if it comes within a lease, as most do; some time, if it was under way for longer.
func TestNodeReleasesJobsOfOvertakenCall(t *testing.T) {
	for _, tt := range []struct {
		call       string
		by, within time.Duration
	}{
		{"insert", 100 * time.Millisecond, 3 * time.Second},
		{"claim", 100 * time.Millisecond, 3 * time.Second},
		{"insert", 5 * time.Minute, 7 * time.Minute},
		{"claim", 5 * time.Minute, 7 * time.Minute},
	} {
		t.Run(tt.call+tt.by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				line := &overtaken{Store: store, by: tt.by}
				jobs, k, d := newNode(t, line)
				if tt.call == "claim" { // the first that the node makes
					line.insert.Do(func() {})
					time.AfterFunc(tt.by-50*time.Millisecond,
						func() { durable.KindOf[string, string](newJobs(t, store), "k").Add(t.Context(), "") })
					start(t, jobs)
				} else {
					line.claim.Do(func() {})
					start(t, jobs)
					if _, err := k.Add(t.Context(), ""); !errors.Is(err, errLost) {
						t.Errorf("Schedule: %v", err)
					}
				}
				time.Sleep(tt.within)
				if n := d.count(); n != 1 {
					t.Errorf("it was begun %d times", n)
				}
			})
		})
	}
}

// A Schedule that has to wait, as for a key that an open transaction has taken, holds up no other job: what the node
// does not know is released meanwhile, and it goes on claiming.
func TestNodeReleasesWhileScheduleWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs, k, d := newNode(t, line)
		start(t, jobs)
		var inserts atomic.Int64
		line.set(func(op string) (error, error) {
			if op == "insert" {
				switch inserts.Add(1) {
				case 1:
					time.Sleep(time.Hour)
				case 2:
					return nil, errLost
				}
			}
			return nil, nil
		})
		go k.Add(t.Context(), "waits")
		synctest.Wait()
		begun := time.Now()
		if _, err := k.Add(t.Context(), ""); !errors.Is(err, errLost) {
			t.Errorf("Schedule: %v", err)
		}
		time.Sleep(2 * time.Second)
		must(k.Add(t.Context(), ""))
		time.Sleep(2 * time.Hour)
		if since := d.since(begun); len(since) != 3 || since[0] > time.Second || since[1] > 3*time.Second ||
			since[2] != time.Hour {
			t.Errorf("runs began after %v", since)
		}
	})
}

// What could not be freed is released again although heartbeats find nothing.
func TestNodeIdleRetriesRelease(t *testing.T) {
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

// A job that was added, although the answer was lost, runs soon: the node finds out that it has it.
func TestNodeReleasesJobOfLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs, k, d := newNode(t, line)
		start(t, jobs)
		line.set(func(op string) (error, error) {
			if op == "insert" {
				return nil, errLost
			}
			return nil, nil
		})
		if _, err := k.Add(t.Context(), ""); !errors.Is(err, errLost) {
			t.Errorf("Schedule: %v", err)
		}
		line.up()
		time.Sleep(2 * time.Second)
		if n := d.count(); n != 1 {
			t.Errorf("it was begun %d times", n)
		}
	})
}

// A job that is just being added is not released because the node does not know it yet: it is begun once.
func TestNodeKeepsJobBeingInserted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs, k, d := newNode(t, line)
		start(t, jobs)
		line.delay("insert", 2500*time.Millisecond)
		lost := false
		line.set(func(op string) (error, error) { // the claim of another job loses its answer meanwhile
			if op == "claim" && !lost {
				lost = true
				return nil, errLost
			}
			return nil, nil
		})
		other := durable.Handle(newJobs(t, line.Store), "k", d.handler)
		must(other.Add(t.Context(), "other"))
		must(k.Add(t.Context(), ""))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := d.count(); n != 2 || !lost {
			t.Errorf("the two were begun %d times", n)
		}
	})
}

// A job that is this node's again before the answer of the insert has come stays what it is then: it is not begun
// twice, nor released while it runs.
func TestNodeLateInsertSparesNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		line := newFaulty(c.store)
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", c.handler)
		start(t, jobs)
		line.delay("insert", time.Second)
		go k.AddAfter(t.Context(), 500*time.Millisecond, 5*time.Minute, durable.Key("key"))
		time.Sleep(100 * time.Millisecond)
		id := must(jobs.Find(t.Context(), "key")).ID
		must(jobs.RunNow(t.Context(), id)) // which takes it away from the node; a poll takes it again
		must(k.Await(t.Context(), id))
		if j := must(jobs.Get(t.Context(), id)); len(c.begun(t)) != 1 || j.Runs != 1 {
			t.Errorf("it is %+v", j)
		}
	})
}

// A job runs that the store has given to the node before the insert panicked.
func TestNodeReleasesJobOfInsertThatPanicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs := newJobs(t, store)
		ran := make(chan struct{})
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { close(ran); return 0, nil })
		start(t, jobs)
		synctest.Wait()
		store.mu.Lock()
		store.around = func(op string, call func() error) error {
			err := call()
			if op == "insert" {
				panic(op)
			}
			return err
		}
		store.mu.Unlock()
		func() {
			defer func() { recover() }()
			k.Add(t.Context(), 1)
			t.Error("it did not panic")
		}()
		select {
		case <-ran:
		case <-time.After(5 * time.Minute):
			t.Error("the job was not run")
		}
	})
}
