package shards_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/store"
)

// Whatever is moved, broken off and moved elsewhere, and whichever calls of stores fail, with or without being done: each
// job with a key runs once, is in one store, and is found.
func TestShardsRunEachKeyOnce(t *testing.T) {
	seeds := uint64(12)
	if os.Getenv("EXECUTOR_LONG") != "" {
		seeds = 1000
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { history(t, rand.New(rand.NewPCG(seed, 1))) })
		if t.Failed() {
			t.Fatalf("it was seed %d", seed)
		}
	}
}

// history is one history.
func history(t *testing.T, r *rand.Rand) {
	c, ctx := newCluster(t, "a", "b", "c"), t.Context()
	names := []string{"a", "b", "c"}
	c.owned(c.program(nil))
	var random sync.Mutex
	chance := func(of float64) bool {
		random.Lock()
		defer random.Unlock()
		return r.Float64() < of
	}
	for _, s := range c.stores {
		s.mu.Lock()
		s.fail = func() (bool, bool) { return chance(0.01), chance(0.5) }
		s.mu.Unlock()
	}
	var l ledger
	var programs [2]*shards.Shards
	var kinds [2]*shards.Kind[string, string]
	for i := range programs {
		programs[i] = c.program(nil)
		kinds[i] = shards.Handle(programs[i], "k", func(_ context.Context, p string) (string, error) {
			l.note(p)
			time.Sleep(time.Second)
			return p, nil
		})
		defer c.run(programs[i])()
	}
	const keys = 100
	var adds, moves sync.WaitGroup
	over, end := context.WithCancel(ctx)
	defer end()
	for i, k := range kinds { // both programs add each key, some times
		adds.Go(func() {
			for n := range 2 * keys {
				key := fmt.Sprint("key ", n%keys)
				for {
					_, err := k.AddAfter(ctx, time.Duration(n%7)*3*time.Second, key, durable.Key(key))
					if err == nil {
						break
					}
					if !errors.Is(err, errDown) && !errors.Is(err, shards.ErrMoving) && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s: %v", key, err)
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Duration(300+50*i) * time.Millisecond)
			}
		})
		moves.Go(func() {
			for over.Err() == nil {
				random.Lock()
				from, to, patience := r.IntN(shards.Number), names[r.IntN(3)], time.Duration(r.IntN(40))*time.Second
				random.Unlock()
				one, cancel := context.WithTimeout(over, patience)
				programs[i].Move(one, shards.Range(from, min(from+1500, shards.Number)), to)
				cancel()
				pauseFor(over, time.Second)
			}
		})
	}
	pauseFor(ctx, 2*time.Minute)
	end()
	for _, s := range c.stores {
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
	}
	moves.Wait()
	time.Sleep(2 * time.Second)
	for _, to := range []string{"a", ""} { // what was broken off is made again, whichever that is
		for _, s := range must(programs[0].Status(ctx)) {
			if s.To != "" {
				must(0, programs[0].Move(ctx, s.Leaving, s.To))
			}
		}
		if to != "" {
			must(0, programs[1].Spread(ctx, "a", "b"))
		}
	}
	adds.Wait()
	c.owned(programs[0])
	time.Sleep(time.Minute)
	synctest.Wait()
	seen := make(map[store.ID]string)
	for name := range c.stores {
		for id := range c.here(name) {
			if other, twice := seen[id]; twice {
				t.Errorf("job %v is in %s and %s", id, other, name)
			}
			seen[id] = name
		}
		for _, j := range must(c.stores[name].Store.List(ctx, store.Filter{Kind: store.ParcelKind, Limit: 10_000})) {
			if !j.State.Done() && len(j.Payload) > 0 {
				t.Errorf("a parcel is left in %s: %v", name, j.ID)
			}
		}
	}
	for n := range keys {
		key := fmt.Sprint("key ", n)
		_, j, err := programs[1].Find(ctx, key)
		if err != nil || j.State != durable.Succeeded || l.of(key) != 1 {
			t.Errorf("%s is %v, %v, and has run %d times", key, j.State, err, l.of(key))
		}
	}
	if len(seen) != keys {
		t.Errorf("there are %d jobs of %d keys", len(seen), keys)
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
