package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
)

// Whatever goes wrong between nodes and store, calls that fail, calls that are
// slow, answers that are lost, a line that is cut for seconds: nothing is lost,
// no occurrence is committed twice, nothing begins early.
func TestNothingIsLostWhateverFails(t *testing.T) {
	lost, twice := 0, 0
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := trial(t, seed)
				lost += v.Lost
				twice += v.Twice
			})
		})
	}
	if lost == 0 || twice == 0 {
		t.Errorf("%d runs were lost with their node, and %d begun twice: too quiet to prove anything", lost, twice)
	}
}

// trial lets three nodes run a few thousand occurrences on a bad line each.
func trial(t *testing.T, seed uint64) *history.Verdict {
	store := memory.New()
	var mu sync.Mutex
	var starts []history.Start
	handler := func(ctx context.Context, work time.Duration) (int, error) {
		j, _ := durable.Current(ctx)
		mu.Lock()
		starts = append(starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now()})
		mu.Unlock()
		select {
		case <-time.After(work):
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	var lines []*faulty
	var kinds []*durable.Kind[time.Duration, int]
	for i := range 3 {
		line := newFaulty(store)
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		line.set(trouble(r))
		lines = append(lines, line)
		jobs := newJobs(t, line, func(c *durable.Config) { c.History = 1 << 20 })
		kinds = append(kinds, durable.Handle(jobs, "k", handler))
		start(t, jobs)
	}
	r := rand.New(rand.NewPCG(seed, 99))
	for i := range 200 {
		k := kinds[r.IntN(3)]
		add := func() error {
			if i < 10 {
				_, err := k.AtFixedRate(t.Context(), fmt.Sprint("rate", i), 0, time.Second, upTo(r, time.Second), durable.OnMissed(durable.CatchUp(1<<20)), durable.Attempts(1000))
				return err
			}
			_, err := k.Schedule(t.Context(), upTo(r, 10*time.Second), upTo(r, 3*time.Second), durable.Key(fmt.Sprint(i)), durable.Attempts(1000))
			return err
		}
		for add() != nil {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(upTo(r, 500*time.Millisecond))
	}
	for _, line := range lines {
		line.up()
	}
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	v := must(history.Check(t.Context(), store, starts))
	for _, f := range v.Faults {
		t.Error(f)
	}
	t.Logf("%d committed, %d lost with their node, %d begun twice", v.Committed, v.Lost, v.Twice)
	if v.Committed < 1000 {
		t.Errorf("only %d occurrences were committed", v.Committed)
	}
	return v
}

// trouble gives a fault that strikes at random, and now and then for a while.
func trouble(r *rand.Rand) func(op string) (error, error) {
	var mu sync.Mutex
	var until time.Time // the line is cut
	return func(op string) (error, error) {
		mu.Lock()
		now := time.Now()
		var pause time.Duration
		var err1, err2 error
		switch n := r.IntN(1000); {
		case now.Before(until):
			err1 = errDown
		case n < 5:
			until = now.Add(upTo(r, 8*time.Second))
			err1 = errDown
		case n < 50:
			err1 = errDown
		case n < 100:
			err2 = errLost
		case n < 150:
			pause = upTo(r, 300*time.Millisecond)
		}
		mu.Unlock()
		time.Sleep(pause)
		return err1, err2
	}
}

// upTo gives a random duration below d.
func upTo(r *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(d)))
}

// overtaken is a store whose first insert, and first claim, are given up by those
// who wait for the answer, and reach it after what is asked of it next.
type overtaken struct {
	durable.Store
	by            time.Duration
	insert, claim sync.Once
}

func (o *overtaken) Insert(ctx context.Context, jobs []durable.NewJob, p durable.Placement) (placed []durable.InsertResult, err error) {
	o.insert.Do(func() {
		err = errLost
		time.AfterFunc(o.by, func() { o.Store.Insert(context.WithoutCancel(ctx), jobs, p) })
	})
	if err != nil {
		return nil, err
	}
	return o.Store.Insert(ctx, jobs, p)
}

func (o *overtaken) Claim(ctx context.Context, r durable.ClaimRequest) (c durable.ClaimResult, err error) {
	o.claim.Do(func() {
		err = errLost
		time.AfterFunc(o.by, func() { o.Store.Claim(context.WithoutCancel(ctx), r) })
	})
	if err != nil {
		return c, err
	}
	return o.Store.Claim(ctx, r)
}

// What an insert or a claim gives to a node that has given it up, and has released
// already what nobody knows there, is released by a look that comes later: soon, if
// it comes within a lease, as most do; some time, if it was on the line for longer.
func TestCallThatWasOvertakenIsFound(t *testing.T) {
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
				jobs := newJobs(t, line)
				var d diary
				k := durable.Handle(jobs, "k", d.handler)
				if tt.call == "claim" { // the first that the node makes
					line.insert.Do(func() {})
					time.AfterFunc(tt.by-50*time.Millisecond, func() { durable.Client[string, string](newJobs(t, store), "k").Schedule(t.Context(), 0, "") })
					start(t, jobs)
				} else {
					line.claim.Do(func() {})
					start(t, jobs)
					synctest.Wait()
					if _, err := k.Schedule(t.Context(), 0, ""); !errors.Is(err, errLost) {
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

// A Schedule that has to wait, as for a key that a transaction has asked for which
// was left open, holds up no other job: what the node does not know is released
// meanwhile, and it goes on claiming.
func TestScheduleThatWaitsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		synctest.Wait()
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
		go k.Schedule(t.Context(), 0, "waits")
		synctest.Wait()
		begun := time.Now()
		if _, err := k.Schedule(t.Context(), 0, ""); !errors.Is(err, errLost) {
			t.Errorf("Schedule: %v", err)
		}
		time.Sleep(2 * time.Second)
		must(k.Schedule(t.Context(), 0, ""))
		time.Sleep(2 * time.Hour)
		if since := d.since(begun); len(since) != 3 || since[0] > time.Second || since[1] > 3*time.Second || since[2] != time.Hour {
			t.Errorf("runs began after %v", since)
		}
	})
}
