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

// in puts a job into a partition.
func in(partition string) func(*store.NewJob) {
	return func(j *store.NewJob) { j.Partition = partition }
}

// parted asks for jobs of kind k, of each partition of which all nodes together may hold n.
func (b *bench) parted(node string, most, n int, change ...func(*store.KindLimit)) []store.Job {
	b.Helper()
	k := store.KindLimit{Kind: "k", Max: most, PerPartition: n}
	for _, f := range change {
		f(&k)
	}
	c := must(b.store.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 1000,
		Kinds: []store.KindLimit{k}}))
	return c.Jobs
}

// wantsParts sees to it that the jobs are of these partitions.
func (b *bench) wantsParts(jobs []store.Job, want ...string) {
	b.Helper()
	var got []string
	for _, j := range jobs {
		got = append(got, j.Partition)
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		b.Fatalf("claimed of the partitions %q, want %q", got, want)
	}
}

// Nodes that claim one after the other hold no more of a partition together than its limit, claimed ahead or running;
// what one of them ends, releases or dies with makes room for others.
func partitionLimit(b *bench) {
	first, second := b.node("a"), b.node("b")
	for range 5 {
		b.add(-time.Second, in("p"))
	}
	b.add(30*time.Second, in("p"))
	b.add(30*time.Second, in("q"))
	held := b.parted(first, 10, 2)
	b.wantsParts(held, "p", "p", "q")
	b.wantsParts(b.parted(second, 10, 2))
	of := func(part string) store.Job {
		return held[slices.IndexFunc(held, func(j store.Job) bool { return j.Partition == part })]
	}
	b.settle(first, outcome(of("p")))
	b.wantsParts(b.parted(second, 10, 2), "p")
	b.ok(errOf(b.store.Release(b.Context(), first, nil)))
	b.wantsParts(b.parted(second, 10, 2), "p", "q")
	b.die(second)
	b.beat(first, lease)
	b.wantsParts(b.parted(first, 10, 2), "p", "p", "q")
}

// Partitions take turns, however many jobs wait in one, and since when.
func partitionTurns(b *bench) {
	node := b.node("a")
	for range 30 {
		b.add(-time.Hour, in("big"))
	}
	for range 2 {
		b.add(-time.Second, in("small"))
	}
	b.wantsParts(b.parted(node, 3, 100), "big", "big", "small")
	b.wantsParts(b.parted(node, 1, 100), "big") // both had a turn in the first claim
	b.add(-time.Minute, in("new"))
	for _, turn := range []string{"small", "big", "new", "big", "big"} {
		b.wantsParts(b.parted(node, 1, 100), turn)
	}
}

// A partition that is at its limit holds up no other, and neither does one that has nothing near.
func partitionHoldsUpNone(b *bench) {
	node := b.node("a")
	var batch []store.NewJob
	for i := range 50 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		batch = append(batch, job(-time.Hour, in("full "+name)), job(-time.Hour, in("full "+name)), job(time.Hour, in("later "+name)))
	}
	must(b.store.Insert(b.Context(), batch, store.Placement{}))
	if n := len(b.parted(node, 1000, 1)); n != 50 {
		b.Fatalf("claimed %d jobs, want 50", n)
	}
	b.add(0, in("one"))
	b.wantsParts(b.parted(node, 1, 1), "one")
	b.wantsParts(b.parted(node, 1, 1))
}

// Priority comes before turns; within a partition, the earlier job comes first.
func partitionOrder(b *bench) {
	node := b.node("a")
	low := b.add(-time.Hour, in("p"), func(j *store.NewJob) { j.Priority = store.Low })
	late := b.add(-time.Second, in("q"))
	early := b.add(-time.Minute, in("q"))
	high := b.add(0, in("q"), func(j *store.NewJob) { j.Priority = store.High })
	for _, want := range []store.Job{high, early, late, low} {
		jobs := b.parted(node, 1, 10)
		b.same(jobs, want)
	}
}

// Jobs without a partition are not bounded by the limit of each, and are not left out for those that have one.
func partitionNone(b *bench) {
	node := b.node("a")
	for range 60 {
		b.add(-time.Hour, in("p"))
	}
	for range 3 {
		b.add(-time.Second)
	}
	b.wantsParts(b.parted(node, 10, 2), "", "", "", "p", "p")
}

// A claim without the limit takes no notice of partitions, and one with it goes on from there.
func partitionUnlimited(b *bench) {
	node := b.node("a")
	for range 3 {
		b.add(-time.Second, in("p"))
	}
	held := b.parted(node, 10, 1)
	b.wantsParts(b.claim(node), "p", "p")
	b.ok(errOf(b.store.Release(b.Context(), node, []store.ID{held[0].ID})))
	b.wantsParts(b.parted(node, 10, 2), "p")
}

// Whatever makes a job wait anew, or for another time, also after claims that found nothing of its partition, a claim
// finds it.
func partitionWaitsAnew(b *bench) {
	node := b.node("a")
	n := job(time.Hour, key("x"), every("1h"), in("p"))
	must(b.store.Insert(b.Context(), []store.NewJob{n}, store.Placement{}))
	none := func(after string) {
		b.Helper()
		for range 2 {
			if jobs := b.parted(node, 10, 1); len(jobs) > 0 {
				b.Fatalf("after %s: claimed %+v", after, jobs)
			}
		}
	}
	again := func(what string, change func()) store.Job {
		b.Helper()
		change()
		jobs := b.parted(node, 10, 1)
		if len(jobs) != 1 || jobs[0].ID != n.ID {
			b.Fatalf("after %s: claimed %+v, want the job", what, jobs)
		}
		return jobs[0]
	}
	now := func() time.Time { return must(b.store.Now(b.Context())) }
	none("the insert")
	j := again("run now", func() { b.change(n.ID, store.OpRunNow, store.Applied) })
	b.settle(node, next(j, now().Add(2*time.Hour)))
	none("a run")
	j = again("a reschedule", func() { b.changeBy(n.ID, store.Change{Op: store.OpReschedule, Due: now()}, store.Applied) })
	b.settle(node, next(j, now()))
	again("a run whose next is due", func() {})
	j = again("a release", func() { b.ok(errOf(b.store.Release(b.Context(), node, nil))) })
	b.settle(node, next(j, now()))
	b.change(n.ID, store.OpPause, store.Applied)
	none("a pause")
	j = again("resume", func() { b.change(n.ID, store.OpResume, store.Applied) })
	b.settle(node, next(j, now().Add(time.Hour)))
	none("another run")
	n2 := n
	n2.ID, n2.Schedule, n2.Delay = store.NewID(), "rate 2h0m0s", 0
	j = again("another schedule", func() { must(b.store.Insert(b.Context(), []store.NewJob{n2}, store.Placement{})) })
	b.settle(node, next(j, now()))
	b.change(n.ID, store.OpPause, store.Applied)
	none("another pause")
	b.change(n.ID, store.OpResume, store.Applied)
	n2.ID, n2.Partition, n2.Priority = store.NewID(), "q", store.Low
	j = again("another partition and priority", func() { must(b.store.Insert(b.Context(), []store.NewJob{n2}, store.Placement{})) })
	if j.Partition != "q" || j.Priority != store.Low {
		b.Errorf("the job is in partition %q with priority %v", j.Partition, j.Priority)
	}
	b.change(n.ID, store.OpCancel, store.Deferred)
	b.settle(node, next(j, now()))
	none("a cancel")
	j = again("revive", func() { b.change(n.ID, store.OpRevive, store.Applied) })
	b.begin(node, j)
	b.die(node)
	node = b.node("b")
	again("the death of its node", func() { b.beat(node, lease) })
}

// The limits of a kind hold together.
func partitionWithOthers(b *bench) {
	node := b.node("a")
	for range 4 {
		for _, part := range []string{"p", "q", "r"} {
			b.add(-time.Second, in(part))
		}
	}
	b.wantsParts(b.parted(node, 10, 2, func(k *store.KindLimit) { k.Global = 4 }), "p", "p", "q", "r")
	rate := store.Rate{Every: time.Hour, Burst: 1}
	b.wantsParts(b.parted(node, 10, 2, func(k *store.KindLimit) { k.Rate = rate }), "q")
	b.wantsParts(b.parted(node, 10, 2, func(k *store.KindLimit) { k.Rate = rate }))
	b.wantsParts(b.parted(node, 10, 2), "r")
}

// However many nodes claim at the same time, they never hold more of a partition than its limit; and all jobs are done
// in the end.
func partitionTogether(b *bench) {
	const jobs, parts, nodes, limit = 120, 6, 4, 2
	var batch []store.NewJob
	for i := range jobs {
		batch = append(batch, job(-time.Second, in(string(rune('p'+i%parts)))))
	}
	must(b.store.Insert(b.Context(), batch, store.Placement{}))
	limiter := b.store.limiter()
	var mu sync.Mutex
	held, done := make(map[string]int), 0
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range nodes {
		node := b.node(string(rune('a' + i)))
		wg.Go(func() {
			for !b.Failed() {
				c, err := limiter.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Ahead: time.Minute, Limit: 10,
					Kinds: []store.KindLimit{{Kind: "k", Max: 5, PerPartition: limit}}})
				if err != nil {
					b.Error(err)
					return
				}
				var outcomes []store.Outcome
				mu.Lock()
				for _, j := range c.Jobs {
					outcomes = append(outcomes, outcome(j))
					if held[j.Partition]++; held[j.Partition] > limit {
						b.Errorf("%d of partition %s are held, of %d", held[j.Partition], j.Partition, limit)
					}
				}
				mu.Unlock()
				mu.Lock() // what the store has is never less than what is counted here
				for _, j := range c.Jobs {
					held[j.Partition]--
				}
				mu.Unlock()
				s, err := b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: outcomes})
				for len(s.Locked) > 0 && err == nil && time.Since(begun) < patience {
					s, err = b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: outcomes})
				}
				if err != nil || len(s.Locked) > 0 {
					b.Errorf("%d outcomes are locked, %v", len(s.Locked), err)
					return
				}
				mu.Lock()
				done += len(outcomes)
				n := done
				mu.Unlock()
				if n == jobs {
					return
				}
				if time.Since(begun) > patience {
					b.Errorf("%d of %d jobs were done after %v", n, jobs, patience)
				}
			}
		})
	}
	wg.Wait()
}
