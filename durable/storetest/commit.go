package storetest

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A confirmed job may be begun. That is no attempt yet, also if the confirm is repeated since its answer was lost.
func confirmRuns(b *bench) {
	node := b.node("a")
	b.add(30 * time.Second)
	j := b.claimOne(node)
	for range 2 {
		if !b.confirm(node, j) {
			b.Fatal("refused")
		}
	}
	if got := b.state(j.ID, durable.Confirmed); got.Attempt != 0 || got.Epoch != j.Epoch || !got.Started.IsZero() {
		b.Errorf("job is %+v", got)
	}
}

// A run that has begun is one attempt, also if that is noted twice, since an answer was lost. What it was for may still
// be changed. It is forgotten when it is over.
func beginCounts(b *bench) {
	node := b.node("a")
	b.add(-time.Second, key("key"), every("1h0m0s"))
	j := b.begin(node, b.claimOne(node))
	again := store.Begin{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, Started: j.Started.Add(time.Second)}
	must(b.store.Commit(b.Context(), store.CommitRequest{Node: node, Begun: []store.Begin{again}}))
	if got := b.get(j.ID); !reflect.DeepEqual(got, j) {
		b.Errorf("job was\n%+v, is\n%+v", j, got)
	}
	if !b.confirmFor(node, j, j.Occurrence.Add(time.Hour)) {
		b.Error("refused")
	}
	if got := b.state(j.ID, durable.Running); got.Attempt != 1 || !got.Occurrence.Equal(j.Occurrence.Add(time.Hour)) {
		b.Errorf("job is %+v", got)
	}
	o := next(j, j.Due.Add(time.Millisecond))
	o.Attempt = 1
	b.settle(node, o)
	if got := b.state(j.ID, durable.Waiting); got.Attempt != 1 || !got.Started.IsZero() {
		b.Errorf("job is %+v", got)
	}
	k := b.claimOne(node)
	if got := b.state(j.ID, durable.Confirmed); got.Attempt != 1 || k.Attempt != 1 {
		b.Errorf("claimed again, the job is %+v", got)
	}
	must(b.store.Commit(b.Context(), store.CommitRequest{Node: node, Ended: []store.Ref{again.Ref}}))
	b.begin(node, k)
}

// That a run has begun whose right is over counts no attempt of the run that has it now.
func beginOldEpoch(b *bench) {
	zombie, heir := b.node("a"), b.node("b")
	b.add(-time.Second)
	j := b.claimOne(zombie)
	b.ok(errOf(b.store.Release(b.Context(), zombie, nil)))
	k := b.claimOne(heir)
	late := store.Begin{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, Started: j.Due}
	must(b.store.Commit(b.Context(), store.CommitRequest{Node: zombie, Begun: []store.Begin{late}}))
	if got := b.state(j.ID, durable.Confirmed); !reflect.DeepEqual(got, k) {
		b.Errorf("job is %+v", got)
	}
}

// A job that was canceled, after it was claimed, does not run.
func confirmAfterCancel(b *bench) {
	node := b.node("a")
	b.add(30 * time.Second)
	j := b.claimOne(node)
	b.change(j.ID, durable.OpCancel, durable.Applied)
	if b.confirm(node, j) {
		b.Error("confirmed")
	}
	b.state(j.ID, durable.Canceled)
}

// The occurrence that a confirm names becomes that of the job, whether it was
// claimed or runs already, and nothing else changes by it; without one the job's
// stays. Of several jobs each gets its own.
func confirmOccurrence(b *bench) {
	node := b.node("a")
	b.add(30*time.Second, key("claimed"), every("1h0m0s"))
	b.add(-3*time.Hour, key("running"), every("1h0m0s"))
	b.add(-4*time.Hour, key("as it is"), every("1h0m0s"))
	jobs := b.claim(node)
	if len(jobs) != 3 {
		b.Fatalf("claimed %d jobs", len(jobs))
	}
	batch := store.CommitRequest{Node: node}
	for i := range jobs {
		j := &jobs[i]
		c := store.Confirm{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}}
		if j.Key != "as it is" {
			c.Occurrence = j.Occurrence.Add(time.Hour + time.Microsecond)
			j.Occurrence = c.Occurrence
		}
		batch.Confirms = append(batch.Confirms, c)
		j.State = durable.Confirmed
	}
	for range 2 { // the answer of the first may have been lost
		s, err := b.store.Commit(b.Context(), batch)
		b.ok(err)
		if !reflect.DeepEqual(s.Confirmed, []bool{true, true, true}) {
			b.Fatalf("confirmed %v", s.Confirmed)
		}
		for _, want := range jobs {
			got := b.get(want.ID)
			want.Updated = got.Updated
			if !reflect.DeepEqual(got, want) {
				b.Errorf("%s is\n%+v, want\n%+v", want.Key, got, want)
			}
		}
	}
}

// The occurrence of a node whose right to the job is over, because it has another
// one or has ended, does not become the job's.
func confirmOldEpoch(b *bench) {
	zombie, heir := b.node("a"), b.node("b")
	j := b.running(zombie, key("key"), every("1h0m0s"))
	refused := func() {
		b.Helper()
		before := b.get(j.ID)
		if b.confirmFor(zombie, j, j.Occurrence.Add(time.Hour)) {
			b.Error("confirmed")
		}
		if after := b.get(j.ID); !reflect.DeepEqual(before, after) {
			b.Errorf("job was\n%+v, is\n%+v", before, after)
		}
	}
	b.ok(errOf(b.store.Release(b.Context(), zombie, nil)))
	refused()
	k := b.claimOne(heir)
	refused()
	b.settle(heir, next(k, k.Due.Add(time.Hour)))
	refused()
	j = k // its own epoch, but it has ended
	refused()
}

// The occurrence that was confirmed is that of the lost run in the history, and
// the one to be run again; so it is for a job that was released.
func confirmedOccurrenceStays(b *bench) {
	alive := b.node("z")
	node := b.node("a")
	j := b.running(node, key("lost"), every("1h0m0s"))
	want := j.Occurrence.Add(5 * time.Hour)
	if !b.confirmFor(node, j, want) {
		b.Fatal("refused")
	}
	b.die(node)
	b.beat(alive, lease)
	if got := b.state(j.ID, durable.Waiting); got.Attempt != 1 || !got.Occurrence.Equal(want) {
		b.Errorf("job is %+v", got)
	}
	runs := must(b.store.Runs(b.Context(), j.ID, 0, 10))
	if len(runs) != 1 || runs[0].Verdict != durable.RunLost || !runs[0].Occurrence.Equal(want) {
		b.Errorf("history is %+v", runs)
	}
	b.change(j.ID, durable.OpPause, durable.Applied)

	k := b.running(alive, key("given back"), every("1ms"))
	want = k.Occurrence.Add(5 * time.Millisecond) // which has passed
	if !b.confirmFor(alive, k, want) {
		b.Fatal("refused")
	}
	b.ok(errOf(b.store.Release(b.Context(), alive, nil)))
	if got := b.state(k.ID, durable.Waiting); got.Attempt != 0 || !got.Occurrence.Equal(want) || !got.Due.Equal(k.Due) {
		b.Errorf("job is %+v", got)
	}
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
	k := b.claimOne(heir)
	if k.Epoch <= j.Epoch {
		b.Fatalf("epoch went from %d to %d", j.Epoch, k.Epoch)
	}
	if b.settle(zombie, outcome(j))[0] {
		b.Error("the zombie's outcome was committed")
	}
	b.state(j.ID, durable.Confirmed)
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
	if !got.Due.Equal(o.Due) || !got.Occurrence.Equal(o.Due) || got.Attempt != 0 || got.Error != "last time" ||
		!got.Anchor.Equal(j.Anchor) {
		b.Errorf("job is %+v", got)
	}
}

// The history keeps the latest runs, and returns them in pages, the latest first.
func settleHistory(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1s"))
	for range 7 {
		b.settle(node, next(j, j.Due.Add(time.Millisecond)))
		j = b.claimOne(node)
	}
	unrecorded := next(j, j.Due)
	unrecorded.Unrecorded = true
	b.settle(node, unrecorded)
	want := []int64{7, 6, 5, 4, 3}
	var seqs []int64
	for before := int64(0); len(seqs) <= len(want); {
		page := must(b.store.Runs(b.Context(), j.ID, before, 2))
		if len(page) == 0 {
			break
		}
		for _, run := range page {
			seqs = append(seqs, run.Seq)
			before = run.Seq
		}
	}
	if !reflect.DeepEqual(seqs, want) {
		b.Errorf("history has %v, want %v", seqs, want)
	}
}

// A commit says which outcomes had been committed before: these stay as they are.
func settleSaysWhatWasBefore(b *bench) {
	node := b.node("a")
	first, second := b.running(node), b.running(node)
	commit := func(o ...durable.Outcome) store.CommitResult {
		return must(b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: o}))
	}
	if c := commit(outcome(first)); len(c.Before) != 0 {
		b.Errorf("the first commit says that there was %v before", c.Before)
	}
	other := outcome(first)
	other.State, other.Error = durable.Dead, "no"
	c := commit(other, outcome(second))
	if !slices.Equal(c.Committed, []bool{true, true}) || !slices.Equal(c.Before, []store.Ref{other.Ref}) {
		b.Errorf("committed %v, before %v", c.Committed, c.Before)
	}
	b.state(first.ID, durable.Succeeded)
}

// A history may be as long as an int can say.
func settleLongHistory(b *bench) {
	node := b.node("a")
	j := b.running(node)
	s, err := b.store.Commit(b.Context(),
		store.CommitRequest{Node: node, Outcomes: []durable.Outcome{outcome(j)}, History: math.MaxInt})
	b.ok(err)
	if runs := must(b.store.Runs(b.Context(), j.ID, 0, 10)); len(runs) != 1 || !s.Committed[0] {
		b.Errorf("history is %+v", runs)
	}
}

// A program that keeps no history removes what another one, or it itself, has kept of the job before.
func settleNoHistory(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1s"))
	b.settle(node, next(j, j.Due.Add(time.Millisecond)))
	j = b.claimOne(node)
	b.ok(errOf(b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: []durable.Outcome{next(j, j.Due)}})))
	if runs := must(b.store.Runs(b.Context(), j.ID, 0, 10)); len(runs) != 0 {
		b.Errorf("history is %+v", runs)
	}
}

// A job that is brought back again and again keeps no more of them.
func settleRevivedHistory(b *bench) {
	node := b.node("a")
	id := b.add(-time.Second, func(j *durable.NewJob) { j.Attempts = 1 }).ID
	for range 7 {
		o := outcome(b.claimOne(node))
		o.State = durable.Dead
		b.settle(node, o)
		b.change(id, durable.OpRevive, durable.Applied)
	}
	if runs := must(b.store.Runs(b.Context(), id, 0, 10)); len(runs) != 5 || runs[0].Seq != 7 {
		b.Errorf("history is %+v", runs)
	}
}

// Each entry of a batch has an answer of its own.
func settleMany(b *bench) {
	node := b.node("a")
	for range 6 {
		b.add(-time.Second)
	}
	jobs := b.claim(node)
	if len(jobs) != 6 {
		b.Fatalf("claimed %d jobs, want 6", len(jobs))
	}
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

// A run that leaves no result leaves the one before.
func settleWithoutResult(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.settle(node, next(j, j.Due))
	j = b.claimOne(node)
	o := next(j, j.Due)
	o.Result, o.Error = nil, "no"
	b.settle(node, o)
	if got := b.state(j.ID, durable.Waiting); string(got.Result) != "1" || got.Error != "no" {
		b.Errorf("job is %+v", got)
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

// What a run has failed with, and why its job is over, may be two errors: the line of the history has that of the run.
func settleBothErrors(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	o := outcome(j)
	o.State, o.Error, o.Run.Error = durable.Dead, "of the job", "of the run"
	b.settle(node, o)
	if got := b.state(j.ID, durable.Dead).Error; got != o.Error {
		b.Errorf("the error of the job is %q", got)
	}
	for _, r := range must(b.store.Runs(b.Context(), j.ID, 0, 10)) {
		if r.Error != o.Run.Error {
			b.Errorf("the error of the run is %q", r.Error)
		}
	}
}

// The label of a run is that of its job until another run ends, recorded or not, and is in the history. One that is
// lost with its node has none.
func settleLabel(b *bench) {
	node, heir := b.node("a"), b.node("b")
	j := b.running(node, key("key"), every("1h0m0s"))
	for _, label := range []string{"timeout", "", "ä '\\"} {
		o := next(j, j.Due)
		o.Run.Label = label
		b.settle(node, o)
		if got := b.get(j.ID); got.Label != label {
			b.Errorf("the job has label %q, want %q", got.Label, label)
		}
		j = b.claim(node)[0]
	}
	if j.Label != "ä '\\" {
		b.Errorf("claimed, it has label %q", j.Label)
	}
	o := next(j, j.Due)
	o.Run.Label, o.Unrecorded = "cut", true
	b.settle(node, o)
	j = b.claim(node)[0]
	b.begin(node, j)
	if got := b.get(j.ID); got.Label != "cut" {
		b.Errorf("after a run that is not recorded the label is %q", got.Label)
	}
	b.die(node)
	b.beat(heir, lease)
	if got := b.get(j.ID); got.Label != "" || got.Error == "" {
		b.Errorf("lost, the job is %+v", got)
	}
	var labels []string
	for _, r := range must(b.store.Runs(b.Context(), j.ID, 0, 10)) {
		labels = append(labels, r.Label)
	}
	if want := []string{"", "ä '\\", "", "timeout"}; !slices.Equal(labels, want) {
		b.Errorf("the history has labels %q, want %q", labels, want)
	}
}
