package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A canceled job is not claimed any more.
func cancelWaiting(b *bench) {
	node := b.node("a")
	j := b.add(-time.Second)
	b.change(j.ID, durable.OpCancel, durable.Applied)
	b.same(b.claim(node))
	if got := b.state(j.ID, durable.Canceled); got.Epoch <= j.Epoch {
		b.Error("the epoch did not go up")
	}
}

// A running job that is canceled ends with its run, whether another was to follow
// or not; a run that succeeds, and was the last, has succeeded. One that fails for
// good is canceled, and not dead, though its node does not know of the request yet.
func cancelRunning(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.change(j.ID, durable.OpCancel, durable.Deferred)
	b.state(j.ID, durable.Running)
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	if got := b.state(j.ID, durable.Canceled); got.Pending != durable.PendingNone {
		b.Error("the request is still pending")
	}
	k := b.running(node)
	b.change(k.ID, durable.OpCancel, durable.Deferred)
	b.settle(node, outcome(k))
	b.state(k.ID, durable.Succeeded)
	l := b.running(node)
	b.change(l.ID, durable.OpCancel, durable.Deferred)
	o := outcome(l)
	o.State = durable.Dead
	b.settle(node, o)
	b.state(l.ID, durable.Canceled)
}

// A job that is over can't be canceled, paused, resumed, moved or run.
func cancelDone(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.settle(node, outcome(j))
	for _, op := range []durable.Op{durable.OpCancel, durable.OpPause, durable.OpResume, durable.OpRunNow,
		durable.OpRevive} {
		b.change(j.ID, op, durable.TooLate)
	}
	b.changeBy(j.ID, durable.Change{Op: durable.OpReschedule, Due: time.Now().UTC()}, durable.TooLate)
	b.state(j.ID, durable.Succeeded)
}

// A job that is not there is not found.
func changeUnknown(b *bench) {
	b.change(durable.NewID(), durable.OpCancel, durable.NotFound)
}

// A paused job is not claimed until it is resumed; its time stays.
func pauseAndResume(b *bench) {
	node := b.node("a")
	j := b.add(-time.Second)
	b.change(j.ID, durable.OpResume, durable.TooLate)
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.same(b.claim(node))
	b.change(j.ID, durable.OpResume, durable.Applied)
	if got := b.state(j.ID, durable.Waiting); !got.Due.Equal(j.Due) {
		b.Errorf("due moved from %v to %v", j.Due, got.Due)
	}
	b.same(b.claim(node), j)
}

// A running job that is paused finishes its run and is paused then, unless it is
// resumed before.
func pauseRunning(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.change(j.ID, durable.OpPause, durable.Deferred)
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	if got := b.state(j.ID, durable.Paused); !got.Due.Equal(j.Due.Add(time.Hour)) {
		b.Errorf("due %v", got.Due)
	}
	k := b.running(node, key("other"), every("1h0m0s"))
	b.change(k.ID, durable.OpPause, durable.Deferred)
	b.change(k.ID, durable.OpResume, durable.Deferred)
	b.settle(node, next(k, k.Due.Add(time.Hour)))
	b.state(k.ID, durable.Waiting)
}

// A running job that is to be canceled can be neither paused nor resumed: it ends
// canceled.
func cancelStays(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	b.change(j.ID, durable.OpCancel, durable.Deferred)
	for _, op := range []durable.Op{durable.OpPause, durable.OpResume} {
		b.change(j.ID, op, durable.TooLate)
	}
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	b.state(j.ID, durable.Canceled)
}

// A job that is rescheduled is due at the new time, also if it is claimed or
// paused.
func reschedule(b *bench) {
	node := b.node("a")
	to := time.Date(2041, 1, 2, 3, 4, 5, 6000, time.UTC)
	b.add(30 * time.Second)
	j := b.claimOne(node)
	b.changeBy(j.ID, durable.Change{Op: durable.OpReschedule, Due: to}, durable.Applied)
	if got := b.state(j.ID, durable.Waiting); !got.Due.Equal(to) || !got.Occurrence.Equal(to) {
		b.Errorf("job is %+v", got)
	}
	if b.confirm(node, j) {
		b.Error("the old claim was confirmed")
	}
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.changeBy(j.ID, durable.Change{Op: durable.OpReschedule, Due: to.Add(time.Hour)}, durable.Applied)
	if got := b.state(j.ID, durable.Paused); !got.Due.Equal(to.Add(time.Hour)) {
		b.Errorf("job is %+v", got)
	}
}

// A running job can be rescheduled if another occurrence follows.
func rescheduleRunning(b *bench) {
	node := b.node("a")
	to := time.Date(2041, 1, 2, 3, 4, 5, 6000, time.UTC)
	move := durable.Change{Op: durable.OpReschedule, Due: to}
	j := b.running(node, key("key"), every("1h0m0s"))
	b.changeBy(j.ID, move, durable.Deferred)
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	if got := b.state(j.ID, durable.Waiting); !got.Due.Equal(to) || !got.NextDue.IsZero() {
		b.Errorf("job is %+v", got)
	}
	k := b.running(node)
	b.changeBy(k.ID, move, durable.TooLate)
	c := b.running(node, key("canceled"), every("1h0m0s"))
	b.change(c.ID, durable.OpCancel, durable.Deferred)
	b.changeBy(c.ID, move, durable.TooLate) // no occurrence follows
	if got := b.get(c.ID); !got.NextDue.IsZero() {
		b.Errorf("one that is to be canceled is %+v", got)
	}
}

// What was asked of a running job holds, too, if its schedule has no other time:
// then it waits for the time that was asked for, or is paused or canceled until
// then. Otherwise it has succeeded. A run that says that it was the last ends the
// job whatever was asked.
func rescheduleLast(b *bench) {
	node := b.node("a")
	to := time.Date(2041, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, test := range []struct {
		name  string
		ops   []durable.Op
		ended bool // the run itself says that it was the last
		want  durable.State
	}{
		{"nothing", nil, false, durable.Succeeded},
		{"moved", []durable.Op{durable.OpReschedule}, false, durable.Waiting},
		{"moved, ended", []durable.Op{durable.OpReschedule}, true, durable.Succeeded},
		{"paused", []durable.Op{durable.OpPause}, false, durable.Succeeded},
		{"canceled", []durable.Op{durable.OpCancel}, false, durable.Succeeded},
		{"moved, paused", []durable.Op{durable.OpReschedule, durable.OpPause}, false, durable.Paused},
		{"moved, canceled", []durable.Op{durable.OpReschedule, durable.OpCancel}, false, durable.Canceled},
	} {
		j := b.running(node, key(test.name), every("1h0m0s"))
		for _, op := range test.ops {
			b.changeBy(j.ID, durable.Change{Op: op, Due: to}, durable.Deferred)
		}
		o := outcome(j)
		o.Attempt = j.Attempt
		due, occurrence, attempt := j.Due, j.Occurrence, j.Attempt
		if !test.ended {
			o.Due = time.Time{}
		}
		if test.want != durable.Succeeded {
			due, occurrence, attempt = to, to, 0
		}
		b.settle(node, o)
		got := b.state(j.ID, test.want)
		if !got.Due.Equal(due) || !got.Occurrence.Equal(occurrence) || got.Attempt != attempt ||
			got.Pending != durable.PendingNone || !got.NextDue.IsZero() {
			b.Errorf("%s: job is %+v", test.name, got)
		}
	}
}

// A job that is to run now is due, also if it was paused.
func runNow(b *bench) {
	node := b.node("a")
	j := b.add(time.Hour)
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.change(j.ID, durable.OpRunNow, durable.Applied)
	b.same(b.claim(node), j)
	b.change(j.ID, durable.OpRunNow, durable.TooLate)
}

// A dead job that is revived is due, with all its attempts before it.
func revive(b *bench) {
	node := b.node("a")
	j := b.running(node)
	o := outcome(j)
	o.State, o.Attempt = durable.Dead, 3
	b.settle(node, o)
	b.change(j.ID, durable.OpRevive, durable.Applied)
	again := b.claim(node)
	b.same(again, j)
	if again[0].Attempt != 0 {
		b.Errorf("it has had %d attempts", again[0].Attempt)
	}
	b.change(j.ID, durable.OpRevive, durable.TooLate)
	later := b.over(node, durable.Canceled, key("later"), every("1m0s"))
	at := time.Date(2040, 2, 3, 4, 5, 6, 0, time.UTC)
	b.changeBy(later.ID, durable.Change{Op: durable.OpRevive, Due: at}, durable.Applied)
	if got := b.state(later.ID, durable.Waiting); !got.Due.Equal(at) || !got.Occurrence.Equal(at) {
		b.Errorf("due %v for %v, want %v", got.Due, got.Occurrence, at)
	}
}

// A result that is noted is that of the job, unless it was changed or claimed since, or runs.
func notes(b *bench) {
	node := b.node("a")
	j := b.add(time.Hour, key("key"), every("1h0m0s"))
	note := func(j durable.Job, text string, want durable.Answer) {
		b.Helper()
		b.changeBy(j.ID, store.Change{Op: store.OpNote, Note: store.Note{Epoch: j.Epoch, Updated: j.Updated, Result: []byte(text)}}, want)
	}
	note(j, "1", durable.Applied)
	was := b.state(j.ID, durable.Waiting)
	if string(was.Result) != "1" || !was.Due.Equal(j.Due) || was.Epoch == j.Epoch {
		b.Errorf("it is %+v", was)
	}
	note(j, "0", durable.TooLate) // it is another one now
	b.change(j.ID, durable.OpRunNow, durable.Applied)
	note(was, "2", durable.TooLate)
	b.same(b.claim(node), j)
	note(b.get(j.ID), "3", durable.TooLate) // it is confirmed
	if got := b.get(j.ID); string(got.Result) != "1" {
		b.Errorf("it is %+v", got)
	}
	ahead := b.add(30*time.Second, key("ahead"), every("1h0m0s"))
	claimed := b.claimBy(store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 1, Kinds: []store.KindLimit{{Kind: ahead.Kind, Max: 1}}})
	if len(claimed) != 1 || claimed[0].State != durable.Claimed {
		b.Fatalf("claimed %+v", claimed)
	}
	note(claimed[0], "4", durable.Applied)
	if got := b.state(ahead.ID, durable.Waiting); string(got.Result) != "4" || got.Epoch == claimed[0].Epoch {
		b.Errorf("its node still has it as it was: %+v", got)
	}
}

// A schedule that has lost its key to another job stays ended, whether that job is there or not: with one that is
// registered under the key it would run twice.
func reviveWithoutKey(b *bench) {
	node := b.node("a")
	first := b.over(node, durable.Canceled, key("key"), every("1m0s"))
	second := b.add(time.Hour, key("key"), every("1m0s"), reuse)
	b.change(first.ID, durable.OpRevive, durable.TooLate)
	b.change(second.ID, durable.OpDelete, durable.Applied)
	b.change(first.ID, durable.OpRevive, durable.TooLate)
	b.state(first.ID, durable.Canceled)
}

// A job that runs once takes its occurrence along when it is moved, also if that has
// passed; but not once it may have been begun.
func rescheduleMovesOccurrence(b *bench) {
	node := b.node("a")
	overdue := b.add(-time.Hour, func(j *durable.NewJob) { j.Kind = "nobody's" })
	tried, cut := b.running(node), b.running(node)
	o := outcome(tried)
	o.State, o.Attempt, o.Error = durable.Waiting, 1, "no"
	c := outcome(cut) // its node was shut down, so that it counts neither as an attempt nor as a run
	c.State, c.Attempt, c.Error, c.Unrecorded = durable.Waiting, 0, "ended", true
	b.settle(node, o, c)
	to := time.Date(2040, 2, 3, 4, 5, 6, 0, time.UTC)
	for id, want := range map[durable.ID]time.Time{overdue.ID: to, tried.ID: tried.Occurrence, cut.ID: cut.Occurrence} {
		b.changeBy(id, durable.Change{Op: durable.OpReschedule, Due: to}, durable.Applied)
		if got := b.get(id); !got.Occurrence.Equal(want) || !got.Due.Equal(to) {
			b.Errorf("due %v for %v, want %v for %v", got.Due, got.Occurrence, to, want)
		}
	}
}

// A job that is deleted is gone with its history, and its key is free; one that is confirmed or runs stays.
func deletes(b *bench) {
	node := b.node("a")
	runs := b.running(node, key("runs"), every("1h0m0s"))
	b.change(runs.ID, durable.OpDelete, durable.TooLate)
	b.add(-time.Second)
	confirmed := b.claimOne(node)
	b.change(confirmed.ID, durable.OpDelete, durable.TooLate)
	b.add(30 * time.Second)
	claimed := b.claimOne(node)
	b.settle(node, next(runs, runs.Due.Add(time.Hour)))
	canceled := b.add(0)
	b.change(canceled.ID, durable.OpCancel, durable.Applied)
	for _, id := range []durable.ID{claimed.ID, runs.ID, canceled.ID} {
		b.change(id, durable.OpDelete, durable.Applied)
		b.change(id, durable.OpDelete, durable.NotFound)
		if lines := must(b.store.Runs(b.Context(), id, 0, 10)); len(lines) > 0 {
			b.Errorf("history is %+v", lines)
		}
	}
	if b.confirm(node, claimed) {
		b.Error("a job that is gone was confirmed")
	}
	if again := b.insert(job(0, key("runs"), every("1h0m0s")), store.Placement{}); !again.Changed {
		b.Errorf("the key is not free: %+v", again)
	}
	b.same(must(b.store.List(b.Context(), durable.Filter{})), confirmed, b.get(must(b.store.Find(b.Context(), "runs")).ID))
}

// A change of several jobs is a change of each, whatever their states, and answers for each: also for more than a store
// may read at once, for one that is not there, and for jobs of one family.
func changeEach(b *bench) {
	changer := b.store.changer()
	node := b.node("a")
	for _, op := range []durable.Op{durable.OpCancel, durable.OpPause, durable.OpResume, durable.OpReschedule, durable.OpRunNow,
		durable.OpRevive, durable.OpDelete, durable.OpMove} {
		c := durable.Change{Op: op, Due: time.Date(2041, 1, 2, 3, 4, 5, 0, time.UTC), Queue: "q"}
		var jobs [2][]durable.ID // each state in both
		for i := range jobs {
			name := fmt.Sprint(op, i)
			paused, canceled := b.add(time.Hour), b.add(time.Hour)
			b.change(paused.ID, durable.OpPause, durable.Applied)
			b.change(canceled.ID, durable.OpCancel, durable.Applied)
			jobs[i] = []durable.ID{b.add(time.Hour, key(name)).ID, durable.NewID(), paused.ID, canceled.ID,
				b.running(node, key(name+" runs"), every("1h0m0s")).ID, b.over(node, durable.Succeeded).ID, b.over(node, durable.Dead).ID}
		}
		answers := must(changer.ChangeEach(b.Context(), jobs[0], c))
		for k, id := range jobs[1] {
			if a := must(b.store.Change(b.Context(), id, c)); a != answers[k] {
				b.Errorf("change %d of job %d: %v, and of several %v", op, k, a, answers[k])
			}
			one, err := b.store.Get(b.Context(), id)
			several, errSeveral := b.store.Get(b.Context(), jobs[0][k])
			if one.State != several.State || one.Pending != several.Pending || one.Queue != several.Queue || (err == nil) != (errSeveral == nil) ||
				op == durable.OpReschedule && (!one.Due.Equal(several.Due) && one.State == durable.Waiting || !one.NextDue.Equal(several.NextDue)) {
				b.Errorf("change %d of job %d: it is %+v, of several %+v", op, k, one, several)
			}
		}
		b.claim(node) // those that are due now
	}
	var many []durable.ID
	for range 250 {
		many = append(many, b.add(time.Hour).ID)
	}
	for i, a := range must(changer.ChangeEach(b.Context(), many, durable.Change{Op: durable.OpCancel})) {
		if a != durable.Applied {
			b.Fatalf("cancel of job %d of many: %v", i, a)
		}
		b.state(many[i], durable.Canceled)
	}
	if answers := must(changer.ChangeEach(b.Context(), nil, durable.Change{Op: durable.OpCancel})); len(answers) != 0 {
		b.Errorf("of none: %v", answers)
	}

	b.store.graph()
	first := b.add(time.Hour)
	second := b.insert(job(0, func(j *durable.NewJob) { j.After = store.After{Parents: []durable.ID{first.ID}, Need: 1} }), store.Placement{})
	third := b.insert(job(0, func(j *durable.NewJob) { j.After = store.After{Parents: []durable.ID{second.ID}, Need: 1} }), store.Placement{})
	family := []durable.ID{first.ID, second.ID, third.ID}
	must(changer.ChangeEach(b.Context(), family[:2], durable.Change{Op: durable.OpCancel}))
	for _, id := range family {
		b.state(id, durable.Canceled)
	}
	must(changer.ChangeEach(b.Context(), family, durable.Change{Op: durable.OpRevive}))
	b.state(first.ID, durable.Waiting)
	b.state(second.ID, durable.Blocked)
	b.state(third.ID, durable.Blocked)
	if answers := must(changer.ChangeEach(b.Context(), family, durable.Change{Op: durable.OpDelete})); !slices.Equal(answers,
		[]durable.Answer{durable.Applied, durable.Applied, durable.Applied}) {
		b.Errorf("delete of a family: %v", answers)
	}
}
