package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// stepOf returns a step of a job.
func stepOf(j durable.Job, name, result string) durable.KeptStep {
	return durable.KeptStep{Name: name, Occasion: j.Occasion(), Result: []byte(result)}
}

// keep keeps a step, and returns what the store has then.
func (b *bench) keep(j durable.Job, k durable.KeptStep) (result string, ok bool) {
	b.Helper()
	data, ok, err := b.store.KeepStep(b.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, k)
	b.ok(err)
	return string(data), ok
}

// await keeps that a run waits for a signal, and returns its payload.
func (b *bench) await(j durable.Job, name string) string {
	b.Helper()
	payload, ok := b.keep(j, durable.KeptStep{Name: name, Signal: true, Occasion: j.Occasion()})
	if !ok {
		b.Fatal("the store does not keep what a run waits for")
	}
	return payload
}

func (b *bench) signal(id durable.ID, name, payload string, want durable.Answer) {
	b.Helper()
	if got := must(b.store.Signal(b.Context(), id, name, []byte(payload))); got != want {
		b.Fatalf("signal %q was answered %q, want %q", name, got, want)
	}
}

// steps returns what is kept of a job, as texts.
func (b *bench) steps(id durable.ID) []string {
	b.Helper()
	kept := must(b.store.KeptSteps(b.Context(), id))
	texts := make([]string, len(kept))
	for i, k := range kept {
		texts[i] = fmt.Sprintf("%s=%s", k.Name, k.Result)
		if k.Signal {
			texts[i] = "signal " + texts[i]
		}
	}
	slices.Sort(texts)
	return texts
}

func (b *bench) wantSteps(id durable.ID, want ...string) {
	b.Helper()
	if got := b.steps(id); !slices.Equal(got, want) {
		b.Fatalf("kept are %q, want %q", got, want)
	}
}

// waiting returns the outcome of a run that waits for signals.
func waiting(j durable.Job, due time.Time, names ...string) durable.Outcome {
	o := outcome(j)
	o.State, o.Due, o.Signals = durable.Waiting, due, names
	o.Run.Verdict = durable.RunSnoozed
	return o
}

// A step is kept with the time of the store, and is returned with all that it has, whatever bytes.
func keepsSteps(b *bench) {
	j := b.running(b.node("a"))
	before := must(b.store.Now(b.Context()))
	const name, result = "K' \\\u00e9", "\x00\xff'\\"
	if got, ok := b.keep(j, stepOf(j, name, result)); !ok || got != result {
		b.Errorf("kept %q, %t", got, ok)
	}
	after := must(b.store.Now(b.Context()))
	kept := must(b.store.KeptSteps(b.Context(), j.ID))
	if len(kept) != 1 || kept[0].Name != name || string(kept[0].Result) != result || kept[0].Signal ||
		!kept[0].Occasion.Equal(j.Occasion()) || kept[0].At.Before(before) || kept[0].At.After(after) {
		b.Errorf("kept are %+v", kept)
	}
	b.wantSteps(durable.NewID())
}

// A step that is kept stays as it is: the call that is made again returns what is there.
func keepsStepsOnce(b *bench) {
	j := b.running(b.node("a"))
	b.keep(j, stepOf(j, "s", "1"))
	if got, ok := b.keep(j, stepOf(j, "s", "2")); !ok || got != "1" {
		b.Errorf("kept %q, %t; want the first result", got, ok)
	}
	b.wantSteps(j.ID, "s=1")
}

// A node that has lost the job keeps no step of it, whether the job waits, runs elsewhere or is over.
func keepsNoStepsOfZombies(b *bench) {
	node := b.node("a")
	zombie := b.running(node)
	refused := func(when string) {
		b.Helper()
		if _, ok := b.keep(zombie, stepOf(zombie, "zombie", "1")); ok {
			b.Errorf("%s: a step of the zombie was kept", when)
		}
	}
	must(b.store.Release(b.Context(), node, nil))
	refused("it waits")
	j := b.claimOne(node)
	refused("it runs elsewhere")
	if _, ok := b.keep(j, stepOf(j, "s", "1")); !ok {
		b.Error("a step of the run was not kept")
	}
	b.settle(node, outcome(j))
	if _, ok := b.keep(j, stepOf(j, "late", "1")); ok {
		b.Error("a step was kept after the end")
	}
	b.wantSteps(j.ID, "s=1")
	unknown := durable.Job{ID: durable.NewID(), Epoch: 1}
	if _, ok := b.keep(unknown, stepOf(unknown, "s", "1")); ok {
		b.Error("a step of an unknown job was kept")
	}
}

// A node that takes a job over sees each step of the run before that was kept, and none is kept after that: also while
// both happen at the same time.
func keepsStepsBeforeTheNextRun(b *bench) {
	steps, node := b.store.steps(), b.node("a")
	for i := range 20 {
		j := b.running(node)
		var wg sync.WaitGroup
		kept := make([]bool, 10)
		wg.Go(func() {
			for n := range kept {
				_, ok, err := steps.KeepStep(b.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, stepOf(j, fmt.Sprint(n), "1"))
				if err != nil {
					b.Error(err)
				}
				kept[n] = ok
			}
		})
		for range i % 7 { // at another moment each time
			must(b.store.Now(b.Context()))
		}
		var next []durable.Job
		for begun := time.Now(); len(next) == 0 && time.Since(begun) < patience; {
			must(b.store.Release(b.Context(), node, nil)) // which may leave it, as its row is locked
			next = b.claim(node)
		}
		seen := b.steps(j.ID)
		wg.Wait()
		for n, ok := range kept {
			if there := slices.Contains(seen, fmt.Sprint(n, "=1")); ok != there {
				b.Errorf("step %d: the run was told %t, and the next one has seen %t", n, ok, there)
			}
		}
		if len(next) != 1 || next[0].ID != j.ID {
			b.Fatalf("claimed %+v, want the job that was released", next)
		}
		b.settle(node, outcome(next[0]))
	}
}

// What the runs of a job have kept is there for the next, after a failure, a release and the death of a node.
func keepsStepsForTheNextRun(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.keep(j, stepOf(j, "a", "1"))
	failed := outcome(j)
	failed.State, failed.Attempt, failed.Run.Verdict = durable.Waiting, 1, durable.RunFailed
	b.settle(node, failed)
	again := b.claimOne(node)
	if !again.Occasion().Equal(j.Occasion()) {
		b.Fatalf("the occasion is %v after a failure, and was %v", again.Occasion(), j.Occasion())
	}
	b.keep(again, stepOf(again, "b", "2"))
	must(b.store.Release(b.Context(), node, nil))
	b.begin(node, b.claimOne(node))
	must(b.store.Heartbeat(b.Context(), node, -time.Second, store.Watch{}))
	b.beat(b.node("c"), lease)
	b.changeBy(j.ID, durable.Change{Op: durable.OpReschedule, Due: j.Due.Add(-time.Second)}, durable.Applied)
	if got := b.get(j.ID); !got.Occasion().Equal(j.Occasion()) {
		b.Errorf("the occasion is %v after all that, and was %v", got.Occasion(), j.Occasion())
	}
	b.wantSteps(j.ID, "a=1", "b=2")
}

// The steps of an occurrence are not those of the next, and are removed with the first of that.
func keepsStepsOfOneOccasion(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.keep(j, stepOf(j, "s", "1"))
	b.settle(node, next(j, j.Due.Add(time.Millisecond)))
	again := b.claimOne(node)
	if again.Occasion().Equal(j.Occasion()) {
		b.Fatal("the occasion has not changed")
	}
	if got, _ := b.keep(again, stepOf(again, "s", "2")); got != "2" {
		b.Errorf("kept %q, want that of this occurrence", got)
	}
	b.wantSteps(j.ID, "s=2")
}

// A job that is asked for again, while it waits or runs, begins with no step, also for the same time.
func keepsNoStepsOfAnotherAsk(b *bench) {
	node, at := b.node("a"), time.Unix(1e9, 0).UTC()
	again := func(j *durable.NewJob) { j.Due, j.ReuseKey, j.Replace = at, true, true }
	j := b.running(node, key("key"), again)
	b.keep(j, stepOf(j, "s", "1"))
	for _, running := range []bool{true, false} {
		before := b.get(j.ID)
		if !running {
			must(b.store.Release(b.Context(), node, nil))
		}
		b.add(0, key("key"), again)
		if got := b.get(j.ID); !got.Occasion().After(before.Occasion()) {
			b.Errorf("running: %t: it is the same occasion", running)
		}
	}
}

// Steps go with their job.
func stepsGoWithTheJob(b *bench) {
	node := b.node("a")
	deleted, pruned, stays := b.running(node), b.running(node), b.running(node)
	for _, j := range []durable.Job{deleted, pruned, stays} {
		b.keep(j, stepOf(j, "s", "1"))
	}
	must(b.store.Release(b.Context(), node, []durable.ID{pruned.ID, stays.ID}))
	b.change(deleted.ID, durable.OpDelete, durable.Applied)
	b.settle(node, outcome(pruned))
	b.wantSteps(pruned.ID, "s=1")
	for must(b.store.Prune(b.Context(), durable.Retention{Succeeded: 1})) > 0 {
	}
	b.wantSteps(deleted.ID)
	b.wantSteps(pruned.ID)
	b.wantSteps(stays.ID, "s=1")
}

// A signal that comes before it is waited for is there, and moves no time.
func signalBefore(b *bench) {
	node := b.node("a")
	added := b.add(30 * time.Second)
	b.signal(added.ID, "go", "1", durable.Applied)
	if got := b.get(added.ID); !got.Due.Equal(added.Due) {
		b.Errorf("due moved from %v to %v", added.Due, got.Due)
	}
	b.change(added.ID, durable.OpRunNow, durable.Applied)
	j := b.claimOne(node)
	if got := b.await(j, "go"); got != "1" {
		b.Errorf("the payload is %q", got)
	}
	b.wantSteps(j.ID, "signal go=1")
}

// A signal removes what is kept of earlier occurrences, as a step does: a schedule whose runs find their signals there, and
// have no steps, does not keep ever more of them.
func signalRemovesEarlier(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.keep(j, stepOf(j, "s", "1"))
	b.signal(j.ID, "go", "1", durable.Applied)
	b.wantSteps(j.ID, "s=1", "signal go=1")
	b.settle(node, next(j, j.Due.Add(time.Millisecond)))
	b.signal(j.ID, "go", "2", durable.Applied)
	b.signal(j.ID, "stop", "3", durable.Applied)
	b.wantSteps(j.ID, "signal go=2", "signal stop=3")
}

// A signal makes a job due that waits for it, and none that waits for something else; one that is paused stays so.
func signalWakes(b *bench) {
	node, far := b.node("a"), time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	j, paused := b.running(node), b.running(node)
	for _, k := range []durable.Job{j, paused} {
		if got := b.await(k, "go"); got != "" {
			b.Errorf("the payload is %q before the signal", got)
		}
		b.settle(node, waiting(k, far, "go"))
	}
	b.change(paused.ID, durable.OpPause, durable.Applied)
	b.signal(j.ID, "other", "0", durable.Applied)
	if got := b.get(j.ID); !got.Due.Equal(far) {
		b.Errorf("another signal has made it due at %v", got.Due)
	}
	b.signal(j.ID, "go", "1", durable.Applied)
	b.signal(paused.ID, "go", "1", durable.Applied)
	if got := b.state(paused.ID, durable.Paused); got.Due.After(must(b.store.Now(b.Context()))) {
		b.Errorf("the paused one is due at %v", got.Due)
	}
	again := b.claimOne(node)
	if got := b.await(again, "go"); again.ID != j.ID || got != "1" || !again.Occurrence.Equal(j.Occurrence) {
		b.Errorf("claimed %+v, and the payload is %q", again, got)
	}
}

// A signal makes a job due that waits for it and was claimed ahead of its time; the node that has claimed it, with that
// time, does not confirm it any more.
func signalWakesClaimed(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.await(j, "go")
	b.settle(node, waiting(j, time.Now().UTC().Add(30*time.Second).Truncate(time.Microsecond), "go"))
	ahead := b.claimOne(node)
	b.state(j.ID, durable.Claimed)
	b.signal(j.ID, "go", "1", durable.Applied)
	if got := b.state(j.ID, durable.Waiting); got.Due.After(must(b.store.Now(b.Context()))) {
		b.Errorf("it is due at %v", got.Due)
	}
	if b.confirm(node, ahead) {
		b.Error("the claim was confirmed")
	}
	if again := b.claimOne(node); again.ID != j.ID || again.State != durable.Confirmed {
		b.Errorf("claimed %+v", again)
	}
}

// A signal makes a job due that waits for it in a partition, also after claims that found nothing of that.
func signalWakesPartition(b *bench) {
	node, far := b.node("a"), time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	j := b.running(node, in("p"))
	b.await(j, "go")
	b.settle(node, waiting(j, far, "go"))
	for range 2 {
		b.wantsParts(b.parted(node, 10, 1))
	}
	b.signal(j.ID, "go", "1", durable.Applied)
	b.wantsParts(b.parted(node, 10, 1), "p")
}

// A signal that comes while the run ends that waits for it is not missed: the job is due at once.
func signalDuringTheEnd(b *bench) {
	node, far := b.node("a"), time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	j := b.running(node)
	b.await(j, "go")
	b.await(j, "stop")
	b.signal(j.ID, "go", "1", durable.Applied)
	o := waiting(j, far, "stop", "go")
	b.settle(node, o)
	for range 2 { // the answer to the first may be lost
		if got := b.state(j.ID, durable.Waiting); got.Due.After(must(b.store.Now(b.Context()))) {
			b.Fatalf("it is due at %v", got.Due)
		}
		b.settle(node, o)
	}
	b.change(j.ID, durable.OpCancel, durable.Applied)
	k := b.running(node)
	b.settle(node, waiting(k, far, "go"))
	if got := b.state(k.ID, durable.Waiting); !got.Due.Equal(far) {
		b.Errorf("without a signal it is due at %v", got.Due)
	}
}

// Signals and the ends of runs that wait for them, at the same time, leave no job that waits in vain.
func signalsTogether(b *bench) {
	node, far := b.node("a"), time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	for range 20 {
		j := b.running(node)
		b.await(j, "go")
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.store.Signal(b.Context(), j.ID, "go", []byte("1")); err != nil {
				b.Error(err)
			}
		})
		r := store.CommitRequest{Node: node, Outcomes: []durable.Outcome{waiting(j, far, "go")}}
		// Its row may be locked.
		_, err := soon(func() (store.CommitResult, error) { return b.store.Commit(b.Context(), r) },
			func(c store.CommitResult) bool { return len(c.Locked) == 0 })()
		wg.Wait()
		b.ok(err)
		if got := b.state(j.ID, durable.Waiting); got.Due.Equal(far) {
			b.Fatal("the signal was missed")
		}
		b.change(j.ID, durable.OpCancel, durable.Applied)
	}
}

// The first signal of a name counts. One that is repeated is answered as the first, and one that comes after the end,
// or to no job, says so. Signals and steps do not share names.
func signalOnce(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.keep(j, stepOf(j, "go", "step"))
	b.signal(j.ID, "go", "1", durable.Applied)
	b.signal(j.ID, "go", "1", durable.Applied)
	b.signal(j.ID, "go", "2", durable.TooLate)
	b.wantSteps(j.ID, "go=step", "signal go=1")
	b.settle(node, outcome(j))
	b.signal(j.ID, "go", "1", durable.TooLate)
	b.signal(durable.NewID(), "go", "1", durable.NotFound)
}

// keepingStep returns the call that keeps a step.
func (b *faulted) keepingStep() told {
	_, jobs := b.given(1)
	j := jobs[0]
	type kept struct {
		result string
		ok     bool
	}
	return told{
		call: func() (any, error) {
			data, ok, err := b.store.KeepStep(b.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, stepOf(j, "s", "1"))
			return kept{string(data), ok}, err
		},
		wrong: func(a any) string {
			if got := b.steps(j.ID); a != any(kept{"1", true}) || !slices.Equal(got, []string{"s=1"}) {
				return fmt.Sprintf("kept are %q", got)
			}
			return ""
		},
	}
}

// signaling returns the call that signals a job that waits, for the signal or until a time.
func (b *faulted) signaling(waits bool) told {
	node, jobs := b.given(1)
	j, far := jobs[0], time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	if waits {
		b.await(j, "go")
	}
	b.settle(node, waiting(j, far))
	return told{
		call: func() (any, error) { return answer(b.store.Signal(b.Context(), j.ID, "go", []byte("1"))) },
		wrong: func(a any) string {
			got := b.get(j.ID)
			if a != any(durable.Applied) || got.Due.Equal(far) == waits || !slices.Equal(b.steps(j.ID), []string{"signal go=1"}) {
				return fmt.Sprintf("kept are %q, and the job is %+v", b.steps(j.ID), got)
			}
			return ""
		},
	}
}

// committingSignaled returns the call that commits the end of a run that waits for a signal which has come.
func (b *faulted) committingSignaled() told {
	node, jobs := b.given(1)
	j, far := jobs[0], time.Now().UTC().Add(1000*time.Hour).Truncate(time.Microsecond)
	b.await(j, "go")
	b.signal(j.ID, "go", "1", durable.Applied)
	r := store.CommitRequest{Node: node, History: 5, Outcomes: []durable.Outcome{waiting(j, far, "go")}}
	return told{
		call: soon(func() (store.CommitResult, error) { return b.store.Commit(b.Context(), r) },
			func(c store.CommitResult) bool { return len(c.Locked) == 0 }),
		wrong: func(a any) string {
			got := b.get(j.ID)
			if !slices.Equal(a.(store.CommitResult).Committed, []bool{true}) || got.State != durable.Waiting || got.Due.Equal(far) {
				return fmt.Sprintf("the job is %+v", got)
			}
			return ""
		},
	}
}

// keptSteps returns what reads a step.
func keptSteps(b *faulted, _ string, j durable.Job) func() (string, error) {
	b.keep(j, stepOf(j, "s", "1"))
	return func() (string, error) {
		kept, err := b.store.KeptSteps(b.Context(), j.ID)
		var names []string
		for _, k := range kept {
			names = append(names, k.Name)
		}
		return strings.Join(names, " "), err
	}
}
