package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// toQueue puts a job into a queue.
func toQueue(queue string) func(*store.NewJob) { return func(j *store.NewJob) { j.Queue = queue } }

// queued claims up to ten jobs of kind k in a queue that are due within a minute.
func (b *bench) queued(node, queue string, change ...func(*store.ClaimRequest)) []store.Job {
	b.Helper()
	r := claimOf(node, "k", 10)
	for _, f := range change {
		f(&r)
	}
	c := must(b.store.ClaimQueue(b.Context(), queue, r))
	if c.Now.IsZero() {
		b.Fatal("ClaimQueue returned no time")
	}
	return c.Jobs
}

// A claim of a queue finds the jobs in that, and no claim those of another; nor are they given to a node in another
// way.
func claimQueue(b *bench) {
	b.store.queues()
	node := b.node("a")
	gpu, none := b.add(-time.Second, toQueue("gpu")), b.add(-time.Second)
	other := b.add(-time.Second, toQueue("GPU' \\\u00e9"))
	if gpu.Queue != "gpu" || b.get(gpu.ID).Queue != "gpu" || b.get(none.ID).Queue != "" {
		b.Error("the queues of jobs are not kept")
	}
	b.same(b.queued(node, "cpu"))
	b.same(b.queued(node, "gp"))
	b.same(b.claim(node), none)
	if b.store.parts.Limiter != nil {
		b.same(must(b.store.ClaimLimited(b.Context(), store.ClaimRequest{Node: node, Limit: 10,
			Kinds: []store.KindLimit{{Kind: "k", Max: 10, Rate: store.Rate{Every: time.Second, Burst: 10}}}})).Jobs)
	}
	claimed := b.queued(node, "gpu")
	b.same(claimed, gpu)
	if j := claimed[0]; j.Queue != "gpu" || j.Priority != durable.Normal || j.Owner != node || j.State != durable.Confirmed {
		b.Errorf("claimed %+v", j)
	}
	b.same(b.queued(node, other.Queue), other)
	b.same(b.queued(node, "gpu"))
}

// In a queue the more urgent jobs come first, and of these the earliest; no more than is asked for, and nothing that is
// due later.
func claimQueueOrder(b *bench) {
	b.store.queues()
	node := b.node("a")
	urgent := func(p durable.Priority) func(*store.NewJob) { return func(j *store.NewJob) { j.Priority = p } }
	b.add(time.Hour, toQueue("q"), urgent(durable.High))
	late := b.add(-time.Second, toQueue("q"), urgent(durable.Low))
	second := b.add(-time.Second, toQueue("q"))
	first := b.add(-time.Minute, toQueue("q"))
	best := b.add(time.Second, toQueue("q"), urgent(durable.High))
	if j := b.get(best.ID); j.Priority != durable.High {
		b.Errorf("the priority is %v", j.Priority)
	}
	for _, want := range []store.Job{best, first, second, late} {
		b.same(b.queued(node, "q", func(r *store.ClaimRequest) { r.Limit = 1 }), want)
	}
	b.same(b.queued(node, "q"))
}

// What is given back, or lost with its node, or follows a run, waits in its queue.
func queueStays(b *bench) {
	b.store.queues()
	first, second := b.node("a"), b.node("b")
	j := b.add(-time.Second, toQueue("q"), every("1h"), key("key"))
	again := func(what, node string) store.Job {
		b.Helper()
		b.same(b.claim(node))
		jobs := b.queued(node, "q")
		if len(jobs) != 1 || jobs[0].ID != j.ID {
			b.Fatalf("after %s claimed %+v", what, jobs)
		}
		return jobs[0]
	}
	again("the insert", first)
	must(b.store.Release(b.Context(), first, nil))
	again("a release", first)
	b.die(first)
	b.beat(second, lease)
	held := again("a death", second)
	b.settle(second, next(held, held.Due.Add(time.Second)))
	again("a run", second)
	must(b.store.Release(b.Context(), second, nil))
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.change(j.ID, durable.OpResume, durable.Applied)
	again("a pause", second)
}

// A schedule that is registered with another queue moves there, and is taken from the node that has claimed it; so does
// a job that is replaced.
func queueMoves(b *bench) {
	b.store.queues()
	node := b.node("a")
	for i, change := range []func(*store.NewJob){every("1h"), func(j *store.NewJob) { j.ReuseKey, j.Replace = true, true }} {
		named := key([]string{"schedule", "once"}[i])
		first := b.add(20*time.Second, named, change, toQueue("q"))
		b.same(b.queued(node, "q"), first)
		if r := b.insert(job(20*time.Second, named, change), store.Placement{}); !r.Changed || r.Queue != "" || r.State != durable.Waiting {
			b.Errorf("job %d is %+v", i, r)
		}
		b.same(b.queued(node, "q"))
		b.same(b.claim(node), first)
		b.insert(job(20*time.Second, named, change, toQueue("r")), store.Placement{})
		b.same(b.claim(node))
		b.same(b.queued(node, "r"), first)
	}
}

// The limits of a kind count the jobs in all queues.
func queueLimits(b *bench) {
	b.store.queues()
	node := b.node("a")
	for range 3 {
		b.add(-time.Second)
		b.add(-time.Second, toQueue("q"))
	}
	global := func(n int) func(*store.ClaimRequest) { return func(r *store.ClaimRequest) { r.Kinds[0].Global = n } }
	if n := len(b.queued(node, "q", global(2))); n != 2 {
		b.Errorf("claimed %d, want 2", n)
	}
	r := claimOf(node, "k", 10)
	global(3)(&r)
	if n := len(b.claimBy(r)); n != 1 {
		b.Errorf("claimed %d of the default queue beside these, want 1", n)
	}
	if n := len(b.queued(node, "q", global(3))); n != 0 {
		b.Errorf("claimed %d beyond the limit", n)
	}
	if b.store.parts.Limiter == nil {
		return
	}
	must(b.store.Release(b.Context(), node, nil))
	rate := store.Rate{Every: time.Hour, Burst: 3}
	if c := b.rated(node, store.Rate{Every: time.Hour, Burst: 3}); len(c.Jobs) != 3 {
		b.Fatalf("claimed %d, want 3", len(c.Jobs))
	}
	r = claimOf(node, "k", 10)
	r.Kinds[0].Rate = rate
	c := must(b.store.ClaimQueue(b.Context(), "q", r))
	if len(c.Jobs) != 0 || !c.Next.After(c.Now) {
		b.Errorf("without a token %d were claimed, and there is one at %v", len(c.Jobs), c.Next)
	}
}

// Queues are those that jobs wait in.
func queueCounts(b *bench) {
	b.store.queues()
	node := b.node("a")
	b.add(-time.Second)
	first := b.add(time.Minute, toQueue("q"))
	b.add(time.Hour, toQueue("q"))
	other := b.add(-time.Second, toQueue("r"))
	wants := func(want ...store.QueueCount) {
		b.Helper()
		got := must(b.store.QueueCounts(b.Context()))
		slices.SortFunc(got, func(a, b store.QueueCount) int { return cmp.Compare(a.Queue, b.Queue) })
		if !slices.Equal(got, want) {
			b.Errorf("queues are %+v, want %+v", got, want)
		}
		var names []string
		for _, c := range want {
			names = append(names, c.Queue)
		}
		if got := slices.Sorted(slices.Values(must(b.store.QueueNames(b.Context())))); !slices.Equal(got, names) {
			b.Errorf("the names are %q, want %q", got, names)
		}
	}
	q := store.QueueCount{Queue: "q", Jobs: 2, Due: first.Due}
	wants(q, store.QueueCount{Queue: "r", Jobs: 1, Due: other.Due})
	b.same(b.queued(node, "r"), other)
	wants(q)
	for _, j := range must(b.store.List(b.Context(), store.Filter{Queue: "r"})) {
		if j.ID != other.ID {
			b.Errorf("a filter of a queue selects %+v", j)
		}
	}
	if n := len(must(b.store.List(b.Context(), store.Filter{Queue: "q", Kind: "k", States: []store.State{store.Waiting}}))); n != 2 {
		b.Errorf("a filter of a queue selects %d jobs, want 2", n)
	}
	if n := len(must(b.store.List(b.Context(), store.Filter{Kind: "k", States: []store.State{store.Waiting}}))); n != 3 {
		b.Errorf("of all queues %d jobs wait, want 3", n)
	}
}

// A heartbeat looks for jobs in the queues that it is asked for.
func beatLooksInQueues(b *bench) {
	b.store.queues()
	node := b.node("a")
	looks := func(want bool, w store.Watch) {
		b.Helper()
		w.Kinds, w.Ahead = []string{"other", "k"}, time.Minute
		if p := must(b.store.Heartbeat(b.Context(), node, lease, w)); !p.Alive || p.Due != want {
			b.Errorf("%+v: pulse is %+v, want Due %v", w, p, want)
		}
	}
	j := b.add(30*time.Second, toQueue("q"))
	looks(false, store.Watch{})
	looks(false, store.Watch{Queues: []string{"r"}})
	looks(true, store.Watch{Queues: []string{"r", "q"}})
	looks(true, store.Watch{Queues: []string{"q"}, Elsewhere: true})
	b.same(b.queued(node, "q"), j)
	looks(false, store.Watch{Queues: []string{"q"}})
	b.add(-time.Second)
	looks(false, store.Watch{Queues: []string{"q"}, Elsewhere: true})
	looks(true, store.Watch{Queues: []string{"q"}})
	looks(true, store.Watch{})
}

// A node is to drain until it is not, as its heartbeats and the list of nodes say; others are not.
func drainNode(b *bench) {
	node, other := b.node("a"), b.node("b")
	drain := func(name string, drain, want bool) {
		b.Helper()
		if got := must(b.store.DrainNode(b.Context(), name, drain)); got != want {
			b.Errorf("drain of %s: %v, want %v", name, got, want)
		}
	}
	wants := func(want bool) {
		b.Helper()
		if got := b.beat(node, lease).Draining; got != want {
			b.Errorf("the node is to drain: %v, want %v", got, want)
		}
		if b.beat(other, lease).Draining {
			b.Error("another node is to drain")
		}
		if b.store.parts.Reports == nil {
			return
		}
		if nodes := b.nodes(); nodes[node].Draining != want || nodes[other].Draining {
			b.Errorf("nodes are %+v, and the first is to drain: %v", nodes, want)
		}
	}
	drain("nobody", true, false)
	wants(false)
	for range 2 {
		drain(node, true, true)
		wants(true)
		must(b.store.Join(b.Context(), node, lease)) // whose answer was lost
		wants(true)
	}
	drain(node, false, true)
	wants(false)
	drain(node, true, true)
	b.ok(b.store.Leave(b.Context(), node))
	drain(node, true, false)
}

// A node that is to drain is given nothing, by no sort of claim and no placement, though it may not know of it yet;
// until it is not to drain any more. What it has stays its own.
func drainedTakesNothing(b *bench) {
	node := b.node("a")
	held := b.running(node)
	if !must(b.store.DrainNode(b.Context(), node, true)) {
		b.Fatal("the node is not alive")
	}
	j := b.add(-time.Second)
	b.same(b.claim(node))
	placed := must(b.store.Insert(b.Context(), []store.NewJob{job(0)}, store.Placement{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 1}))
	if placed[0].Held || placed[0].State != store.Waiting {
		b.Errorf("what was placed on it is %+v", placed[0])
	}
	if b.store.parts.Limiter != nil {
		r := store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 10,
			Kinds: []store.KindLimit{{Kind: "k", Max: 10, Rate: store.Rate{Every: time.Microsecond, Burst: 100}}}}
		b.same(must(b.store.ClaimLimited(b.Context(), r)).Jobs)
	}
	if b.store.parts.Queues != nil {
		b.add(-time.Second, toQueue("q"))
		b.same(b.queued(node, "q"))
	}
	b.settle(node, outcome(held))
	b.same(b.claim(b.node("b")), j, placed[0].Job)
	must(b.store.DrainNode(b.Context(), node, false))
	next := b.add(-time.Second)
	b.same(b.claim(node), next)
}

// A job that is moved is claimed of its new queue next: at once if it waits or was claimed, after its run if it runs,
// and when it waits again if it is paused. One that is over stays, and so does one with a partition.
func moves(b *bench) {
	b.store.queues()
	node := b.node("a")
	move := func(id store.ID, queue string, want store.Answer) {
		b.Helper()
		b.changeBy(id, store.Change{Op: store.OpMove, Queue: queue}, want)
	}
	urgent := func(j *store.NewJob) { j.Priority = store.High }
	j := b.add(20*time.Second, urgent)
	move(j.ID, "q", store.Applied)
	b.same(b.claim(node))
	b.same(b.queued(node, "q"), j)
	move(j.ID, "r", store.Applied)
	if got := b.state(j.ID, store.Waiting); got.Queue != "r" || got.Priority != store.High || got.Owner != "" {
		b.Errorf("job is %+v", got)
	}
	b.same(b.queued(node, "q"))
	b.change(j.ID, store.OpPause, store.Applied)
	move(j.ID, "", store.Applied)
	b.state(j.ID, store.Paused)
	b.change(j.ID, store.OpResume, store.Applied)
	b.same(b.claim(node), j)
	b.change(j.ID, store.OpCancel, store.Applied)
	move(j.ID, "q", store.TooLate)

	run := b.running(node, every("1h"), key("rate"))
	move(run.ID, "q", store.Deferred)
	b.settle(node, next(run, run.Due.Add(time.Second)))
	b.same(b.claim(node))
	b.same(b.queued(node, "q"), run)

	parted := b.add(time.Hour, in("p"))
	move(parted.ID, "q", store.TooLate)
	move(parted.ID, "", store.Applied)
	move(store.NewID(), "q", store.NotFound)
}
