package storetest

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
)

func reuse(j *durable.NewJob) { j.ReuseKey = true }

// over adds a job and ends it in the state given.
func (b *bench) over(node string, state durable.State, change ...func(*durable.NewJob)) durable.Job {
	b.Helper()
	j := b.running(node, change...)
	o := outcome(j)
	o.State = state
	if !b.settle(node, o)[0] {
		b.Fatal("the run was refused")
	}
	return b.state(j.ID, state)
}

// A job that is over, whatever it was, loses its key to one that reuses it, and
// nothing else.
func reuseKeyOfDone(b *bench) {
	node := b.node("a")
	other := func(j *durable.NewJob) { j.Kind = "other" }
	for i, change := range []func(*durable.NewJob){reuse, other, every("1m0s")} {
		for _, state := range []durable.State{durable.Succeeded, durable.Dead, durable.Canceled} {
			name := fmt.Sprint(i, state)
			first := b.over(node, state, key(name))
			n := job(time.Hour, key(name), reuse, change)
			p := b.insert(n, durable.Placement{})
			if p.ID != n.ID || p.State != durable.Waiting || p.KindTaken {
				b.Fatalf("after one that is %v: got %+v", state, p)
			}
			if got := must(b.store.Find(b.Context(), name)); !reflect.DeepEqual(got, p.Job) {
				b.Errorf("Find gave\n%+v, want\n%+v", got, p.Job)
			}
			first.Key = ""
			if got := b.get(first.ID); !reflect.DeepEqual(got, first) {
				b.Errorf("the first job has become\n%+v, want\n%+v", got, first)
			}
		}
	}
}

// A job that is not over keeps its key, and one that is keeps it if nobody asks to
// reuse it.
func reuseKeyOfLive(b *bench) {
	node := b.node("a")
	first := b.add(30*time.Second, key("key"))
	for _, step := range []struct {
		state durable.State
		ask   func(*durable.NewJob)
		then  func()
	}{
		{durable.Waiting, reuse, func() { b.claimOne(node) }},
		{durable.Claimed, reuse, func() { b.confirm(node, b.get(first.ID)) }},
		{durable.Confirmed, reuse, func() { b.change(first.ID, durable.OpPause, durable.Deferred) }},
		{durable.Confirmed, reuse, func() { b.settle(node, next(b.get(first.ID), first.Due.Add(time.Hour))) }},
		{durable.Paused, reuse, func() { b.change(first.ID, durable.OpCancel, durable.Applied) }},
		{durable.Canceled, func(*durable.NewJob) {}, func() {}},
	} {
		before := b.state(first.ID, step.state)
		if p := b.insert(job(0, key("key"), step.ask), durable.Placement{}); p.ID != first.ID {
			b.Errorf("the key of a job that is %v was given away", before.State)
		}
		if got := b.get(first.ID); !reflect.DeepEqual(got, before) {
			b.Errorf("the first job has become\n%+v, was\n%+v", got, before)
		}
		step.then()
	}
}

// A job that is inserted again, because the answer was lost, is there once and takes
// no key from the job that has it by now, be it over or not.
func reuseKeyTwice(b *bench) {
	node := b.node("a")
	first := job(-time.Second, key("key"), reuse)
	b.insert(first, durable.Placement{})
	b.settle(node, outcome(b.claimOne(node)))
	second := b.over(node, durable.Succeeded, key("key"), reuse)
	if p := b.insert(first, durable.Placement{}); p.ID != first.ID || p.State != durable.Succeeded {
		b.Errorf("the first is %+v", p)
	}
	if got := must(b.store.Find(b.Context(), "key")); got.ID != second.ID {
		b.Errorf("the key belongs to %v, want %v", got.ID, second.ID)
	}
}

// Of many that reuse a key at the same time one has it.
func reuseKeyTogether(b *bench) {
	node := b.node("a")
	for range 5 {
		b.over(node, durable.Succeeded, key("key"), reuse)
		ids := make([]durable.ID, 8)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				placed, err := b.store.Insert(b.Context(), []durable.NewJob{job(-time.Second, key("key"), reuse)},
					durable.Placement{})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = placed[0].ID
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				b.Fatalf("the key was given to %v", ids)
			}
		}
		b.settle(node, outcome(b.claimOne(node)))
	}
}
