package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// global asks for jobs of kind k, of which all nodes together may hold n.
func (b *bench) global(node string, n int, more ...store.KindLimit) store.ClaimRequest {
	return store.ClaimRequest{
		Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 10,
		Kinds: append([]store.KindLimit{{Kind: "k", Max: 10, Global: n}}, more...),
	}
}

// Nodes that claim one after the other hold no more of a kind together than its
// global limit, claimed ahead or running; what one of them ends, releases or dies
// with makes room for others.
func globalLimit(b *bench) {
	first, second := b.node("a"), b.node("b")
	for range 5 {
		b.add(-time.Second)
	}
	b.add(30 * time.Second)
	wants := func(node string, want int) []durable.Job {
		b.Helper()
		jobs := b.claimBy(b.global(node, 3))
		if len(jobs) != want {
			b.Fatalf("node %s claimed %d jobs, want %d", node, len(jobs), want)
		}
		return jobs
	}
	held := wants(first, 3)
	wants(second, 0)
	b.settle(first, outcome(held[0]))
	wants(second, 1)
	b.ok(errOf(b.store.Release(b.Context(), first, nil)))
	wants(second, 2)
	b.die(second)
	b.beat(first, lease)
	wants(first, 3)
}

// A kind that is at its global limit leaves the whole claim to the others, and the
// more urgent and earlier of its own jobs get the places that there are.
func globalLimitOrder(b *bench) {
	node := b.node("a")
	add := func(kind string, p durable.Priority, delay time.Duration) durable.Job {
		return b.add(delay, func(j *durable.NewJob) { j.Kind, j.Priority = kind, p })
	}
	low := add("k", durable.Low, -time.Hour)
	late, early := add("k", durable.Normal, -time.Second), add("k", durable.Normal, -time.Minute)
	high := add("k", durable.High, 0)
	var others []durable.Job
	for range 8 {
		others = append(others, add("other", durable.Low, 0))
	}
	r := b.global(node, 2, store.KindLimit{Kind: "other", Max: 10})
	held := b.claimBy(r)
	b.same(held, append(others, high, early)...)
	for _, want := range []durable.Job{late, low} {
		for _, j := range held {
			if j.Kind == "k" {
				b.settle(node, outcome(j))
			}
		}
		r = b.global(node, 1)
		held = b.claimBy(r)
		b.same(held, want)
	}
}

// A claim says that there may be more, if and only if it was as large as asked.
func claimMore(b *bench) {
	node := b.node("a")
	for range 3 {
		b.add(-time.Second)
	}
	for _, want := range []bool{true, false} {
		claims := must(b.store.Claim(b.Context(), store.ClaimRequest{Node: node, Limit: 2, Kinds: kinds("k")}))
		if claims.More != want {
			b.Errorf("claimed %d of 2: more is %v", len(claims.Jobs), claims.More)
		}
	}
}

// However many nodes claim at the same time, they never hold more of a kind than
// its global limit; all its jobs are done in the end, and those of a kind without
// a limit with them.
func globalLimitTogether(b *bench) {
	const jobs, nodes, limit = 60, 4, 3
	var batch []durable.NewJob
	for i := range 2 * jobs {
		batch = append(batch, job(-time.Second, func(j *durable.NewJob) { j.Kind = []string{"k", "other"}[i%2] }))
	}
	must(b.store.Insert(b.Context(), batch, store.Placement{}))
	var held, done, latest atomic.Int64 // latest is when a job was done, or it all began
	begin := time.Now()
	stuck := func() bool { return time.Since(begin)-time.Duration(latest.Load()) > patience }
	var wg sync.WaitGroup
	for i := range nodes {
		node := b.node(string(rune('a' + i)))
		wg.Go(func() {
			for done.Load() < 2*jobs && !b.Failed() {
				if stuck() {
					b.Errorf("%d of %d jobs were claimed, and no more for %v", done.Load(), 2*jobs, patience)
					return
				}
				r := b.global(node, limit, store.KindLimit{Kind: "other", Max: 2})
				claims, err := b.store.Claim(b.Context(), r)
				if err != nil {
					b.Error(err)
					return
				}
				var outcomes []durable.Outcome
				ours := int64(0)
				for _, j := range claims.Jobs {
					if j.Kind == "k" {
						ours++
					}
					outcomes = append(outcomes, outcome(j))
				}
				if n := held.Add(ours); n > limit {
					b.Errorf("%d are held, of %d", n, limit)
				}
				// What the store has is never less than what was counted here.
				if seen, err := b.store.List(b.Context(),
					durable.Filter{Kind: "k", States: []durable.State{durable.Claimed,
						durable.Confirmed, durable.Running}}); err != nil || len(seen) > limit {
					b.Errorf("the store has %d held jobs, of %d: %v", len(seen), limit, err)
				}
				held.Add(-ours)
				s, err := b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: outcomes})
				for len(s.Locked) > 0 && err == nil {
					if stuck() {
						b.Errorf("Settle says that %d outcomes are locked, and has for %v", len(s.Locked), patience)
						return
					}
					s, err = b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: outcomes})
				}
				if err != nil {
					b.Error(err)
					return
				}
				for _, ok := range s.Committed {
					if !ok {
						b.Error("an outcome was refused")
					}
				}
				if done.Add(int64(len(outcomes))); len(outcomes) > 0 {
					latest.Store(int64(time.Since(begin)))
				}
			}
		})
	}
	wg.Wait()
}
