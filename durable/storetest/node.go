package storetest

import (
	"time"

	"github.com/executor-go/executor/durable"
)

func (b *bench) beat(node string, lease time.Duration) durable.Pulse {
	b.Helper()
	p, err := b.store.Beat(b.Context(), node, lease)
	b.ok(err)
	if p.Now.IsZero() {
		b.Fatal("Beat gave no time")
	}
	return p
}

// die lets a node's lease end.
func (b *bench) die(node string) {
	b.Helper()
	b.beat(node, -time.Second)
}

// A node that beats keeps what it holds.
func beatKeeps(b *bench) {
	first, second := b.node("a"), b.node("b")
	j := b.running(first)
	if p := b.beat(first, lease); !p.Alive || p.Freed != 0 {
		b.Errorf("pulse is %+v", p)
	}
	if p := b.beat(second, lease); !p.Alive || p.Freed != 0 {
		b.Errorf("pulse is %+v", p)
	}
	b.state(j.ID, durable.Running)
}

// What a dead node held waits again, the run that it had begun is in the history
// as lost, and its late outcome is refused.
func beatFrees(b *bench) {
	dead, alive := b.node("a"), b.node("b")
	j := b.running(dead)
	b.add(30 * time.Second)
	claimed := b.claim(dead)[0]
	b.die(dead)
	if p := b.beat(alive, lease); p.Freed != 2 {
		b.Errorf("freed %d jobs, want 2", p.Freed)
	}
	got := b.state(j.ID, durable.Waiting)
	if got.Attempt != 1 || got.Owner != "" || got.Error == "" || got.Runs != 1 {
		b.Errorf("job is %+v", got)
	}
	if got := b.state(claimed.ID, durable.Waiting); got.Attempt != 0 || got.Runs != 0 {
		b.Errorf("job is %+v", got)
	}
	runs := must(b.store.Runs(b.Context(), j.ID, 0, 10))
	if len(runs) != 1 || runs[0].Verdict != durable.RunLost || runs[0].Node != dead || runs[0].Epoch != j.Epoch || runs[0].Seq != 1 {
		b.Errorf("history is %+v", runs)
	}
	if b.settle(dead, outcome(j))[0] {
		b.Error("the dead node's outcome was committed")
	}
	if again := b.claim(alive); len(again) != 2 {
		b.Errorf("the heir claimed %d jobs, want 2", len(again))
	}
}

// A node that was declared dead is told so, and can claim nothing.
func beatTellsDead(b *bench) {
	dead, alive := b.node("a"), b.node("b")
	b.die(dead)
	b.beat(alive, lease)
	if p := b.beat(dead, lease); p.Alive {
		b.Error("the dead node is alive")
	}
	b.add(-time.Second)
	b.same(b.claim(dead))
}

// A job whose nodes die is dead after its last attempt, and waits longer and
// longer between them.
func beatBuries(b *bench) {
	alive := b.node("z")
	id := b.add(-time.Second, func(j *durable.NewJob) { j.Attempts = 3 }).ID
	for attempt := 1; attempt <= 3; attempt++ {
		node := b.node(string(rune('a' + attempt)))
		if jobs := b.claim(node); len(jobs) != 1 || jobs[0].Attempt != attempt && jobs[0].State == durable.Running {
			b.Fatalf("attempt %d: claimed %+v", attempt, jobs)
		} else if jobs[0].State == durable.Claimed && !b.confirm(node, jobs[0]) {
			b.Fatal("refused")
		}
		b.die(node)
		p := b.beat(alive, lease)
		j := b.get(id)
		if p.Freed != 1 || j.Attempt != attempt {
			b.Fatalf("freed %d, attempt %d, want 1, %d", p.Freed, j.Attempt, attempt)
		}
		if want := j.Updated.Add(durable.ReapDelay(attempt)); attempt < 3 && (j.State != durable.Waiting || !j.Due.Equal(want)) {
			b.Errorf("after attempt %d it is %v, due %v, want %v", attempt, j.State, j.Due, want)
		}
	}
	b.state(id, durable.Dead)
	if runs := must(b.store.Runs(b.Context(), id, 0, 10)); len(runs) != 3 {
		b.Errorf("history has %d runs, want 3", len(runs))
	}
}

// A node learns from its beat which of its runs are to be canceled, and others
// do not.
func beatTellsCanceled(b *bench) {
	first, second := b.node("a"), b.node("b")
	j := b.running(first)
	b.change(j.ID, durable.OpCancel, durable.Deferred)
	if p := b.beat(second, lease); len(p.Canceled) != 0 {
		b.Errorf("the other node was told %v", p.Canceled)
	}
	want := durable.Ref{ID: j.ID, Epoch: j.Epoch}
	if p := b.beat(first, lease); len(p.Canceled) != 1 || p.Canceled[0] != want {
		b.Errorf("the node was told %v, want %v", p.Canceled, want)
	}
}

// A job that is given back has lost no attempt, and its old holding is over.
func releaseTakesBack(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.ok(b.store.Release(b.Context(), node, nil))
	got := b.state(j.ID, durable.Waiting)
	if got.Attempt != 0 || got.Owner != "" || got.Epoch <= j.Epoch || !got.Due.Equal(j.Due) || got.Runs != 0 {
		b.Errorf("job is %+v", got)
	}
	if b.settle(node, outcome(j))[0] {
		b.Error("the outcome of the old holding was committed")
	}
}

// What is named is kept, and what belongs to others is left alone.
func releaseKeeps(b *bench) {
	first, second := b.node("a"), b.node("b")
	keep, give, other := b.running(first), b.running(first), b.running(second)
	b.ok(b.store.Release(b.Context(), first, []durable.ID{keep.ID}))
	b.state(keep.ID, durable.Running)
	b.state(other.ID, durable.Running)
	b.state(give.ID, durable.Waiting)
}

// A node that leaves holds nothing, and is not alive.
func leaveFrees(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.ok(b.store.Leave(b.Context(), node))
	b.state(j.ID, durable.Waiting)
	if p := b.beat(node, lease); p.Alive {
		b.Error("the node is alive")
	}
}
