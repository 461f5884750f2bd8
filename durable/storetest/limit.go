package storetest

import (
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// rated asks for jobs of kind k at a rate.
func (b *bench) rated(node string, rate store.Rate, more ...store.KindLimit) store.ClaimResult {
	b.Helper()
	c := must(b.store.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 10,
		Kinds: append([]store.KindLimit{{Kind: "k", Max: 10, Rate: rate}}, more...)}))
	if c.Now.IsZero() {
		b.Fatal("ClaimLimited returned no time")
	}
	return c
}

// Nodes that claim one after the other have no more of a kind together than its rate lets begin, and are told when
// there is a token again; nothing that a node gives back or dies with is a token.
func rateLimit(b *bench) {
	first, second := b.node("a"), b.node("b")
	for range 6 {
		b.add(-time.Second)
	}
	rate := store.Rate{Every: time.Hour, Burst: 3}
	wants := func(node string, want int) store.ClaimResult {
		b.Helper()
		c := b.rated(node, rate)
		if len(c.Jobs) != want {
			b.Fatalf("node %s claimed %d jobs, want %d", node, len(c.Jobs), want)
		}
		return c
	}
	begun := must(b.store.Now(b.Context()))
	if c := wants(first, 3); c.Next.Before(begun.Add(time.Hour)) || c.Next.After(c.Now.Add(time.Hour)) {
		b.Errorf("the next token is there %v after the begin", c.Next.Sub(begun))
	}
	ended := must(b.store.Now(b.Context()))
	if c := wants(second, 0); c.Next.Before(begun.Add(time.Hour)) || c.Next.After(ended.Add(time.Hour)) {
		b.Errorf("for another node the next token is there %v after the begin", c.Next.Sub(begun))
	}
	b.ok(errOf(b.store.Release(b.Context(), first, nil)))
	wants(first, 0)
	b.die(first)
	b.beat(second, lease)
	wants(second, 0)
}

// A claim that takes all the tokens that there are, and leaves nothing for want of one, names no time.
func rateNext(b *bench) {
	node := b.node("a")
	b.add(-time.Second)
	b.add(time.Hour)
	if c := b.rated(node, store.Rate{Every: time.Hour, Burst: 1}); len(c.Jobs) != 1 || !c.Next.IsZero() {
		b.Errorf("claimed %d jobs, and the next token is awaited at %v", len(c.Jobs), c.Next)
	}
}

// A job that is claimed ahead takes a token for the time at which it is due.
func rateAhead(b *bench) {
	node := b.node("a")
	now := b.add(-time.Second)
	b.add(5 * time.Second) // too soon after the first
	b.add(40 * time.Second)
	c := b.rated(node, store.Rate{Every: 20 * time.Second, Burst: 1})
	b.same(c.Jobs, now)
	b.changeBy(b.next(), store.Change{Op: store.OpReschedule, Due: c.Now.Add(30 * time.Second)}, store.Applied)
	second := b.next()
	c = b.rated(node, store.Rate{Every: 20 * time.Second, Burst: 1})
	b.same(c.Jobs, b.get(second)) // and not the one after another 10 s
}

// next returns the job of kind k that waits and is due first.
func (b *bench) next() store.ID {
	b.Helper()
	waiting := must(b.store.List(b.Context(), store.Filter{Kind: "k", States: []store.State{store.Waiting}}))
	if len(waiting) == 0 {
		b.Fatal("no job waits")
	}
	return slices.MinFunc(waiting, func(x, y store.Job) int { return x.Due.Compare(y.Due) }).ID
}

// The more urgent and earlier jobs get the tokens; and kinds without a rate, and those with another, are claimed in the
// same call as if the kind were not there.
func rateOrder(b *bench) {
	node := b.node("a")
	add := func(kind string, p durable.Priority, delay time.Duration) durable.Job {
		return b.add(delay, func(j *durable.NewJob) { j.Kind, j.Priority = kind, p })
	}
	add("k", durable.Low, -time.Hour)
	late, early := add("k", durable.Normal, -time.Second), add("k", durable.Normal, -time.Minute)
	high := add("k", durable.High, 0)
	others := []durable.Job{add("free", durable.Low, 0), add("free", durable.Normal, 0), add("slow", durable.Low, 0)}
	add("slow", durable.Low, time.Second)
	c := b.rated(node, store.Rate{Every: time.Hour, Burst: 3}, store.KindLimit{Kind: "free", Max: 10},
		store.KindLimit{Kind: "slow", Max: 10, Rate: store.Rate{Every: 2 * time.Hour, Burst: 1}})
	b.same(c.Jobs, append(others, late, early, high)...)
	if d := c.Next.Sub(c.Now); d < 50*time.Minute || d > time.Hour {
		b.Errorf("the next token is there in %v", d)
	}
}

// A rate and a limit for all nodes hold together.
func rateWithGlobal(b *bench) {
	node := b.node("a")
	for range 6 {
		b.add(-time.Second)
	}
	claim := func(want int) []store.Job {
		b.Helper()
		c := must(b.store.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Ahead: time.Minute, Limit: 10,
			Kinds: []store.KindLimit{{Kind: "k", Max: 10, Global: 2, Rate: store.Rate{Every: time.Hour, Burst: 3}}}}))
		if len(c.Jobs) != want {
			b.Fatalf("claimed %d jobs, want %d", len(c.Jobs), want)
		}
		return c.Jobs
	}
	held := claim(2)
	claim(0)
	b.settle(node, outcome(held[0]), outcome(held[1]))
	claim(1) // the third token
}

// A rate that is quicker than before counts from now on: what the slower one made wait does not wait for that.
func rateQuicker(b *bench) {
	node := b.node("a")
	b.add(-time.Second)
	b.add(-time.Second)
	if n := len(b.rated(node, store.Rate{Every: 10 * time.Hour, Burst: 1}).Jobs); n != 1 {
		b.Fatalf("claimed %d jobs, want 1", n)
	}
	for begun := time.Now(); ; {
		if len(b.rated(node, store.Rate{Every: time.Millisecond, Burst: 1}).Jobs) == 1 {
			return
		}
		if time.Since(begun) > patience {
			b.Fatal("no job was claimed")
		}
	}
}

// However many nodes claim at the same time, no more jobs begin within any time than the rate and the burst allow, by
// the clock of the store; and all of them are claimed in the end.
func rateTogether(b *bench) {
	const jobs, nodes = 60, 4
	rate := store.Rate{Every: 2 * time.Millisecond, Burst: 5}
	var batch []store.NewJob
	for i := range jobs {
		batch = append(batch, job(time.Duration(i%3*10)*time.Millisecond))
	}
	must(b.store.Insert(b.Context(), batch, store.Placement{}))
	limiter := b.store.limiter()
	var mu sync.Mutex
	var begins []time.Time
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range nodes {
		node := b.node(string(rune('a' + i)))
		wg.Go(func() {
			for !b.Failed() {
				c, err := limiter.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Ahead: time.Minute, Limit: 10,
					Kinds: []store.KindLimit{{Kind: "k", Max: 3, Rate: rate}}})
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				for _, j := range c.Jobs {
					if begins = append(begins, c.Now); j.Due.After(c.Now) {
						begins[len(begins)-1] = j.Due
					}
				}
				n := len(begins)
				mu.Unlock()
				if n == jobs {
					return
				}
				if time.Since(begun) > patience {
					b.Errorf("%d of %d jobs were claimed after %v", n, jobs, patience)
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(begins, time.Time.Compare)
	for i := range begins {
		for k := i; k < len(begins); k++ {
			if d := begins[k].Sub(begins[i]); k-i+1 > rate.Burst+int(d/rate.Every) {
				b.Fatalf("%d jobs begin within %v", k-i+1, d)
			}
		}
	}
}
