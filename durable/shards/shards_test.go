package shards_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/store"
)

// What is wrong with a Config is said.
func TestNewSaysWhatIsWrong(t *testing.T) {
	one := store.Store(memory.New())
	for want, c := range map[string]shards.Config{
		"there must be one":  {},
		"must not be empty":  {Stores: map[string]store.Store{"": one}},
		`store "a": `:        {Stores: map[string]store.Store{"a": nil}},
		"are the same store": {Stores: map[string]store.Store{"a": one, "b": one}},
		"Config.Jobs.Store":  {Stores: map[string]store.Store{"a": one}, Jobs: durable.Config{Store: one}},
		"Config.Lease":       {Stores: map[string]store.Store{"a": one}, Jobs: durable.Config{Lease: 1}},
	} {
		if _, err := shards.New(c); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Jobs run, once each, whichever program adds them and runs them, and are found by ID and key.
func TestKindRunsJobsOfAllStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b", "c", "d")
		adds, runs := c.program(nil), c.program(nil)
		ran := make(chan string, 1000)
		shards.Handle(runs, "k", func(_ context.Context, p string) (string, error) { ran <- p; return p + "!", nil })
		defer c.run(runs)()
		k := shards.KindOf[string, string](adds, "k")
		ids := make([]durable.ID, 400)
		for i, p := range ints(len(ids)) {
			var opts []durable.Option
			if i%2 == 0 {
				opts = append(opts, durable.Key("key "+p))
			}
			ids[i] = must(k.Add(t.Context(), p, opts...))
		}
		for i, p := range ints(len(ids)) {
			if r := must(k.Await(t.Context(), ids[i])); r != p+"!" {
				t.Errorf("job %d has the result %q", i, r)
			}
			if _, j, err := adds.Find(t.Context(), "key "+p); i%2 == 0 && (err != nil || j.ID != ids[i]) {
				t.Errorf("key %d is found as %v, %v", i, j.ID, err)
			}
		}
		if len(ran) != len(ids) {
			t.Errorf("%d runs of %d jobs", len(ran), len(ids))
		}
		for name := range c.stores {
			if n := len(c.here(name)); n < len(ids)/8 {
				t.Errorf("store %s has %d of %d jobs", name, n, len(ids))
			}
		}
	})
}

// A key, a partition, a pinned kind, a By and parents each have one virtual shard.
func TestKindKeepsTogetherWhatIsAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b", "c", "d")
		s, ctx := c.program(nil), t.Context()
		k, pinned := shards.KindOf[int, int](s, "k"), shards.KindOf[int, int](s, "pinned")
		parent := must(k.AddAfter(ctx, time.Hour, 0))
		add := map[string]func(i int) durable.ID{
			"pinned": func(i int) durable.ID { return must(pinned.Add(ctx, i)) },
			"key":    func(i int) durable.ID { return must(k.Add(ctx, i, durable.Key("one"), durable.ReuseKey())) },
			"partition": func(i int) durable.ID {
				return must(k.Add(ctx, i, durable.Partition("p"), durable.Key(fmt.Sprint("p", i))))
			},
			"by":     func(i int) durable.ID { return must(k.By("b").AddAt(ctx, time.Now(), i)) },
			"parent": func(i int) durable.ID { return must(k.Add(ctx, i, durable.After(parent))) },
		}
		for what, add := range add {
			first := add(0)
			for i := range 20 {
				if id := add(i); shards.VirtualShard(id) != shards.VirtualShard(first) {
					t.Errorf("two jobs with the same %s have virtual shards %d and %d", what, shards.VirtualShard(id), shards.VirtualShard(first))
				}
			}
		}
		j, _, err := s.Of(ctx, parent)
		if n := must(j.CountChildren(ctx, parent)); err != nil || len(n) != 1 || n[0].Jobs != 21 {
			t.Errorf("the parent has the children %v, %v", n, err)
		}
		var taken bool
		must(k.Add(ctx, 1, durable.Key("two")))
		for _, err := range []error{func() error { _, err := pinned.Add(ctx, 1, durable.After(parent)); return err }(),
			func() error { _, err := k.Add(ctx, 1, durable.After(parent), durable.Key("three")); return err }()} {
			if taken = errors.Is(err, executor.ErrInvalid) && strings.Contains(err.Error(), "add both By the same name"); !taken {
				t.Errorf("a job that belongs elsewhere than its parent: %v", err)
			}
		}
	})
}

// A job that the caller has given an ID is added once, and one that is bound elsewhere than its ID says is refused.
func TestKindKeepsIDOfCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s := c.program(nil)
		k := shards.KindOf[int, int](s, "k")
		id := durable.NewID()
		for range 2 {
			if got := must(k.Add(t.Context(), 1, durable.WithID(id))); got != id {
				t.Errorf("it has ID %v, want %v", got, id)
			}
		}
		if n := must(s.Counts(t.Context(), durable.Filter{})); len(n) != 1 || n[0].Jobs != 1 {
			t.Errorf("there are %v", n)
		}
		if _, err := k.Add(t.Context(), 1, durable.WithID(id), durable.Key("key")); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("with a key: %v", err)
		}
	})
}

// A limit of all nodes that would hold in each store by itself panics.
func TestHandleRefusesGlobalLimitOfKindNotPinned(t *testing.T) {
	s := newCluster(t, "a", "b").program(nil)
	fn := func(context.Context, int) (int, error) { return 0, nil }
	shards.Handle(s, "pinned", fn, durable.GlobalLimit(2))
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "Config.Pinned") {
			t.Errorf("it panicked with %v", v)
		}
	}()
	shards.Handle(s, "k", fn, durable.GlobalLimit(2))
}

// A store that does not answer stops its own jobs: others run, what belongs to none is added elsewhere, and what is read
// is that of the others, with the error.
func TestShardsLoseOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b", "c", "d")
		s, ctx := c.program(nil), t.Context()
		k := shards.Handle(s, "k", func(_ context.Context, p int) (int, error) { return p, nil })
		must(s.Status(ctx))
		defer c.run(s)()
		time.Sleep(time.Second)
		c.stores["b"].set(true)
		failed := 0
		for i := range 40 {
			if _, err := k.Add(ctx, i); err != nil {
				failed++
			}
		}
		if failed > 1 {
			t.Errorf("of 40 jobs that belong nowhere %d were not added, just after a store has failed", failed)
		}
		time.Sleep(10 * time.Second)
		bound, unbound := 0, 0
		for i := range 400 {
			if id, err := k.Add(ctx, i); err == nil {
				must(k.Await(ctx, id))
				unbound++
			}
			if _, err := k.Add(ctx, i, durable.Key(fmt.Sprint(i))); errors.Is(err, errDown) {
				bound++
			}
		}
		if unbound != 400 || bound < 60 || bound > 140 {
			t.Errorf("of 400 jobs %d were added that belong nowhere, and %d not that have a key", unbound, bound)
		}
		jobs, err := s.List(ctx, durable.Filter{Limit: 1000})
		if len(jobs) != 840-failed-bound || !errors.Is(err, errDown) || !strings.Contains(err.Error(), `store "b"`) {
			t.Errorf("listed are %d jobs, %v", len(jobs), err)
		}
		c.stores["b"].set(false)
		time.Sleep(10 * time.Second)
		for i := range 400 {
			id := must(k.Add(ctx, i, durable.Key(fmt.Sprint(i))))
			must(k.Await(ctx, id))
		}
	})
}

// Pages and counts are those of one store that has all jobs.
func TestShardsListAsOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b", "c")
		s, ctx := c.program(nil), t.Context()
		k := shards.KindOf[int, int](s, "k")
		var want []durable.ID
		for i := range 250 {
			want = append(want, must(k.AddAfter(ctx, time.Duration(i)*time.Minute, i)))
			time.Sleep(time.Millisecond)
		}
		for _, latest := range []bool{false, true} {
			var got []durable.ID
			for f := (durable.Filter{LatestFirst: latest, Limit: 40}); ; {
				page := must(s.List(ctx, f))
				for _, j := range page {
					got = append(got, j.ID)
				}
				if len(page) < 40 {
					break
				}
				f.After = page[len(page)-1].ID
			}
			if !slices.Equal(got, want) {
				t.Errorf("latest first %v: %d jobs, or in another order", latest, len(got))
			}
			slices.Reverse(want)
		}
		n := must(s.Counts(ctx, durable.Filter{}))
		if j := must(s.Get(ctx, want[0])); len(n) != 1 || n[0].Kind != "k" || n[0].Jobs != 250 || !n[0].Due.Equal(j.Due) {
			t.Errorf("counted are %v", n)
		}
		if _, err := s.Get(ctx, durable.NewID()); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("a job that is not there: %v", err)
		}
	})
}

// Names that are swapped, and stores that are missing, are said; the first stores share the virtual shards out only when
// all answer.
func TestShardsKnowTheirStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		c.stores["b"].set(true)
		k := shards.KindOf[int, int](c.program(nil), "k")
		if _, err := k.Add(t.Context(), 1); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "only while all stores answer") {
			t.Errorf("with a store that does not answer: %v", err)
		}
		c.stores["b"].set(false)
		c.owned(c.program(nil))
		c.stores["a"], c.stores["b"] = c.stores["b"], c.stores["a"]
		_, err := shards.KindOf[int, int](c.program(nil), "k").Add(t.Context(), 1)
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "correct Config.Stores") {
			t.Errorf("with names that are swapped: %v", err)
		}
		c.stores["a"], c.stores["b"] = c.stores["b"], c.stores["a"]
		few := c.program(func(c *shards.Config) { delete(c.Stores, "a") })
		missing := 0
		for i := range 40 {
			if _, err := shards.KindOf[int, int](few, "k").Add(t.Context(), i, durable.Key(fmt.Sprint(i))); err != nil {
				missing++
			}
		}
		if missing < 5 || missing > 35 {
			t.Errorf("without a store %d of 40 keys have none", missing)
		}
	})
}

// A store whose table is gone gets none of what others have by now.
func TestShardsMakeLostTableAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		must(0, s.Move(ctx, shards.Range(0, 100), "b"))
		table := must(c.stores["a"].Store.Find(ctx, shards.TableKind))
		must(c.stores["a"].Store.Change(ctx, table.ID, store.Change{Op: store.OpDelete}))
		if n := c.owned(c.program(nil)); n["b"] != 2148 {
			t.Errorf("there are %v", n)
		}
	})
}

// The load is even: of jobs that are each the same, the largest of n stores has so much more than the mean.
func TestShardsAreEven(t *testing.T) {
	const keys = 200_000
	for n, most := range map[int]float64{2: 1.01, 4: 1.02, 8: 1.03, 16: 1.05} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, ints(n)...)
			s := c.program(nil)
			var of [shards.Number]string
			for _, p := range must(s.Status(t.Context())) {
				for v := range p.Has.All() {
					of[v] = p.Store
				}
			}
			load := make(map[string]int)
			for i := range keys {
				load[of[shards.KeyShard(fmt.Sprint("customer/", i))]]++
			}
			largest := 0
			for _, l := range load {
				largest = max(largest, l)
			}
			if over := float64(largest) * float64(n) / keys; over > most {
				t.Errorf("%d stores: the largest has %.3f of the mean, want %.2f at most", n, over, most)
			}
		})
	}
}
