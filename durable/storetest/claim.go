package storetest

import (
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

func kinds(names ...string) []store.KindLimit {
	var ks []store.KindLimit
	for _, name := range names {
		ks = append(ks, store.KindLimit{Kind: name, Max: 10})
	}
	return ks
}

func ids(jobs []durable.Job) []durable.ID {
	var ids []durable.ID
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

func (b *bench) same(got []durable.Job, want ...durable.Job) {
	b.Helper()
	if len(got) != len(want) {
		b.Fatalf("got %d jobs, want %d", len(got), len(want))
	}
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g.ID == w.ID
		}
		if !found {
			b.Errorf("%v is missing in %v", w.ID, ids(got))
		}
	}
}

// A claim takes the jobs that are due first.
func claimEarliest(b *bench) {
	node := b.node("a")
	third, first, second := b.add(-time.Second), b.add(-3*time.Second), b.add(-2*time.Second)
	r := store.ClaimRequest{Node: node, Limit: 2, Kinds: kinds("k")}
	b.same(b.claimBy(r), first, second)
	b.same(b.claimBy(r), third)
}

// Of the jobs that are due a claim takes the more urgent ones first.
func claimUrgent(b *bench) {
	node := b.node("a")
	urgency := func(p durable.Priority) func(*durable.NewJob) {
		return func(j *durable.NewJob) { j.Priority = p }
	}
	low := b.add(-3*time.Second, urgency(durable.Low))
	normal := b.add(-2 * time.Second)
	high := b.add(-time.Second, urgency(durable.High))
	r := store.ClaimRequest{Node: node, Limit: 1, Kinds: kinds("other", "k")}
	for _, want := range []durable.Job{high, normal, low} {
		b.same(b.claimBy(r), want)
	}
}

// A claim takes what is due within Ahead; what is due within Lead is confirmed at once.
func claimAhead(b *bench) {
	node := b.node("a")
	b.add(2 * time.Minute)
	soon, now := b.add(30*time.Second), b.add(0)
	jobs := b.claim(node)
	b.same(jobs, soon, now)
	for _, j := range jobs {
		want := durable.Claimed
		if j.ID == now.ID {
			want = durable.Confirmed
		}
		if j.State != want || j.Attempt != 0 || j.Owner != node || j.Epoch != 1 {
			b.Errorf("claimed %+v", j)
		}
		if string(j.Payload) != `{"a":1}` || !j.Due.Equal(b.get(j.ID).Due) {
			b.Errorf("claimed %+v", j)
		}
	}
}

// A claim leaves the kinds that it does not ask for.
func claimKinds(b *bench) {
	node := b.node("a")
	b.add(-time.Hour, func(j *durable.NewJob) { j.Kind = "unknown" })
	known := b.add(-time.Second)
	b.same(b.claim(node), known)
}

// A claim takes no more than the limit in all, and of each kind.
func claimLimits(b *bench) {
	node := b.node("a")
	for i := range 9 {
		b.add(-time.Second, func(j *durable.NewJob) {
			j.Kind = []string{"x", "y", "z"}[i%3]
			j.Priority = durable.Priority(i/3 - 1)
		})
	}
	r := store.ClaimRequest{Node: node, Limit: 6,
		Kinds: []store.KindLimit{{Kind: "x", Max: 1}, {Kind: "y", Max: 2}, {Kind: "z", Max: 9}}}
	count := map[string]int{}
	for _, j := range b.claimBy(r) {
		count[j.Kind]++
	}
	if count["x"] > 1 || count["y"] > 2 || count["x"]+count["y"]+count["z"] > 6 || count["z"] == 0 {
		b.Errorf("claimed %v", count)
	}
}

// Nodes that claim at the same time never get the same job, and leave none.
func claimOnce(b *bench) {
	const jobs, nodes = 200, 4
	var batch []durable.NewJob
	for range jobs {
		batch = append(batch, job(-time.Second))
	}
	must(b.store.Insert(b.Context(), batch, store.Placement{}))
	var mu sync.Mutex
	seen := map[durable.ID]bool{}
	var wg sync.WaitGroup
	for i := range nodes {
		node := b.node(string(rune('a' + i)))
		wg.Go(func() {
			for missed := 0; missed < 3 && !b.Failed(); {
				claims, err := b.store.Claim(b.Context(),
					store.ClaimRequest{Node: node, Limit: 7, Kinds: []store.KindLimit{{Kind: "k", Max: 7}}})
				if err != nil {
					b.Error(err)
					return
				}
				if len(claims.Jobs) == 0 {
					missed++
				}
				mu.Lock()
				for _, j := range claims.Jobs {
					if seen[j.ID] {
						b.Errorf("%v was claimed twice", j.ID)
					}
					seen[j.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != jobs && !b.Failed() {
		b.Errorf("%d of %d jobs were claimed", len(seen), jobs)
	}
}

// A node that has not joined, or was declared dead, can't claim.
func claimDeadNode(b *bench) {
	b.add(-time.Second)
	b.same(b.claim("nobody"))
}

// A claimed job is no other node's.
func claimNotAgain(b *bench) {
	first, second := b.node("a"), b.node("b")
	b.add(-time.Second)
	b.add(30 * time.Second)
	if got := b.claim(first); len(got) != 2 {
		b.Fatalf("claimed %d jobs, want 2", len(got))
	}
	b.same(b.claim(second))
	b.same(b.claim(first))
}
