package storetest

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
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
			p := b.insert(n, store.Placement{})
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
		{durable.Confirmed, func(*durable.NewJob) {}, func() { b.change(first.ID, durable.OpPause, durable.Deferred) }},
		{durable.Confirmed, func(*durable.NewJob) {}, func() { b.settle(node, next(b.get(first.ID), first.Due.Add(time.Hour))) }},
		{durable.Paused, reuse, func() { b.change(first.ID, durable.OpCancel, durable.Applied) }},
		{durable.Canceled, func(*durable.NewJob) {}, func() {}},
	} {
		before := b.state(first.ID, step.state)
		if p := b.insert(job(0, key("key"), step.ask), store.Placement{}); p.ID != first.ID {
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
	b.insert(first, store.Placement{})
	b.settle(node, outcome(b.claimOne(node)))
	second := b.over(node, durable.Succeeded, key("key"), reuse)
	if p := b.insert(first, store.Placement{}); p.ID != first.ID || p.State != durable.Succeeded {
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
					store.Placement{})
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

// A schedule that is canceled while it runs, and then registered with ReuseKey, goes on after that run however it ends.
// One that is registered without, or was before it was canceled, ends.
func reuseSchedule(b *bench) {
	cancel := func(id durable.ID) { b.change(id, durable.OpCancel, durable.Deferred) }
	none := func(*durable.NewJob) {}
	for i, test := range []struct {
		option func(*durable.NewJob)
		late   bool // it is canceled after it was registered again
		end    func(node string, j durable.Job)
		want   durable.State
	}{
		{reuse, false, func(node string, j durable.Job) { b.settle(node, next(j, j.Due.Add(time.Hour))) }, durable.Waiting},
		{reuse, false, func(node string, j durable.Job) {
			o := outcome(j)
			o.State, o.Due = durable.Canceled, time.Time{}
			b.settle(node, o)
		}, durable.Waiting},
		{reuse, false, func(node string, _ durable.Job) {
			b.die(node)
			b.beat(b.node("heir"), lease)
		}, durable.Waiting},
		{reuse, true, func(node string, j durable.Job) { b.settle(node, next(j, j.Due.Add(time.Hour))) }, durable.Canceled},
		{none, false, func(node string, j durable.Job) { b.settle(node, next(j, j.Due.Add(time.Hour))) }, durable.Canceled},
	} {
		node, name := b.node(fmt.Sprint("node", i)), fmt.Sprint("key", i)
		j := b.running(node, key(name), every("1m0s"))
		if !test.late {
			cancel(j.ID)
		}
		p := b.insert(job(time.Minute, key(name), every("1m0s"), test.option), store.Placement{})
		if p.ID != j.ID || p.State != durable.Running {
			b.Errorf("%d: registered again it is %+v", i, p)
		}
		if test.late {
			cancel(j.ID)
		}
		test.end(node, b.get(j.ID))
		got := b.state(j.ID, test.want)
		if test.want == durable.Waiting && !got.Due.Equal(p.Now.Add(time.Minute)) {
			b.Errorf("%d: it is due at %v, want %v", i, got.Due, p.Now.Add(time.Minute))
		}
		if test.want == durable.Waiting {
			b.change(j.ID, durable.OpCancel, durable.Applied)
		}
	}
}

// A schedule that was canceled as absent, while it ran or before, is one that is deleted to those who register it: it
// goes on after its run, or is a new one if that has ended. Whoever cancels it by hand afterwards, or did before, has the
// last word.
func absentSchedule(b *bench) {
	absent := durable.Change{Op: durable.OpCancel, Absent: true}
	again := func(name string) durable.InsertResult {
		return b.insert(job(time.Minute, key(name), every("1m0s"), payload("2")), store.Placement{})
	}
	for name, end := range map[string]func(node string, j durable.Job){
		"goes on": func(node string, j durable.Job) { b.settle(node, next(j, j.Due.Add(time.Hour))) },
		"canceled": func(node string, j durable.Job) {
			o := outcome(j)
			o.State, o.Due = durable.Canceled, time.Time{}
			b.settle(node, o)
		},
		"lost": func(node string, _ durable.Job) {
			b.die(node)
			b.beat(b.node("heir of "+node), lease)
		},
		"given back": func(node string, _ durable.Job) { b.ok(errOf(b.store.Release(b.Context(), node, nil))) },
	} {
		during := b.running(b.node(name), key(name), every("1m0s"))
		b.changeBy(during.ID, absent, durable.Deferred)
		p := again(name)
		if p.ID != during.ID || !p.Changed || p.Pending != durable.PendingNone || p.Absent {
			b.Errorf("%s: registered during its run it is %+v", name, p)
		}
		end(name, b.get(during.ID))
		if j := b.state(during.ID, durable.Waiting); !j.Due.Equal(p.Now.Add(time.Minute)) || j.Absent || string(j.Payload) != "2" {
			b.Errorf("%s: job is %+v, want due at %v", name, j, p.Now.Add(time.Minute))
		}
		b.change(during.ID, durable.OpCancel, durable.Applied)

		name += ", later"
		after := b.running(b.node(name), key(name), every("1m0s"))
		b.changeBy(after.ID, absent, durable.Deferred)
		end(name, b.get(after.ID))
		if j := b.state(after.ID, durable.Canceled); !j.Absent {
			b.Errorf("%s: job is %+v, want absent", name, j)
		}
		once := b.insert(job(time.Minute, key(name)), store.Placement{})
		if once.ID != after.ID {
			b.Errorf("%s: a job that runs once has taken the key", name)
		}
		p = again(name)
		if p.ID == after.ID || !p.Changed || p.State != durable.Waiting || p.Absent {
			b.Errorf("%s: registered it is %+v, want a new one", name, p)
		}
		if old := b.state(after.ID, durable.Canceled); old.Key != "" || must(b.store.Find(b.Context(), name)).ID != p.ID {
			b.Errorf("%s: the key belongs to %+v", name, old)
		}
		b.change(p.ID, durable.OpCancel, durable.Applied)
	}

	for name, cancel := range map[string][]durable.Change{
		"by hand before": {{Op: durable.OpCancel}, absent},
		"by hand after":  {absent, {Op: durable.OpCancel}},
	} {
		j := b.running(b.node(name), key(name), every("1m0s"))
		for _, c := range cancel {
			b.changeBy(j.ID, c, durable.Deferred)
		}
		if p := again(name); p.Pending != durable.PendingCancel || p.Absent {
			b.Errorf("%s: registered again it is %+v", name, p)
		}
		b.settle(name, next(b.get(j.ID), j.Due.Add(time.Hour)))
		b.state(j.ID, durable.Canceled)
		if p := again(name); p.ID != j.ID || p.State != durable.Canceled {
			b.Errorf("%s: registered after its run it is %+v", name, p)
		}
	}

	waits := b.add(time.Hour, key("waits"), every("1m0s"))
	b.changeBy(waits.ID, absent, durable.Applied)
	if j := b.state(waits.ID, durable.Canceled); !j.Absent {
		b.Errorf("one that waited is %+v, want absent", j)
	}
	b.change(waits.ID, durable.OpRevive, durable.Applied)
	if j := b.state(waits.ID, durable.Waiting); j.Absent {
		b.Errorf("revived it is %+v", j)
	}
}

func payload(text string) func(*durable.NewJob) {
	return func(j *durable.NewJob) { j.Payload = []byte(text) }
}

// A job that runs, and is asked for again with its key, runs again after that, once for all that ask meanwhile: however
// its run ends. What was asked for before it was canceled is canceled, too.
func reuseDuringRun(b *bench) {
	cancel := func(id durable.ID) { b.change(id, durable.OpCancel, durable.Deferred) }
	ends := func(s durable.State) func(string, durable.Job) {
		return func(node string, j durable.Job) {
			o := outcome(j)
			o.State = s
			b.settle(node, o)
		}
	}
	for name, test := range map[string]struct {
		before, after func(id durable.ID) // it is asked for again
		end           func(node string, j durable.Job)
		want          durable.State
	}{
		"succeeded":            {nil, nil, ends(durable.Succeeded), durable.Waiting},
		"dead":                 {nil, nil, ends(durable.Dead), durable.Waiting},
		"retried":              {nil, nil, ends(durable.Waiting), durable.Waiting},
		"canceled before":      {cancel, nil, ends(durable.Canceled), durable.Waiting},
		"canceled before, ran": {cancel, nil, ends(durable.Succeeded), durable.Waiting},
		"canceled after":       {nil, cancel, ends(durable.Canceled), durable.Canceled},
		"paused": {nil, func(id durable.ID) { b.change(id, durable.OpPause, durable.Deferred) }, ends(durable.Succeeded),
			durable.Paused},
		"lost": {nil, nil, func(node string, j durable.Job) {
			b.die(node)
			b.beat(b.node("heir of "+node), lease)
		}, durable.Waiting},
		"lost when canceled": {cancel, nil, func(node string, j durable.Job) {
			b.die(node)
			b.beat(b.node("heir of "+node), lease)
		}, durable.Waiting},
		"given back": {cancel, nil, func(node string, j durable.Job) {
			b.ok(errOf(b.store.Release(b.Context(), node, nil)))
		}, durable.Waiting},
	} {
		node := b.node(name)
		j := b.running(node, key(name), func(j *durable.NewJob) { j.Attempts = 1 })
		if test.before != nil {
			test.before(j.ID)
		}
		first := b.insert(job(-time.Second, key(name), reuse, payload("2")), store.Placement{})
		again := b.insert(job(-time.Hour, key(name), reuse, payload("3")), store.Placement{})
		if first.ID != j.ID || again.ID != j.ID || !first.Changed || again.Changed || first.State != durable.Running {
			b.Errorf("%s: asked for again it is %+v, and then %+v", name, first, again)
		}
		if test.after != nil {
			test.after(j.ID)
		}
		test.end(node, b.get(j.ID))
		got := b.state(j.ID, test.want)
		if !got.NextDue.IsZero() || got.Pending != durable.PendingNone || string(got.Payload) != "2" {
			b.Errorf("%s: job is %+v", name, got)
		}
		if test.want == durable.Canceled {
			continue
		}
		if !got.Due.Equal(first.NextDue) || !got.Occurrence.Equal(first.NextDue) || got.Attempt != 0 {
			b.Errorf("%s: job is %+v, and should be due at %v", name, got, first.NextDue)
		}
		b.change(j.ID, durable.OpCancel, durable.Applied)
	}
}

// A job that waits, or is paused, takes on what one has that replaces it, its time, too, and a node that has claimed it
// cannot confirm what it knew. One that runs does so for its next run, and the latest counts.
func replaces(b *bench) {
	node := b.node("a")
	replace := func(j *durable.NewJob) { j.ReuseKey, j.Replace = true, true }
	j := b.add(time.Hour, key("key"))
	put := func(delay time.Duration, text string) durable.InsertResult {
		b.Helper()
		p := b.insert(job(delay, key("key"), replace, payload(text), func(j *durable.NewJob) {
			j.Priority, j.Attempts, j.Timeout = durable.High, 7, time.Minute
		}), store.Placement{})
		if p.ID != j.ID || !p.Changed || string(p.Payload) != text || p.Priority != durable.High || p.Attempts != 7 ||
			p.Timeout != time.Minute {
			b.Errorf("job is %+v", p)
		}
		if got := b.get(j.ID); !reflect.DeepEqual(got, p.Job) {
			b.Errorf("Insert gave\n%+v, Get\n%+v", p.Job, got)
		}
		return p
	}
	if p := put(30*time.Second, "2"); p.State != durable.Waiting || !p.Due.Equal(p.Now.Add(30*time.Second)) ||
		!p.Occurrence.Equal(p.Due) {
		b.Errorf("job is %+v", p)
	}
	old := b.claimOne(node)
	if p := put(20*time.Second, "3"); p.State != durable.Waiting || p.Owner != "" {
		b.Errorf("job is %+v", p)
	}
	if b.confirm(node, old) {
		b.Error("the old claim was confirmed")
	}
	b.change(j.ID, durable.OpPause, durable.Applied)
	if p := put(0, "4"); p.State != durable.Paused {
		b.Errorf("job is %+v", p)
	}
	b.change(j.ID, durable.OpResume, durable.Applied)
	run := b.begin(node, b.claimOne(node))
	for i, delay := range []time.Duration{time.Hour, time.Minute} {
		if p := put(delay, fmt.Sprint(5+i)); p.State != durable.Running || !p.NextDue.Equal(p.Now.Add(delay)) {
			b.Errorf("job is %+v", p)
		}
	}
	b.settle(node, outcome(run))
	if got := b.state(j.ID, durable.Waiting); string(got.Payload) != "6" {
		b.Errorf("job is %+v", got)
	}
	if p := b.insert(job(0, key("key"), replace, func(j *durable.NewJob) { j.Kind = "other" }),
		store.Placement{}); !p.KindTaken || p.Changed {
		b.Errorf("one of another kind was replaced: %+v", p)
	}
}

// A job that waits, or is paused, takes on all but the time of one that replaces its payload, and a node that has
// claimed it cannot confirm what it knew. One that runs has its next run when the first says, with the latest payload.
func replacesPayload(b *bench) {
	node := b.node("a")
	first := b.add(30*time.Second, key("key"))
	put := func(delay time.Duration, text string) store.Job {
		b.Helper()
		p := b.insert(job(delay, key("key"), payload(text), func(j *durable.NewJob) {
			j.ReuseKey, j.Replace, j.KeepTime, j.Priority = true, true, true, durable.High
		}), store.Placement{})
		if got := b.get(first.ID); p.ID != first.ID || !p.Changed || !reflect.DeepEqual(got, p.Job) ||
			string(got.Payload) != text || got.Priority != durable.High {
			b.Errorf("Insert gave\n%+v, Get\n%+v", p, got)
		}
		return p.Job
	}
	waits := func(j store.Job, state store.State) {
		b.Helper()
		if j.State != state || j.Owner != "" || !j.Due.Equal(first.Due) || !j.Occurrence.Equal(first.Occurrence) {
			b.Errorf("job is %+v, want one that is %v and due at %v", j, state, first.Due)
		}
	}
	waits(put(time.Hour, "2"), store.Waiting)
	old := b.claimOne(node)
	waits(put(0, "3"), store.Waiting)
	if b.confirm(node, old) {
		b.Error("the old claim was confirmed")
	}
	b.change(first.ID, durable.OpPause, durable.Applied)
	waits(put(0, "4"), store.Paused)
	b.change(first.ID, durable.OpResume, durable.Applied)
	b.change(first.ID, durable.OpRunNow, durable.Applied)
	run := b.begin(node, b.claimOne(node))
	next := put(time.Minute, "5").NextDue
	if again := put(time.Hour, "6").NextDue; next.IsZero() || !again.Equal(next) {
		b.Errorf("the next run is due at %v, and then at %v", next, again)
	}
	b.settle(node, outcome(run))
	if got := b.state(first.ID, store.Waiting); string(got.Payload) != "6" || !got.Due.Equal(next) {
		b.Errorf("job is %+v, want one that is due at %v", got, next)
	}
}

// A job whose time has come, and that waits for its next attempt or for a signal, is due when the first says that
// replaces its payload, as one that runs: the second keeps that time. It has all its attempts.
func replacesPayloadOfBegun(b *bench) {
	node := b.node("a")
	far := time.Now().UTC().Add(1000 * time.Hour).Truncate(time.Microsecond)
	for name, end := range map[string]func(j durable.Job) durable.Outcome{
		"failed": func(j durable.Job) durable.Outcome {
			o := outcome(j)
			o.State, o.Due, o.Attempt = durable.Waiting, far, 1
			return o
		},
		"waits": func(j durable.Job) durable.Outcome { return waiting(j, far, "go") },
	} {
		first := b.running(node, key(name))
		b.settle(node, end(first))
		put := func(delay time.Duration, text string) store.Job {
			b.Helper()
			return b.insert(job(delay, key(name), payload(text), func(j *durable.NewJob) {
				j.ReuseKey, j.Replace, j.KeepTime = true, true, true
			}), store.Placement{}).Job
		}
		second := put(time.Hour, "2")
		if third := put(2*time.Hour, "3"); third.ID != first.ID || !second.Due.Before(far) || !third.Due.Equal(second.Due) ||
			!third.Occurrence.Equal(third.Due) || third.Attempt != 0 || string(third.Payload) != "3" {
			b.Errorf("%s: the job is\n%+v and then\n%+v", name, second, third)
		}
	}
}

// A job that no attempt was made of, and that waits, is claimed, is paused or was snoozed, takes on all but the time of
// one that replaces the untried; a node that has claimed it cannot confirm what it knew. Any other stays as it is, keeps
// its key, and is the result.
func replacesUntried(b *bench) {
	node := b.node("a")
	first := b.add(30*time.Second, key("key"), payload("1"))
	put := func(text string, changes bool) store.Job {
		b.Helper()
		before := b.get(first.ID)
		p := b.insert(job(time.Hour, key("key"), payload(text), func(j *durable.NewJob) {
			j.Replace, j.KeepTime, j.Untried = true, true, true
		}), store.Placement{})
		got := b.get(first.ID)
		if p.ID != first.ID || p.Changed != changes || !reflect.DeepEqual(got, p.Job) || !got.Due.Equal(before.Due) ||
			!got.Occurrence.Equal(before.Occurrence) || (string(got.Payload) == text) != changes {
			b.Errorf("Insert gave\n%+v, Get\n%+v, before it was\n%+v", p, got, before)
		}
		if !changes && !reflect.DeepEqual(got, before) {
			b.Errorf("the job was\n%+v, and is\n%+v", before, got)
		}
		return p.Job
	}
	put("2", true)
	old := b.claimOne(node)
	put("3", true)
	if b.confirm(node, old) {
		b.Error("the old claim was confirmed")
	}
	b.change(first.ID, durable.OpPause, durable.Applied)
	put("4", true)
	b.change(first.ID, durable.OpRunNow, durable.Applied)
	run := b.claimOne(node)
	put("5", false) // it is confirmed
	run = b.begin(node, run)
	put("6", false)
	snoozed := outcome(run)
	snoozed.State, snoozed.Due, snoozed.Attempt = durable.Waiting, run.Occurrence.Add(time.Microsecond), 0
	b.settle(node, snoozed)
	put("7", true)
	run = b.begin(node, b.claimOne(node))
	failed := outcome(run)
	failed.State, failed.Due, failed.Attempt = durable.Waiting, run.Occurrence.Add(time.Microsecond), 1
	b.settle(node, failed)
	put("8", false)
	b.settle(node, outcome(b.begin(node, b.claimOne(node))))
	if j := put("9", false); j.State != durable.Succeeded {
		b.Errorf("job is %+v", j)
	}
}
