package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

func (b *bench) beat(node string, lease time.Duration) store.HeartbeatResult {
	b.Helper()
	p, err := b.store.Heartbeat(b.Context(), node, lease, store.Watch{})
	b.ok(err)
	if p.Now.IsZero() {
		b.Fatal("Heartbeat returned no time")
	}
	return p
}

// die lets a node's lease end.
func (b *bench) die(node string) {
	b.Helper()
	b.beat(node, -time.Second)
}

// A node that heartbeats keeps what it holds.
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
	claimed := b.claimOne(dead)
	b.die(dead)
	if p := b.beat(alive, lease); p.Freed != 2 {
		b.Errorf("freed %d jobs, want 2", p.Freed)
	}
	got := b.state(j.ID, durable.Waiting)
	if got.Attempt != 1 || got.Owner != "" || got.Error == "" || got.Runs != 1 || !got.Suspect {
		b.Errorf("job is %+v", got)
	}
	if got := b.state(claimed.ID, durable.Waiting); got.Attempt != 0 || got.Runs != 0 {
		b.Errorf("job is %+v", got)
	}
	runs := must(b.store.Runs(b.Context(), j.ID, 0, 10))
	if len(runs) != 1 || runs[0].Verdict != durable.RunLost || runs[0].Node != dead || runs[0].Epoch != j.Epoch ||
		runs[0].Seq != 1 || !runs[0].Started.Equal(j.Started) || runs[0].Attempt != 1 {
		b.Errorf("history is %+v", runs)
	}
	if b.settle(dead, outcome(j))[0] {
		b.Error("the dead node's outcome was committed")
	}
	if again := b.claim(alive); len(again) != 2 {
		b.Errorf("the heir claimed %d jobs, want 2", len(again))
	}
}

// What a dead node has claimed or confirmed and not begun, as it waited behind busy workers, has no attempt less and no
// run in the history, and waits as before, also if that would have been its last. It may have begun, and killed its
// node, before that could be noted: so it is suspect, until a run of it ends.
func beatSpares(b *bench) {
	dead, alive := b.node("a"), b.node("b")
	b.add(-time.Second, func(j *durable.NewJob) { j.Attempts = 1 })
	b.add(-time.Second, key("key"), every("1h0m0s"))
	b.add(30 * time.Second)
	b.add(-time.Second)
	jobs := b.claim(dead)
	for _, j := range jobs {
		if j.Key != "" {
			b.change(j.ID, durable.OpPause, durable.Deferred)
		}
	}
	b.die(dead)
	if p := b.beat(alive, lease); p.Freed != 4 || len(p.Dead) > 0 {
		b.Errorf("answer is %+v", p)
	}
	for _, j := range jobs {
		want := j
		want.State, want.Owner, want.Epoch, want.Suspect = durable.Waiting, "", j.Epoch+1, j.State == durable.Confirmed
		if j.Key != "" {
			want.State = durable.Paused
		}
		got := b.get(j.ID)
		want.Updated = got.Updated
		if !reflect.DeepEqual(got, want) {
			b.Errorf("job is\n%+v, want\n%+v", got, want)
		}
		if runs := must(b.store.Runs(b.Context(), j.ID, 0, 10)); len(runs) > 0 {
			b.Errorf("history is %+v", runs)
		}
	}
	again := b.claim(alive)
	suspect := slices.IndexFunc(again, func(j durable.Job) bool { return j.Suspect })
	if len(again) != 3 || suspect < 0 {
		b.Fatalf("claimed %+v", again)
	}
	o := outcome(again[suspect])
	o.State = durable.Waiting
	b.settle(alive, o)
	if got := b.get(o.ID); got.Suspect {
		b.Errorf("job is %+v", got)
	}
}

// A node that was declared dead learns it from its heartbeat, and can claim nothing.
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
		j := b.claimOne(node)
		if j.State == durable.Claimed && !b.confirm(node, j) {
			b.Fatal("refused")
		}
		b.begin(node, j)
		b.die(node)
		p := b.beat(alive, lease)
		j = b.get(id)
		if p.Freed != 1 || j.Attempt != attempt {
			b.Fatalf("freed %d, attempt %d, want 1, %d", p.Freed, j.Attempt, attempt)
		}
		if dead := slices.Equal(p.Dead, []durable.ID{id}); dead != (attempt == 3) {
			b.Errorf("after attempt %d the dead are %v", attempt, p.Dead)
		}
		if want := j.Updated.Add(store.ReapDelay(store.Ref{ID: id, Epoch: j.Epoch - 1}, attempt)); attempt < 3 &&
			(j.State != durable.Waiting || !j.Due.Equal(want)) {
			b.Errorf("after attempt %d it is %v, due %v, want %v", attempt, j.State, j.Due, want)
		}
	}
	b.state(id, durable.Dead)
	if runs := must(b.store.Runs(b.Context(), id, 0, 10)); len(runs) != 3 {
		b.Errorf("history has %d runs, want 3", len(runs))
	}
}

// Jobs that were lost together, twice, are not due together.
func beatScatters(b *bench) {
	alive := b.node("z")
	var ids []durable.ID
	for range 20 {
		ids = append(ids, b.add(-time.Second).ID)
	}
	for _, node := range []string{"a", "b"} {
		b.node(node)
		r := store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Minute, Limit: 100, Kinds: kinds("k")}
		r.Kinds[0].Max = 100
		for _, j := range b.claimBy(r) {
			b.begin(node, j)
		}
		b.die(node)
		b.beat(alive, lease)
	}
	dues := make(map[time.Duration]int)
	for _, id := range ids {
		j := b.get(id)
		wait := j.Due.Sub(j.Updated)
		if wait < time.Second || wait > 2*time.Second {
			b.Errorf("job is due after %v: %+v", wait, j)
		}
		dues[wait.Truncate(100*time.Millisecond)]++
	}
	for wait, n := range dues {
		if n > 10 {
			b.Errorf("%d of 20 jobs are due after %v", n, wait)
		}
	}
}

// A job that was to be canceled is so, and not dead, if its last attempt is lost.
func beatCancelsTheLost(b *bench) {
	node, alive := b.node("a"), b.node("z")
	j := b.running(node, func(j *durable.NewJob) { j.Attempts = 1 })
	b.change(j.ID, durable.OpCancel, durable.Deferred)
	b.die(node)
	if p := b.beat(alive, lease); p.Freed != 1 || len(p.Dead) > 0 {
		b.Errorf("pulse is %+v", p)
	}
	if got := b.state(j.ID, durable.Canceled); got.Pending != durable.PendingNone || got.Lost != 1 {
		b.Errorf("job is %+v", got)
	}
}

// A periodic job whose nodes die goes on, however few attempts it has, unless it is
// lost MaxLost times in a row. A run that ends is the end of a row, but not one that
// was left out or is not recorded.
func beatBuriesPeriodic(b *bench) {
	alive := b.node("z")
	id := b.add(-time.Hour, key("key"), every("1s"), func(j *durable.NewJob) { j.Attempts = 1 }).ID
	nodes := 0
	hold := func() (node string, j durable.Job) {
		nodes++
		node = b.node(fmt.Sprint("node", nodes))
		jobs := b.claim(node)
		if len(jobs) != 1 || jobs[0].State == durable.Claimed && !b.confirm(node, jobs[0]) {
			b.Fatalf("claimed %+v of %+v", jobs, b.get(id))
		}
		return node, b.begin(node, jobs[0])
	}
	end := func(v durable.Verdict, unrecorded bool) {
		node, j := hold()
		o := next(j, j.Occurrence.Add(time.Millisecond))
		o.Run.Verdict, o.Unrecorded = v, unrecorded
		b.settle(node, o)
	}
	lose := func(times, row int) {
		for range times {
			row++
			node, held := hold()
			b.die(node)
			p := b.beat(alive, lease)
			if got := b.get(id); got.Lost != row || got.Attempt != 1 || !got.Occurrence.Equal(held.Occurrence) ||
				len(p.Dead) > 0 != (row == durable.MaxLost) {
				b.Fatalf("lost %d times in a row, the dead are %v: job is %+v", row, p.Dead, got)
			}
			if row < durable.MaxLost {
				end(durable.RunFailed, true) // it goes on with the next occurrence
			}
		}
	}
	lose(durable.MaxLost-1, 0)
	end(durable.RunFailed, false)
	lose(durable.MaxLost-2, 0)
	end(durable.RunSkipped, false)
	lose(2, durable.MaxLost-2)
	b.state(id, durable.Dead)
	b.change(id, durable.OpRevive, durable.Applied)
	if got := b.state(id, durable.Waiting); got.Lost != 0 {
		b.Errorf("revived, the job is %+v", got)
	}
}

// A node learns from its heartbeat which of its runs are to be canceled, and others
// do not.
func beatTellsCanceled(b *bench) {
	first, second := b.node("a"), b.node("b")
	j := b.running(first)
	b.change(j.ID, durable.OpCancel, durable.Deferred)
	if p := b.beat(second, lease); len(p.Canceled) != 0 {
		b.Errorf("the other node learned %v", p.Canceled)
	}
	want := store.Ref{ID: j.ID, Epoch: j.Epoch}
	if p := b.beat(first, lease); len(p.Canceled) != 1 || p.Canceled[0] != want {
		b.Errorf("the node learned %v, want %v", p.Canceled, want)
	}
}

// pending returns jobs that run, and of which was asked, meanwhile, what was asked of
// none, to be canceled, to be paused, and to be moved to the time returned.
func (b *bench) pending(node string, attempts int) (jobs []durable.Job, to time.Time) {
	to = time.Date(2041, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, k := range []string{"nothing", "cancel", "pause", "move"} {
		jobs = append(jobs, b.running(node, key(node+k), every("1h0m0s"), func(j *durable.NewJob) { j.Attempts = attempts }))
	}
	b.change(jobs[1].ID, durable.OpCancel, durable.Deferred)
	b.change(jobs[2].ID, durable.OpPause, durable.Deferred)
	b.changeBy(jobs[3].ID, durable.Change{Op: durable.OpReschedule, Due: to}, durable.Deferred)
	return jobs, to
}

// What was asked of a running job is done when its node dies, also if its attempts
// are used up.
func beatFulfills(b *bench) {
	alive := b.node("z")
	for _, attempts := range []int{1, 3} {
		node := b.node("node" + string(rune('0'+attempts)))
		jobs, to := b.pending(node, attempts)
		b.die(node)
		b.beat(alive, lease)
		for i, want := range []durable.State{durable.Waiting, durable.Canceled, durable.Paused, durable.Waiting} {
			due, occurrence, attempt := b.get(jobs[i].ID).Updated, jobs[i].Occurrence, 1
			if i == 3 {
				due, occurrence, attempt = to, to, 0
			}
			got := b.state(jobs[i].ID, want)
			if !got.Due.Equal(due) || !got.Occurrence.Equal(occurrence) || got.Attempt != attempt ||
				got.Pending != durable.PendingNone || !got.NextDue.IsZero() {
				b.Errorf("job %s of %d attempts is %+v", got.Key, attempts, got)
			}
		}
		b.change(jobs[0].ID, durable.OpCancel, durable.Applied)
	}
}

// What was asked of a running job is done when it is released.
func releaseFulfills(b *bench) {
	node := b.node("a")
	jobs, to := b.pending(node, 3)
	b.ok(errOf(b.store.Release(b.Context(), node, nil)))
	for i, want := range []durable.State{durable.Waiting, durable.Canceled, durable.Paused, durable.Waiting} {
		got := b.state(jobs[i].ID, want)
		due := jobs[i].Due
		if i == 3 {
			due = to
		}
		if !got.Due.Equal(due) || !got.Occurrence.Equal(due) || got.Attempt != 0 ||
			got.Pending != durable.PendingNone || !got.NextDue.IsZero() || got.Error != "" {
			b.Errorf("job %s is %+v", got.Key, got)
		}
	}
}

// pass waits until the store's clock has gone on.
func (b *bench) pass() {
	for begun := must(b.store.Now(b.Context())); must(b.store.Now(b.Context())).Sub(begun) < 10*time.Microsecond; {
	}
}

// A node that comes too late itself, since the store was away or its clock has
// jumped, does not take others for dead; when it comes again it does.
func beatLate(b *bench) {
	const moment = time.Microsecond
	for _, node := range []string{"a", "b"} {
		must(b.store.Join(b.Context(), node, moment))
	}
	b.running("b")
	b.pass()
	if p := b.beat("a", lease); !p.Alive || p.Freed != 0 {
		b.Errorf("pulse is %+v", p)
	}
	b.pass()
	if p := b.beat("a", lease); !p.Alive || p.Freed != 1 {
		b.Errorf("pulse is %+v", p)
	}
	if p := b.beat("b", lease); p.Alive {
		b.Error("the other node is alive")
	}
}

// A job that is released has lost no attempt, and its old holding is over.
func releaseTakesBack(b *bench) {
	node := b.node("a")
	j := b.running(node)
	b.ok(errOf(b.store.Release(b.Context(), node, nil)))
	got := b.state(j.ID, durable.Waiting)
	if got.Attempt != 0 || got.Owner != "" || got.Epoch <= j.Epoch || !got.Due.Equal(j.Due) || got.Runs != 0 {
		b.Errorf("job is %+v", got)
	}
	if b.settle(node, outcome(j))[0] {
		b.Error("the outcome of the old holding was committed")
	}
}

// What was missed before the occurrence for which a job was confirmed, and which lies
// ahead since the clock was put back, is not lost when the job is released, also by the
// death of its node: it is for that again. If it has been begun for the occurrence, or that
// has passed, it stays for it.
func releaseAnew(b *bench) {
	alive := b.node("alive")
	for i, c := range []struct {
		attempts int
		by       time.Duration
		anew     bool
		dies     bool
	}{
		{1, time.Hour, true, false}, {2, time.Hour, false, false}, {1, -time.Millisecond, false, false},
		{1, time.Hour, true, true}, {2, time.Hour, false, true}, {1, -time.Millisecond, false, true},
	} {
		node := b.node(fmt.Sprint("node", i))
		b.add(-time.Second, key(fmt.Sprint("key", i)), every("1m"))
		j := b.claimOne(node)
		for range c.attempts - 1 {
			o := outcome(b.begin(node, j))
			o.State, o.Run.Verdict, o.Error = durable.Waiting, durable.RunFailed, "boom"
			o.Attempt, o.Run.Attempt = j.Attempt+1, j.Attempt+1
			b.settle(node, o)
			j = b.claimOne(node)
		}
		occurrence := j.Updated.Add(c.by) // Updated is when it was claimed
		if !b.confirmFor(node, j, occurrence) {
			b.Fatal("the confirm was refused")
		}
		if c.dies {
			b.die(node)
			b.beat(alive, lease)
		} else {
			b.begin(node, j)
			b.ok(errOf(b.store.Release(b.Context(), node, nil)))
		}
		if c.anew {
			occurrence = j.Due
		}
		got := b.state(j.ID, durable.Waiting)
		if !got.Due.Equal(j.Due) || !got.Occurrence.Equal(occurrence) || got.Attempt != c.attempts-1 {
			b.Errorf("in attempt %d, for %v from now: job is %+v, and its due time was %v", c.attempts, c.by, got, j.Due)
		}
		b.change(j.ID, durable.OpCancel, durable.Applied)
	}
}

// What is named is kept, and what belongs to others is left alone.
func releaseKeeps(b *bench) {
	first, second := b.node("a"), b.node("b")
	keep, give, other := b.running(first), b.running(first), b.running(second)
	b.ok(errOf(b.store.Release(b.Context(), first, []durable.ID{keep.ID})))
	b.state(keep.ID, durable.Running)
	b.state(other.ID, durable.Running)
	b.state(give.ID, durable.Waiting)
}

// Of a node that was declared dead nothing is left to be released.
func releaseDead(b *bench) {
	alive, dead := b.node("a"), b.node("b")
	j := b.running(dead)
	b.die(dead)
	b.beat(alive, lease)
	b.claim(alive)
	if left := must(b.store.Release(b.Context(), dead, nil)); left {
		b.Error("something is left")
	}
	if got := b.get(j.ID); !got.State.Held() || got.Owner != alive {
		b.Errorf("job is %+v", got)
	}
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

// A heartbeat finds a job if a claim would: of the kinds and within the time asked for,
// and not one that is paused or has been claimed.
func beatLooks(b *bench) {
	node := b.node("a")
	looks := func(want bool, ahead time.Duration, kinds ...string) {
		b.Helper()
		p, err := b.store.Heartbeat(b.Context(), node, lease, store.Watch{Kinds: kinds, Ahead: ahead})
		b.ok(err)
		if !p.Alive || p.Due != want {
			b.Errorf("within %v of %v: pulse is %+v, want Due %v", ahead, kinds, p, want)
		}
	}
	looks(false, time.Hour, "k")
	for _, p := range []durable.Priority{durable.Low, durable.Normal, durable.High} {
		j := b.add(30*time.Second, func(j *durable.NewJob) { j.Priority = p })
		looks(true, time.Minute, "k")
		looks(true, time.Minute, "other", "k")
		looks(false, 0, "k")
		looks(false, time.Minute, "other")
		looks(false, time.Minute)
		b.change(j.ID, durable.OpPause, durable.Applied)
		looks(false, time.Minute, "k")
		b.change(j.ID, durable.OpResume, durable.Applied)
		looks(true, time.Minute, "k")
		b.same(b.claim(node), j)
		looks(false, time.Minute, "k")
	}
	b.add(-time.Second)
	looks(true, 0, "k")
}
