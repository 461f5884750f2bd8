package storetest

import (
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// setBackOf returns the change by which a schedule goes on at that time, and its anchor too.
func setBackOf(j durable.Job, to time.Time) durable.Change {
	return durable.Change{Op: store.OpSetBack, SetBack: store.SetBack{
		Epoch: j.Epoch, Updated: j.Updated, Due: to, Occurrence: to.Add(-time.Second), Anchor: to.Add(-time.Minute)}}
}

// imported adds schedules with these keys to an empty store, which were written while the clock was ahead.
func (b *bench) imported(ahead time.Duration, keys ...string) (all []durable.Job) {
	b.Helper()
	template := b.add(time.Hour, key("template"), every("1h0m0s"))
	b.change(template.ID, durable.OpDelete, durable.Applied)
	var rows []store.Row
	for _, key := range keys {
		j := template
		j.ID, j.Key, j.Runs = durable.NewID(), key, 3
		for _, t := range []*time.Time{&j.Anchor, &j.Due, &j.Occurrence, &j.Created, &j.Updated} {
			*t = t.Add(ahead)
		}
		rows = append(rows, store.Row{Job: &j})
	}
	must(0, b.store.Import(b.Context(), yielded(rows, nil)))
	for _, key := range keys {
		all = append(all, must(b.store.Find(b.Context(), key)))
	}
	return all
}

// A schedule whose clock was set back gets other times, once: its attempts and its pause stay, and its claim is over. A
// call that knows an older row changes nothing.
func setsBack(b *bench) {
	node := b.node("a")
	for _, paused := range []bool{false, true} {
		j := b.add(time.Minute, key("key"), every("1h0m0s"))
		if j = b.claimOne(node); paused {
			b.change(j.ID, durable.OpPause, durable.Applied)
			j = must(b.store.Get(b.Context(), j.ID))
		}
		to := j.Due.Add(-50 * time.Second)
		older, other := j, j
		older.Epoch--
		other.Updated = j.Updated.Add(-time.Microsecond)
		b.changeBy(j.ID, setBackOf(older, to), durable.TooLate)
		b.changeBy(j.ID, setBackOf(other, to), durable.TooLate)
		b.changeBy(j.ID, setBackOf(j, to), durable.Applied)
		got := b.state(j.ID, map[bool]durable.State{false: durable.Waiting, true: durable.Paused}[paused])
		if !got.Due.Equal(to) || !got.Occurrence.Equal(to.Add(-time.Second)) || !got.Anchor.Equal(to.Add(-time.Minute)) ||
			got.Attempt != j.Attempt || got.Epoch <= j.Epoch {
			b.Errorf("it is %+v", got)
		}
		b.changeBy(j.ID, setBackOf(j, to), durable.TooLate)
		b.change(j.ID, durable.OpDelete, durable.Applied)
	}
	once := b.add(time.Minute)
	b.changeBy(once.ID, setBackOf(once, once.Due), durable.TooLate)
}

// That of a run in progress is for the run after it.
func setsBackRunning(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	to := j.Due.Add(time.Minute)
	b.changeBy(j.ID, setBackOf(must(b.store.Get(b.Context(), j.ID)), to), durable.Deferred)
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	if got := b.state(j.ID, durable.Waiting); !got.Due.Equal(to) || !got.Anchor.Equal(to.Add(-time.Minute)) {
		b.Errorf("it is %+v", got)
	}
}

// A schedule that was written while the clock was ahead shows so by its Updated until its times are others, whatever
// else is done to it.
func setBackShows(b *bench) {
	const ahead = 71 * 365 * 24 * time.Hour
	both := b.imported(ahead, "key", "other")
	j, k := both[0], both[1]
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.change(j.ID, durable.OpResume, durable.Applied)
	b.insert(job(0, key(j.Key), every("1h0m0s"), func(n *durable.NewJob) { n.Payload = []byte("2"); n.Delay = time.Hour }), store.Placement{})
	got := b.state(j.ID, durable.Waiting)
	if !got.Updated.Equal(j.Updated) || string(got.Payload) != "2" {
		b.Errorf("it is %+v, and was %+v", got, j)
	}
	now := must(b.store.Now(b.Context()))
	found := must(b.store.List(b.Context(), durable.Filter{Kind: j.Kind, States: []durable.State{durable.Waiting},
		Updated: store.TimeRange{From: now.Add(time.Second)}, Due: store.TimeRange{From: now.Add(time.Second)}}))
	if len(found) != 2 {
		b.Errorf("List finds %+v", found)
	}
	b.changeBy(j.ID, setBackOf(got, now.Add(time.Minute)), durable.Applied)
	if got := b.state(j.ID, durable.Waiting); got.Updated.After(now.Add(time.Minute)) {
		b.Errorf("updated at %v", got.Updated)
	}
	b.change(k.ID, durable.OpCancel, durable.Applied)
	if got := b.state(k.ID, durable.Canceled); got.Updated.After(now.Add(time.Minute)) {
		b.Errorf("canceled at %v", got.Updated)
	}
}
