package storetest

import (
	"bytes"
	"reflect"
	"time"

	"github.com/executor-go/executor/durable"
)

// A confirmed job runs, in its first attempt.
func confirmRuns(b *bench) {
	node := b.node("a")
	b.add(30 * time.Second)
	j := b.claim(node)[0]
	if !b.confirm(node, j) {
		b.Fatal("refused")
	}
	if got := b.state(j.ID, durable.Running); got.Attempt != 1 || got.Epoch != j.Epoch {
		b.Errorf("job is %+v", got)
	}
}

// A confirm that is repeated, because its answer was lost, counts once.
func confirmTwice(b *bench) {
	node := b.node("a")
	b.add(30 * time.Second)
	j := b.claim(node)[0]
	for range 2 {
		if !b.confirm(node, j) {
			b.Fatal("refused")
		}
	}
	if got := b.state(j.ID, durable.Running); got.Attempt != 1 {
		b.Errorf("it is in attempt %d", got.Attempt)
	}
}

// A job that was canceled, after it was claimed, does not run.
func confirmAfterCancel(b *bench) {
	node := b.node("a")
	b.add(30 * time.Second)
	j := b.claim(node)[0]
	b.change(j.ID, durable.OpCancel, durable.Applied)
	if b.confirm(node, j) {
		b.Error("confirmed")
	}
	b.state(j.ID, durable.Canceled)
}

// The outcome of a run ends the job and is in its history.
func settleEnds(b *bench) {
	node := b.node("a")
	j := b.running(node)
	o := outcome(j)
	if !b.settle(node, o)[0] {
		b.Fatal("refused")
	}
	got := b.state(j.ID, durable.Succeeded)
	if string(got.Result) != "1" || got.Owner != "" || got.Runs != 1 {
		b.Errorf("job is %+v", got)
	}
	runs := must(b.store.Runs(b.Context(), j.ID, 0, 10))
	want := o.Run
	want.Job, want.Seq, want.Epoch, want.Node = j.ID, 1, j.Epoch, node
	if len(runs) != 1 || !reflect.DeepEqual(runs[0], want) {
		b.Errorf("history is\n%+v, want\n%+v", runs, want)
	}
}

// An outcome that is repeated, because its answer was lost, is committed once,
// and each time the answer is yes.
func settleTwice(b *bench) {
	node := b.node("a")
	j, k := b.running(node), b.running(node, key("k"), every("1h0m0s"))
	for range 2 {
		for i, ok := range b.settle(node, outcome(j), next(k, k.Due.Add(time.Hour))) {
			if !ok {
				b.Errorf("outcome %d was refused", i)
			}
		}
	}
	if runs := must(b.store.Runs(b.Context(), k.ID, 0, 10)); len(runs) != 1 {
		b.Errorf("history has %d runs, want 1", len(runs))
	}
}

// The outcome of a run whose job has gone to another node changes nothing.
func settleOldEpoch(b *bench) {
	zombie, heir := b.node("a"), b.node("b")
	j := b.running(zombie)
	b.ok(errOf(b.store.Release(b.Context(), zombie, nil)))
	k := b.claim(heir)[0]
	if k.Epoch <= j.Epoch {
		b.Fatalf("epoch went from %d to %d", j.Epoch, k.Epoch)
	}
	if b.settle(zombie, outcome(j))[0] {
		b.Error("the zombie's outcome was committed")
	}
	b.state(j.ID, durable.Running)
	if !b.settle(heir, outcome(k))[0] {
		b.Error("the heir's outcome was refused")
	}
	if b.settle(zombie, outcome(j))[0] {
		b.Error("the zombie's outcome was committed")
	}
}

// A periodic job waits for the occurrence that the outcome names.
func settleNext(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	o := next(j, j.Due.Add(time.Hour))
	o.Error = "last time"
	b.settle(node, o)
	got := b.state(j.ID, durable.Waiting)
	if !got.Due.Equal(o.Due) || !got.Occurrence.Equal(o.Due) || got.Attempt != 0 || got.Error != "last time" || !got.Anchor.Equal(j.Anchor) {
		b.Errorf("job is %+v", got)
	}
}

// The history keeps the latest runs, and gives them in pages, the latest first.
func settleHistory(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1s"))
	for range 7 {
		b.settle(node, next(j, j.Due.Add(time.Millisecond)))
		j = b.claim(node)[0]
	}
	unrecorded := next(j, j.Due)
	unrecorded.Unrecorded = true
	b.settle(node, unrecorded)
	var seqs []int64
	for before := int64(0); ; {
		page := must(b.store.Runs(b.Context(), j.ID, before, 2))
		if len(page) == 0 {
			break
		}
		for _, run := range page {
			seqs = append(seqs, run.Seq)
			before = run.Seq
		}
	}
	if want := []int64{7, 6, 5, 4, 3}; !reflect.DeepEqual(seqs, want) {
		b.Errorf("history has %v, want %v", seqs, want)
	}
}

// Each entry of a batch has an answer of its own.
func settleMany(b *bench) {
	node := b.node("a")
	for range 6 {
		b.add(-time.Second)
	}
	jobs := b.claim(node)
	var outcomes []durable.Outcome
	for i, j := range jobs {
		o := outcome(j)
		if i%2 == 1 {
			o.Epoch--
		}
		outcomes = append(outcomes, o)
	}
	for i, ok := range b.settle(node, outcomes...) {
		if ok != (i%2 == 0) {
			b.Errorf("outcome %d: committed is %v", i, ok)
		}
	}
	unknown := outcome(jobs[0])
	unknown.ID = durable.NewID()
	if b.settle(node, unknown)[0] {
		b.Error("the outcome of no job was committed")
	}
}

// Results and errors come back byte by byte.
func settleBinary(b *bench) {
	node := b.node("a")
	j := b.running(node)
	o := outcome(j)
	o.State, o.Result, o.Error = durable.Dead, []byte("\x00\x01\xff'\\"), "it's \"broken\" \\ 日本"
	b.settle(node, o)
	if got := b.state(j.ID, durable.Dead); !bytes.Equal(got.Result, o.Result) || got.Error != o.Error {
		b.Errorf("result %q, error %q", got.Result, got.Error)
	}
}
