package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Whatever goes wrong between nodes and store, jobs that were added together, again after each error, exist once; each
// begins after its parents have ended, and ends as it must.
func TestHistoryOfGraphsWithFaultyStore(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { graphTrial(t, seed) })
		})
	}
}

func graphTrial(t *testing.T, seed uint64) {
	store := memory.New()
	var mu sync.Mutex
	begun := make(map[durable.ID]time.Time) // the first time
	handler := func(ctx context.Context, fails bool) (int, error) {
		j, _ := durable.Current(ctx)
		mu.Lock()
		if _, again := begun[j.ID]; !again {
			begun[j.ID] = time.Now()
		}
		mu.Unlock()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if fails {
			return 0, executor.Permanent(errors.New("it was to fail"))
		}
		return 0, nil
	}
	var lines []*faulty
	var jobs *durable.Jobs
	var kind *durable.Kind[bool, int]
	for i := range 3 {
		line := newFaulty(store)
		line.set(trouble(rand.New(rand.NewPCG(seed, uint64(i)))))
		lines = append(lines, line)
		jobs = newJobs(t, line)
		kind = durable.Handle(jobs, "k", handler)
		start(t, jobs)
	}
	r := rand.New(rand.NewPCG(seed, 99))
	parents := make(map[durable.ID][]durable.ID)
	want := make(map[durable.ID]durable.State)
	var known []durable.ID
	for range 40 {
		var batch []durable.Prepared
		for range 10 {
			opts, fails, state := []durable.Option{durable.Attempts(1000)}, r.IntN(15) == 0, durable.Succeeded
			anyway := r.IntN(2) == 0
			var after []durable.ID
			for range min(len(known), r.IntN(3)) {
				after = append(after, known[len(known)-1-r.IntN(min(len(known), 15))])
			}
			for _, id := range after {
				if want[id] != durable.Succeeded && !anyway {
					state = durable.Canceled
				}
			}
			if fails && state == durable.Succeeded {
				state = durable.Dead
			}
			if opts = append(opts, durable.After(after...)); anyway {
				opts = append(opts, durable.EvenIfFailed())
			}
			p := kind.Prepare(upTo(r, 5*time.Second), fails, opts...)
			known, batch = append(known, p.ID()), append(batch, p)
			parents[p.ID()], want[p.ID()] = after, state
		}
		for {
			if _, err := jobs.Add(t.Context(), batch...); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(upTo(r, 2*time.Second))
	}
	for _, line := range lines {
		line.up()
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	all := must(store.List(t.Context(), durable.Filter{Limit: 10_000}))
	if len(all) != len(known) {
		t.Errorf("there are %d jobs, want %d", len(all), len(known))
	}
	ended := make(map[durable.ID]time.Time)
	for _, j := range all {
		if ended[j.ID] = j.Updated; j.State != want[j.ID] {
			t.Errorf("a job is %v, want %v: %s", j.State, want[j.ID], j.Error)
		}
	}
	for id, at := range begun {
		for _, p := range parents[id] {
			if at.Before(ended[p]) {
				t.Errorf("a job was begun %v before its parent has ended", ended[p].Sub(at))
			}
		}
	}
	if lost := len(known) - len(begun); lost < 5 || lost > len(known)/2 {
		t.Errorf("%d of %d jobs were canceled: that proves little", lost, len(known))
	}
}
