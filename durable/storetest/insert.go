package storetest

import (
	"reflect"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// What was inserted is what is there.
func insertKeepsEveryField(b *bench) {
	due := time.Date(2040, 2, 3, 4, 5, 6, 789000, time.UTC)
	n := durable.NewJob{
		ID: durable.NewID(), Key: "schlüssel 'x' \"y\" %_\\", Kind: "kind", Payload: []byte("\x00\xff{}"), Priority: durable.Low,
		Schedule: "rate 1m0s", Missed: "skip 2s", Due: due, Attempts: 7, Timeout: 90 * time.Second,
		Meta: map[string]string{"traceparent": "00-1", "schlüssel \"\x00": "'<&>\n"}, Partition: "teil 'x' \"y\" %_\\",
	}
	p := b.insert(n, store.Placement{})
	want := durable.Job{
		ID: n.ID, Key: n.Key, Kind: n.Kind, Payload: n.Payload, Priority: n.Priority,
		Schedule: n.Schedule, Missed: n.Missed,
		Anchor: due, Due: due, Occurrence: due, Attempts: 7, Timeout: n.Timeout, Created: p.Now, Updated: p.Now,
		Meta: n.Meta, Partition: n.Partition,
	}
	for where, got := range map[string]durable.Job{"Insert": p.Job, "Get": b.get(n.ID), "Find": must(b.store.Find(b.Context(), n.Key))} {
		if !reflect.DeepEqual(got, want) {
			b.Errorf("%s gave\n%+v, want\n%+v", where, got, want)
		}
	}
	if p.Held || p.KindTaken || !p.Changed {
		b.Errorf("held %v, key taken %v, changed %v", p.Held, p.KindTaken, p.Changed)
	}
}

// A delay counts from the store's clock.
func insertCountsDelay(b *bench) {
	p := b.insert(job(90*time.Second), store.Placement{})
	if !p.Due.Equal(p.Now.Add(90 * time.Second)) {
		b.Errorf("due %v at %v", p.Due, p.Now)
	}
}

// A job may be due at any time, also at the one from which computers count.
func insertDue1970(b *bench) {
	from := time.Unix(0, 0)
	j := b.insert(job(time.Hour, func(j *durable.NewJob) { j.Due = from }), store.Placement{})
	for _, due := range []time.Time{j.Due, b.get(j.ID).Due} {
		if late := due.Sub(from); late < 0 || late > time.Microsecond {
			b.Errorf("due %v", due)
		}
	}
}

// A job that is inserted again, because the answer was lost, is there once.
func insertTwice(b *bench) {
	j, k := job(0), job(0, key("key"))
	for try := range 2 {
		for _, n := range []durable.NewJob{j, k} {
			if p := b.insert(n, store.Placement{}); p.ID != n.ID || p.Changed != (try == 0) {
				b.Errorf("inserted %v as %v, changed %v", n.ID, p.ID, p.Changed)
			}
		}
	}
	if all := must(b.store.List(b.Context(), durable.Filter{})); len(all) != 2 {
		b.Errorf("there are %d jobs, want 2", len(all))
	}
}

// A job whose key is taken is the one that has the key, which stays as it is.
func insertTakenKey(b *bench) {
	first := b.add(time.Hour, key("key"))
	p := b.insert(job(time.Minute, key("key")), store.Placement{})
	if p.ID != first.ID || p.Held || p.Changed {
		b.Errorf("got %v, held %v, changed %v; want %v", p.ID, p.Held, p.Changed, first.ID)
	}
	if got := b.get(first.ID); !reflect.DeepEqual(got, first) {
		b.Errorf("the first job has become\n%+v, was\n%+v", got, first)
	}
}

// A key that belongs to a job of another kind is not given.
func insertKindTaken(b *bench) {
	first := b.add(time.Hour, key("key"), every("1m0s"))
	p := b.insert(job(0, key("key"), every("1m0s"), func(j *durable.NewJob) { j.Kind = "other" }), store.Placement{})
	if !p.KindTaken || p.Changed {
		b.Errorf("the key was given to a second kind, or so it is said: %+v", p)
	}
	if got := b.get(first.ID); !reflect.DeepEqual(got, first) {
		b.Errorf("the first job has become\n%+v, was\n%+v", got, first)
	}
}

// Registering an unchanged schedule changes nothing, however often.
func insertSamePeriodic(b *bench) {
	first := b.add(time.Hour, key("key"), every("1m0s"))
	p := b.insert(job(time.Second, key("key"), every("1m0s")), store.Placement{})
	if got := b.get(first.ID); !reflect.DeepEqual(got, first) || p.Changed {
		b.Errorf("the first job has become\n%+v, was\n%+v", got, first)
	}
}

// A periodic job takes on another payload without losing its place in time.
func insertNewPayload(b *bench) {
	first := b.add(time.Hour, key("key"), every("1m0s"))
	p := b.insert(job(time.Second, key("key"), every("1m0s"), func(j *durable.NewJob) {
		j.Payload, j.Attempts, j.Timeout = []byte("2"), 9, time.Minute
	}), store.Placement{})
	got := b.get(first.ID)
	if string(got.Payload) != "2" || got.Attempts != 9 || got.Timeout != time.Minute || !p.Changed {
		b.Errorf("job is %+v, changed %v", got, p.Changed)
	}
	if !got.Due.Equal(first.Due) || !got.Anchor.Equal(first.Anchor) {
		b.Errorf("due moved from %v to %v", first.Due, got.Due)
	}
	if !reflect.DeepEqual(p.Job, got) {
		b.Errorf("Insert gave\n%+v, Get\n%+v", p.Job, got)
	}
}

// A schedule that differs begins anew, and a node that has claimed the job
// cannot confirm what it knew.
func insertOtherSchedule(b *bench) {
	node := b.node("a")
	b.add(30*time.Second, key("key"), every("1m0s"))
	claimed := b.claimOne(node)
	p := b.insert(job(time.Hour, key("key"), every("2m0s")), store.Placement{})
	got := b.state(claimed.ID, durable.Waiting)
	if got.Schedule != "rate 2m0s" || !got.Due.Equal(p.Now.Add(time.Hour)) || !got.Anchor.Equal(got.Due) ||
		!got.Occurrence.Equal(got.Due) {
		b.Errorf("job is %+v", got)
	}
	if b.confirm(node, claimed) {
		b.Error("the old claim was confirmed")
	}
}

// A schedule that differs waits for the run in progress, which can be committed.
func insertOtherScheduleDuringRun(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1m0s"))
	p := b.insert(job(time.Hour, key("key"), every("2m0s")), store.Placement{})
	b.state(j.ID, durable.Running)
	if !b.settle(node, next(j, j.Due.Add(time.Minute)))[0] {
		b.Fatal("the run was refused")
	}
	got := b.state(j.ID, durable.Waiting)
	if want := p.Now.Add(time.Hour); !got.Due.Equal(want) || !got.Occurrence.Equal(want) || !got.NextDue.IsZero() {
		b.Errorf("due %v, occurrence %v, want %v", got.Due, got.Occurrence, want)
	}
}

// A periodic job that is over takes on what is registered anew, and is kept from its
// end all the same: or one that is registered each day would be kept for ever.
func insertOver(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1m0s"))
	b.settle(node, outcome(j))
	over := b.state(j.ID, durable.Succeeded)
	b.pass()
	b.add(0, key("key"), every("2m0s"), func(j *durable.NewJob) { j.Payload = []byte("2") })
	if got := b.state(j.ID, durable.Succeeded); string(got.Payload) != "2" || !got.Updated.Equal(over.Updated) {
		b.Errorf("job was\n%+v, is\n%+v", over, got)
	}
}

// New jobs that are near are the node's at once, up to its limit: confirmed if
// they are due, claimed if they will be.
func insertForNode(b *bench) {
	place := store.Placement{Node: b.node("a"), Ahead: time.Minute, Lead: time.Second, Limit: 3}
	jobs := []durable.NewJob{job(0), job(2 * time.Minute),
		job(30*time.Second+1, func(j *durable.NewJob) { j.Timeout = 1500 }), job(0), job(0)}
	placed := must(b.store.Insert(b.Context(), jobs, place))
	want := []durable.State{durable.Confirmed, durable.Waiting, durable.Claimed, durable.Confirmed, durable.Waiting}
	for i, p := range placed {
		if p.ID != jobs[i].ID || p.State != want[i] || p.Held != want[i].Held() {
			b.Errorf("job %d is %v, held %v; want %v", i, p.State, p.Held, want[i])
		}
		if p.Held && (p.Owner != "a" || p.Epoch != 1) {
			b.Errorf("job %d belongs to %q with epoch %d", i, p.Owner, p.Epoch)
		}
		if p.Attempt != 0 {
			b.Errorf("job %d is in attempt %d", i, p.Attempt)
		}
		if got := b.get(p.ID); !reflect.DeepEqual(got, p.Job) {
			b.Errorf("Insert gave\n%+v, Get\n%+v", p.Job, got)
		}
	}
}

// A node that is not alive gets nothing.
func insertForDeadNode(b *bench) {
	p := b.insert(job(0), store.Placement{Node: "nobody", Ahead: time.Minute, Lead: time.Second, Limit: 3})
	if p.Held || p.State != durable.Waiting || p.Owner != "" {
		b.Errorf("job is %+v", p)
	}
}

// A node that claims a job, or gets it at once, has its Meta; and so has what a run leaves.
func insertKeepsMeta(b *bench) {
	node, meta := b.node("a"), map[string]string{"a": "1"}
	with := func(j *durable.NewJob) { j.Meta = meta }
	placed := b.insert(job(0, with), store.Placement{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 1})
	j := b.running(node, with)
	b.settle(node, outcome(j))
	b.add(0, func(j *durable.NewJob) { j.Meta = map[string]string{} })
	for where, got := range map[string]map[string]string{"placed": placed.Meta, "begun": j.Meta, "over": b.get(j.ID).Meta} {
		if !reflect.DeepEqual(got, meta) {
			b.Errorf("%s: meta is %v", where, got)
		}
	}
	if got := b.claimOne(node).Meta; got != nil {
		b.Errorf("without meta: %v", got)
	}
}

// A periodic job that is registered with another Meta has not changed. If something else has, it takes on both; so does
// a job that is replaced.
func insertOtherMeta(b *bench) {
	with := func(meta string) func(*durable.NewJob) {
		return func(j *durable.NewJob) { j.Meta = map[string]string{"a": meta} }
	}
	first := b.add(time.Hour, key("key"), every("1m0s"), with("1"))
	if p := b.insert(job(time.Hour, key("key"), every("1m0s"), with("2")), store.Placement{}); p.Changed {
		b.Errorf("other meta is a change: %+v", p.Job)
	}
	if got := b.get(first.ID); !reflect.DeepEqual(got, first) {
		b.Errorf("job was\n%+v, is\n%+v", first, got)
	}
	b.add(time.Hour, key("key"), every("2m0s"), with("3"))
	if got := b.get(first.ID).Meta["a"]; got != "3" {
		b.Errorf("after another schedule the meta is %q", got)
	}
	replaced := b.add(time.Hour, key("once"), with("1"))
	b.add(time.Hour, key("once"), with("2"), func(j *durable.NewJob) { j.ReuseKey, j.Replace = true, true })
	if got := b.get(replaced.ID).Meta["a"]; got != "2" {
		b.Errorf("after a replacement the meta is %q", got)
	}
}

// Of several jobs with keys each is added, or is the one that has its key, which takes on what is new.
func insertSet(b *bench) {
	kept := b.add(time.Hour, key("kept"), every("1m0s"))
	changed := b.add(time.Hour, key("changed"), every("1m0s"))
	other := b.add(time.Hour, key("other"), every("1m0s"))
	over := b.add(0, key("over"))
	b.change(over.ID, durable.OpCancel, durable.Applied)
	jobs := []durable.NewJob{
		job(time.Second, key("new"), every("1m0s")),
		job(time.Second, key("other"), every("2m0s")),
		job(time.Second, key("kept"), every("1m0s")),
		job(time.Second, key("over"), every("1m0s"), func(j *durable.NewJob) { j.ReuseKey = true }),
		job(time.Second, key("changed"), every("1m0s"), func(j *durable.NewJob) {
			j.Payload, j.Meta = []byte("\x00\xff\"'\\"), map[string]string{"a": "\x00ü\"\\"}
		}),
	}
	placed := must(b.store.Insert(b.Context(), jobs, store.Placement{}))
	for i, want := range []durable.ID{jobs[0].ID, other.ID, kept.ID, jobs[3].ID, changed.ID} {
		got := placed[i]
		if got.ID != want || got.KindTaken || got.Changed == (i == 2) {
			b.Errorf("%s: ID %v, changed %v, kind taken %v; want %v", jobs[i].Key, got.ID, got.Changed, got.KindTaken, want)
		}
		if there := b.get(want); !reflect.DeepEqual(there, got.Job) {
			b.Errorf("%s: Insert returned\n%+v, Get\n%+v", jobs[i].Key, got.Job, there)
		}
	}
	if got := b.get(kept.ID); !reflect.DeepEqual(got, kept) {
		b.Errorf("the job that is to stay has become\n%+v, was\n%+v", got, kept)
	}
	if got := b.get(changed.ID); string(got.Payload) != string(jobs[4].Payload) ||
		!reflect.DeepEqual(got.Meta, jobs[4].Meta) || !got.Due.Equal(changed.Due) {
		b.Errorf("job is %+v", got)
	}
	if got := b.get(other.ID); got.Schedule != "rate 2m0s" || !got.Due.Equal(placed[1].Now.Add(time.Second)) {
		b.Errorf("job is %+v", got)
	}
	for i, again := range must(b.store.Insert(b.Context(), jobs, store.Placement{})) {
		if again.ID != placed[i].ID || again.Changed {
			b.Errorf("%s: repeated, ID %v, changed %v", jobs[i].Key, again.ID, again.Changed)
		}
	}
}

// If one of several jobs can't have its key, none is added and none is changed.
func insertSetTaken(b *bench) {
	there := b.add(time.Hour, key("there"), every("1m0s"))
	taken := b.add(time.Hour, key("taken"), every("1m0s"))
	for _, spoil := range []func(j *durable.NewJob){
		func(j *durable.NewJob) { j.Kind = "other" },
		func(j *durable.NewJob) { j.Schedule, j.Missed = "once", "" },
	} {
		jobs := []durable.NewJob{
			job(0, key("new"), every("1m0s")),
			job(0, key("there"), every("2m0s")),
			job(0, key("taken"), every("1m0s"), spoil),
		}
		placed := must(b.store.Insert(b.Context(), jobs, store.Placement{}))
		for i, want := range []durable.Job{{}, there, taken} {
			if placed[i].Changed || !reflect.DeepEqual(placed[i].Job, want) {
				b.Errorf("%s: changed %v, job\n%+v, want\n%+v", jobs[i].Key, placed[i].Changed, placed[i].Job, want)
			}
		}
		if placed[2].KindTaken != (jobs[2].Kind == "other") {
			b.Errorf("kind taken %v", placed[2].KindTaken)
		}
		for _, want := range []durable.Job{there, taken} {
			if got := b.get(want.ID); !reflect.DeepEqual(got, want) {
				b.Errorf("the job has become\n%+v, was\n%+v", got, want)
			}
		}
		if all := must(b.store.List(b.Context(), durable.Filter{})); len(all) != 2 {
			b.Errorf("there are %d jobs, want 2", len(all))
		}
	}
}
