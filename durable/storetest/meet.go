package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A between is a store whose calls decide by what they have read, and commit what they have decided if that is still so,
// else decide again. Until Between is called with nil, a call that has decided calls fn before its commit.
type between interface{ Between(fn func()) }

// A meeting has two calls meet. prepare returns them, and what is to hold after both.
type meeting struct {
	name    string
	prepare func(b *bench) (one, other, check func())
}

var meetings = []meeting{
	{"ClaimMeetsDrain", claimMeetsDrain},
	{"ClaimMeetsDeath", claimMeetsDeath},
	{"ClaimMeetsLeave", claimMeetsLeave},
	{"ClaimsMeetAtAGlobalLimit", claimsMeet(store.KindLimit{Max: 9, Global: 1}, "")},
	{"ClaimsMeetAtAPartitionLimit", claimsMeet(store.KindLimit{Max: 9, PerPartition: 1}, "part")},
	{"ClaimsMeetAtARate", claimsMeet(store.KindLimit{Max: 9, Rate: store.Rate{Every: time.Hour, Burst: 1}}, "")},
	{"ClaimMeetsRelease", claimMeetsRelease},
	{"ClaimMeetsMove", claimMeetsMove},
	{"ClaimMeetsCancel", claimMeetsCancel},
	{"CommitMeetsCancel", commitMeetsCancel},
	{"ConfirmMeetsDeath", confirmMeetsDeath},
	{"DeathMeetsCancel", deathMeetsCancel},
	{"DeathMeetsInsert", deathMeetsInsert},
	{"DeathMeetsHeartbeat", deathMeetsHeartbeat},
	{"ChangesMeet", changesMeet},
	{"InsertMeetsDrain", insertMeetsDrain},
	{"InsertsMeetAtAKey", insertsMeet},
	{"InsertMeetsDelete", insertMeetsDelete},
	{"InsertMeetsTheEndOfItsParent", childMeets(endOfParent, store.Waiting)},
	{"InsertMeetsTheCancelOfItsParent", childMeets(changeOfParent(store.OpCancel), store.Canceled)},
	{"InsertMeetsTheDeleteOfItsParent", childMeets(changeOfParent(store.OpDelete), store.Canceled)},
	{"InsertMeetsThePruneOfItsParent", insertMeetsPrune},
	{"EndsOfParentsMeet", endsOfParentsMeet},
	{"EndOfParentMeetsRevive", endMeetsRevive},
	{"SignalMeetsTheEnd", signalMeetsEnd},
	{"SignalMeetsTheStep", signalMeetsStep},
	{"SignalMeetsDelete", signalMeetsDelete},
	{"StepMeetsRelease", stepMeetsRelease},
	{"PackMeetsClaim", packMeetsClaim},
	{"PackMeetsSignal", packMeetsSignal},
	{"PackMeetsAChild", packMeetsChild},
}

// Calls are made at the same time in so many rounds, by so many pairs in each.
const meetingRounds, meetingPairs = 8, 4

// meet has the calls meet: first at the same time, some times; then, if the store can be stopped in between, each where
// the other has decided.
func meet(m meeting) func(b *bench) {
	return func(b *bench) {
		for range meetingRounds {
			var calls, checks []func()
			for range meetingPairs {
				one, other, check := m.prepare(b)
				calls, checks = append(calls, one, other), append(checks, check)
			}
			var all sync.WaitGroup
			for _, call := range calls {
				all.Go(call)
			}
			all.Wait()
			for _, check := range checks {
				if check(); b.Failed() {
					b.Fatal("they were made at the same time")
				}
			}
		}
		s, ok := b.store.Store.(between)
		for n := 0; ok; n++ {
			ok = false
			for swap := range 2 {
				one, other, check := m.prepare(b)
				if swap > 0 {
					one, other = other, one
				}
				left := n
				s.Between(func() {
					if left--; left < 0 {
						s.Between(nil)
						ok = true
						other()
					}
				})
				one()
				if s.Between(nil); left >= 0 {
					other()
				}
				if check(); b.Failed() {
					b.Fatalf("call %d was made after decision %d of the other, before its commit", 2-swap, n+1)
				}
			}
		}
	}
}

// no reports an error of a call that meets another.
func (b *bench) no(err error) {
	if err != nil {
		b.Error(err)
	}
}

// begun adds a job of a kind of its own, which a new node begins.
func (b *bench) begun(change ...func(*store.NewJob)) (node string, j store.Job) {
	node, n := b.node(fresh("n")), job(-time.Second, change...)
	n.Kind = fresh("k")
	b.insert(n, store.Placement{})
	c := b.claimBy(request(node, n.Kind))
	if len(c) != 1 {
		b.Fatalf("claimed %d jobs, want 1", len(c))
	}
	return node, b.begin(node, c[0])
}

// request returns a claim of a kind.
func request(node, kind string) store.ClaimRequest {
	return store.ClaimRequest{Node: node, Lead: time.Minute, Limit: 9, Kinds: []store.KindLimit{{Kind: kind, Max: 9}}}
}

// kindOf gives a job a kind.
func kindOf(kind string) func(*store.NewJob) { return func(j *store.NewJob) { j.Kind = kind } }

// claims returns a claim, which notes the jobs. It leaves out no kind because another one claims it.
func (b *bench) claims(r store.ClaimRequest, jobs *[]store.Job) func() {
	claim := b.store.Claim
	if slices.ContainsFunc(r.Kinds, store.KindLimit.Limited) {
		claim = b.store.limiter().ClaimLimited
	}
	return func() {
		a, err := soon(func() (store.ClaimResult, error) { return claim(b.Context(), r) }, func(c store.ClaimResult) bool { return !c.Busy })()
		b.no(err)
		*jobs = a.(store.ClaimResult).Jobs
	}
}

// got holds that a node has the jobs that its claim was given, as they were given.
func (b *bench) got(jobs []store.Job) {
	b.Helper()
	for _, want := range jobs {
		if j := b.get(want.ID); !j.State.Held() || j.Owner != want.Owner || j.Epoch != want.Epoch {
			b.Errorf("it was claimed as %+v, and is %+v", want, j)
		}
	}
}

// commits returns a group commit of a node, which notes its result. It waits for rows that are locked.
func (b *bench) commits(r store.CommitRequest, result *store.CommitResult) func() {
	r.History = 5
	return func() {
		a, err := soon(func() (store.CommitResult, error) { return b.store.Commit(context.WithoutCancel(b.Context()), r) },
			func(c store.CommitResult) bool { return len(c.Locked) == 0 })()
		b.no(err)
		*result = a.(store.CommitResult)
	}
}

// ends returns the end of a run.
func (b *bench) ends(node string, o store.Outcome) func() {
	var c store.CommitResult
	commit := b.commits(store.CommitRequest{Node: node, Outcomes: []store.Outcome{o}}, &c)
	return func() {
		if commit(); len(c.Committed) != 1 || !c.Committed[0] {
			b.Errorf("the end was answered %+v", c)
		}
	}
}

// changes returns a change of a job, which notes the answer.
func (b *bench) changes(id store.ID, c store.Change, answer *store.Answer) func() {
	return func() {
		var err error
		*answer, err = b.store.Change(b.Context(), id, c)
		b.no(err)
	}
}

// applied returns a change that has to be applied.
func (b *bench) applied(id store.ID, c store.Change) func() {
	var answer store.Answer
	change := b.changes(id, c, &answer)
	return func() {
		if change(); answer != store.Applied {
			b.Errorf("the change was answered %v", answer)
		}
	}
}

// inserts returns the adding of a job, which notes the result.
func (b *bench) inserts(n store.NewJob, p store.Placement, placed *store.InsertResult, err *error) func() {
	return func() {
		var all []store.InsertResult
		if all, *err = b.store.Insert(b.Context(), []store.NewJob{n}, p); *err == nil {
			*placed = all[0]
		}
	}
}

// dying returns a heartbeat, by which a node is declared dead, and another one, for what was locked.
func (b *bench) dying(node string) (death, again func()) {
	other := b.node(fresh("alive"))
	b.beat(node, -time.Second)
	death = func() {
		_, err := b.store.Heartbeat(b.Context(), other, lease, store.Watch{})
		b.no(err)
	}
	return death, func() { b.beat(other, lease) }
}

// draining returns the call that has a node drain, after which nobody gives it a job; that is what is to hold.
func (b *bench) draining(node string) (drain, check func()) {
	drains, before := b.store.drains(), 0
	count := func() (n int) {
		jobs, err := b.store.List(b.Context(), store.Filter{States: []store.State{store.Claimed, store.Confirmed, store.Running}, Limit: 10_000})
		b.no(err)
		for _, j := range jobs {
			if j.Owner == node {
				n++
			}
		}
		return n
	}
	drain = func() {
		_, err := drains.DrainNode(b.Context(), node, true)
		b.no(err)
		before = count()
	}
	return drain, func() {
		if n := count(); n > before {
			b.Errorf("when the node was to drain it held %d jobs, and now %d", before, n)
		}
	}
}

// Once a node is to drain no claim gives it a job.
func claimMeetsDrain(b *bench) (one, other, check func()) {
	node, kind := b.node(fresh("n")), fresh("k")
	b.add(-time.Second, kindOf(kind))
	drain, drained := b.draining(node)
	var jobs []store.Job
	return b.claims(request(node, kind), &jobs), drain, drained
}

// Nor does an insert.
func insertMeetsDrain(b *bench) (one, other, check func()) {
	node := b.node(fresh("n"))
	drain, drained := b.draining(node)
	var placed store.InsertResult
	var err error
	insert := b.inserts(job(-time.Second, kindOf(fresh("k"))), store.Placement{Node: node, Ahead: time.Minute, Limit: 1}, &placed, &err)
	return insert, drain, func() { b.no(err); drained() }
}

// What a node claims while it is declared dead is freed.
func claimMeetsDeath(b *bench) (one, other, check func()) {
	node, kind := b.node(fresh("n")), fresh("k")
	j := b.add(-time.Second, kindOf(kind))
	death, again := b.dying(node)
	var jobs []store.Job
	return b.claims(request(node, kind), &jobs), death, func() {
		if _, ok := b.store.Store.(between); !ok {
			again() // it may have been locked
		}
		b.state(j.ID, store.Waiting)
	}
}

// What a node claims while it leaves is freed.
func claimMeetsLeave(b *bench) (one, other, check func()) {
	node, kind := b.node(fresh("n")), fresh("k")
	j := b.add(-time.Second, kindOf(kind))
	_, again := b.dying(b.node(fresh("n")))
	var jobs []store.Job
	leave := func() { b.no(b.store.Leave(b.Context(), node)) }
	return b.claims(request(node, kind), &jobs), leave, func() {
		if _, ok := b.store.Store.(between); !ok {
			again() // it may have been locked
		}
		b.state(j.ID, store.Waiting)
	}
}

// Two claims of different nodes get one job together, though each looks for another one.
func claimsMeet(limit store.KindLimit, partition string) func(b *bench) (one, other, check func()) {
	return func(b *bench) (one, other, check func()) {
		limit.Kind = fresh("k")
		of := func(j *store.NewJob) { j.Kind, j.Partition = limit.Kind, partition }
		b.add(-time.Second, of)
		b.add(time.Minute, of, func(j *store.NewJob) { j.Priority = store.High })
		near, far := request(b.node(fresh("n")), limit.Kind), request(b.node(fresh("n")), limit.Kind)
		near.Kinds[0], far.Kinds[0], far.Ahead = limit, limit, time.Hour
		var first, then []store.Job
		return b.claims(near, &first), b.claims(far, &then), func() {
			if len(first)+len(then) > 1 {
				b.Errorf("they got %d and %d jobs", len(first), len(then))
			}
			b.got(first)
			b.got(then)
		}
	}
}

// What is released while another node claims at a global limit belongs to one node, or to none.
func claimMeetsRelease(b *bench) (one, other, check func()) {
	first, held := b.begun()
	r := request(b.node(fresh("n")), held.Kind)
	r.Kinds[0].Global = 1
	b.add(-time.Second, kindOf(held.Kind))
	var jobs []store.Job
	release := func() {
		_, err := soon(func() (bool, error) { return b.store.Release(b.Context(), first, nil) }, func(left bool) bool { return !left })()
		b.no(err)
	}
	return b.claims(r, &jobs), release, func() {
		if b.got(jobs); len(jobs) > 1 {
			b.Errorf("it got %d jobs", len(jobs))
		}
		if j := b.get(held.ID); j.Owner == first {
			b.Errorf("what was released is %+v", j)
		}
	}
}

// A job that is moved while it is claimed is in the other queue, claimed or not.
func claimMeetsMove(b *bench) (one, other, check func()) {
	b.store.queues()
	kind := fresh("k")
	j := b.add(-time.Second, kindOf(kind))
	var jobs []store.Job
	var answer store.Answer
	return b.claims(request(b.node(fresh("n")), kind), &jobs), b.changes(j.ID, store.Change{Op: store.OpMove, Queue: "q"}, &answer), func() {
		b.got(jobs)
		if now := b.get(j.ID); now.Queue != "q" || now.State.Held() != (len(jobs) > 0) {
			b.Errorf("%d jobs were claimed, the move was answered %v, and it is %+v", len(jobs), answer, now)
		}
	}
}

// A job that is canceled while it is claimed is canceled, or will be.
func claimMeetsCancel(b *bench) (one, other, check func()) {
	kind := fresh("k")
	j := b.add(-time.Second, kindOf(kind))
	var jobs []store.Job
	var answer store.Answer
	return b.claims(request(b.node(fresh("n")), kind), &jobs), b.changes(j.ID, store.Change{Op: store.OpCancel}, &answer), func() {
		if now := b.get(j.ID); now.State != store.Canceled && now.Pending != store.PendingCancel {
			b.Errorf("the cancel was answered %v, and it is %+v", answer, now)
		}
	}
}

// A schedule that is canceled while its run ends is canceled.
func commitMeetsCancel(b *bench) (one, other, check func()) {
	node, j := b.begun(key(fresh("key")), every("1h0m0s"))
	var answer store.Answer
	return b.ends(node, next(j, j.Due.Add(time.Hour))), b.changes(j.ID, store.Change{Op: store.OpCancel}, &answer), func() {
		if now := b.get(j.ID); now.State != store.Canceled {
			b.Errorf("the cancel was answered %v, and it is %+v", answer, now)
		}
	}
}

// A job that is freed while it is confirmed was confirmed by whoever was told so.
func confirmMeetsDeath(b *bench) (one, other, check func()) {
	node, kind := b.node(fresh("n")), fresh("k")
	b.add(time.Minute, kindOf(kind))
	r := request(node, kind)
	r.Lead, r.Ahead = 0, time.Hour
	claimed := b.claimBy(r)
	if len(claimed) != 1 {
		b.Fatalf("claimed %d jobs, want 1", len(claimed))
	}
	j := claimed[0]
	death, again := b.dying(node)
	var c store.CommitResult
	confirm := b.commits(store.CommitRequest{Node: node, Confirms: []store.Confirm{{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}}}}, &c)
	return confirm, death, func() {
		again()
		if now := b.state(j.ID, store.Waiting); len(c.Confirmed) != 1 || now.Suspect != c.Confirmed[0] {
			b.Errorf("the confirm was answered %+v, and it is %+v", c, now)
		}
	}
}

// A job that is canceled while its node is declared dead is canceled if the cancel came first, though the lost run was
// its last attempt.
func deathMeetsCancel(b *bench) (one, other, check func()) {
	node, j := b.begun(func(j *store.NewJob) { j.Attempts = 1 })
	death, again := b.dying(node)
	var answer store.Answer
	return death, b.changes(j.ID, store.Change{Op: store.OpCancel}, &answer), func() {
		again()
		want := map[store.Answer]store.State{store.Deferred: store.Canceled, store.TooLate: store.Dead}[answer]
		if now := b.get(j.ID); now.State != want {
			b.Errorf("the cancel was answered %v, and it is %+v", answer, now)
		}
	}
}

// A job that is added again while its node is declared dead runs again.
func deathMeetsInsert(b *bench) (one, other, check func()) {
	node, j := b.begun(key(fresh("key")), func(j *store.NewJob) { j.Attempts = 1 })
	death, again := b.dying(node)
	n := job(-time.Second, key(j.Key), kindOf(j.Kind), reuse)
	var placed store.InsertResult
	var err error
	return death, b.inserts(n, store.Placement{}, &placed, &err), func() {
		b.no(err)
		again()
		if now := b.get(placed.ID); !placed.Changed || now.State != store.Waiting || now.Key != j.Key {
			b.Errorf("the insert was answered %+v, and it is %+v", placed, now)
		}
	}
}

// A node that renews its lease while it is declared dead is alive and has its jobs, or is not and has none.
func deathMeetsHeartbeat(b *bench) (one, other, check func()) {
	node, j := b.begun()
	death, again := b.dying(node)
	var p store.HeartbeatResult
	renew := func() {
		var err error
		p, err = b.store.Heartbeat(b.Context(), node, lease, store.Watch{})
		b.no(err)
	}
	return death, renew, func() {
		again()
		if now := b.get(j.ID); now.State.Held() != p.Alive {
			b.Errorf("the node was told %+v, and the job is %+v", p, now)
		}
	}
}

// Two changes of a job are both made.
func changesMeet(b *bench) (one, other, check func()) {
	due := must(b.store.Now(b.Context())).Add(time.Hour)
	j := b.add(time.Minute)
	return b.applied(j.ID, store.Change{Op: store.OpPause}), b.applied(j.ID, store.Change{Op: store.OpReschedule, Due: due}), func() {
		if now := b.get(j.ID); now.State != store.Paused || !now.Due.Equal(due) {
			b.Errorf("it is %+v", now)
		}
	}
}

// Two jobs with one key are one.
func insertsMeet(b *bench) (one, other, check func()) {
	k := key(fresh("key"))
	var placed [2]store.InsertResult
	var errs [2]error
	return b.inserts(job(time.Hour, k), store.Placement{}, &placed[0], &errs[0]), b.inserts(job(time.Hour, k), store.Placement{}, &placed[1], &errs[1]), func() {
		b.no(errors.Join(errs[:]...))
		if placed[0].ID != placed[1].ID || placed[0].Changed == placed[1].Changed {
			b.Errorf("they are\n%+v\n%+v", placed[0], placed[1])
		}
		b.get(placed[0].ID)
	}
}

// A job that is added while the one that has its key is deleted is that one, or is there.
func insertMeetsDelete(b *bench) (one, other, check func()) {
	j := b.add(time.Hour, key(fresh("key")))
	n := job(time.Hour, key(j.Key))
	var placed store.InsertResult
	var err error
	return b.inserts(n, store.Placement{}, &placed, &err), b.applied(j.ID, store.Change{Op: store.OpDelete}), func() {
		b.no(err)
		found, err := b.store.Find(b.Context(), j.Key)
		if there := err == nil && found.ID == n.ID; there != (placed.ID == n.ID) || placed.ID != n.ID && placed.ID != j.ID {
			b.Errorf("the insert was answered %+v, and the key belongs to %+v, %v", placed, found, err)
		}
	}
}

// A job that is added while its parent ends, or is removed, does not wait for it.
func childMeets(parent func(b *bench) (id store.ID, end func()), want store.State) func(b *bench) (one, other, check func()) {
	return func(b *bench) (one, other, check func()) {
		b.store.graph()
		id, end := parent(b)
		b.child(after(id), kindOf(fresh("k"))) // its first one
		_, again := b.dying(b.node(fresh("n")))
		n := job(-time.Second, after(id), kindOf(fresh("k")))
		var placed store.InsertResult
		var err error
		return b.inserts(n, store.Placement{}, &placed, &err), end, func() {
			again()
			j, missing := b.store.Get(b.Context(), n.ID)
			switch {
			case errors.Is(err, store.ErrNotFound) && want == store.Canceled && errors.Is(missing, store.ErrNotFound): // the parent was removed before
			case err != nil || missing != nil || j.State != want:
				b.Errorf("the insert was answered %+v, %v, and it is %+v, %v", placed, err, j, missing)
			}
		}
	}
}

func endOfParent(b *bench) (id store.ID, end func()) {
	node, p := b.begun()
	return p.ID, b.ends(node, outcome(p))
}

func changeOfParent(op store.Op) func(b *bench) (id store.ID, end func()) {
	return func(b *bench) (id store.ID, end func()) {
		p := b.add(time.Hour)
		return p.ID, b.applied(p.ID, store.Change{Op: op})
	}
}

// A parent that is pruned while a job is added that waits for it and for others is kept, or the job is not added.
func insertMeetsPrune(b *bench) (one, other, check func()) {
	b.store.graph()
	node, old := b.begun()
	b.ends(node, outcome(old))()
	b.wait()
	n := job(-time.Second, after(old.ID, b.add(time.Hour).ID), kindOf(fresh("k")))
	prune := func() {
		_, err := b.store.Prune(b.Context(), store.Retention{Succeeded: 1})
		b.no(err)
	}
	var placed store.InsertResult
	var err error
	return b.inserts(n, store.Placement{}, &placed, &err), prune, func() {
		_, missing := b.store.Get(b.Context(), old.ID)
		if !errors.Is(err, missing) {
			b.Errorf("the insert was answered %v, and the parent is there: %v", err, missing)
		}
	}
}

// A job whose two parents end is released.
func endsOfParentsMeet(b *bench) (one, other, check func()) {
	b.store.graph()
	first, p := b.begun()
	second, q := b.begun()
	id := b.child(after(p.ID, q.ID), kindOf(fresh("k")))
	_, again := b.dying(b.node(fresh("n")))
	return b.ends(first, outcome(p)), b.ends(second, outcome(q)), func() {
		again()
		b.state(id, store.Waiting)
		b.counts(id, 2, 2, 0)
	}
}

// A job that is revived while its parent ends is released.
func endMeetsRevive(b *bench) (one, other, check func()) {
	b.store.graph()
	node, p := b.begun()
	id := b.child(after(p.ID), kindOf(fresh("k")))
	b.change(id, store.OpCancel, store.Applied)
	_, again := b.dying(b.node(fresh("n")))
	return b.ends(node, outcome(p)), b.applied(id, store.Change{Op: store.OpRevive}), func() {
		again()
		b.state(id, store.Waiting)
		b.counts(id, 1, 1, 0)
	}
}

// A signal that comes while the run that waits for it ends makes the job due.
func signalMeetsEnd(b *bench) (one, other, check func()) {
	steps, far := b.store.steps(), must(b.store.Now(b.Context())).Add(time.Hour)
	node, j := b.begun()
	b.await(j, "go")
	return b.ends(node, waiting(j, far, "go")), b.signals(steps, j.ID), func() {
		if now := b.state(j.ID, store.Waiting); now.Due.Equal(far) {
			b.Error("the signal was missed")
		}
	}
}

// signals returns the signal "go".
func (b *bench) signals(steps store.Steps, id store.ID) func() {
	return func() {
		if a, err := steps.Signal(b.Context(), id, "go", []byte("1")); err != nil || a != store.Applied {
			b.Errorf("the signal was answered %v, %v", a, err)
		}
	}
}

// A signal that comes while a run begins to wait for it is kept.
func signalMeetsStep(b *bench) (one, other, check func()) {
	steps := b.store.steps()
	_, j := b.begun()
	keep := func() {
		k := store.KeptStep{Name: "go", Signal: true, Occasion: j.Occasion()}
		_, ok, err := steps.KeepStep(b.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, k)
		if b.no(err); !ok {
			b.Error("what the run waits for was not kept")
		}
	}
	return keep, b.signals(steps, j.ID), func() {
		if kept := must(steps.KeptSteps(b.Context(), j.ID)); len(kept) != 1 || string(kept[0].Result) != "1" {
			b.Errorf("kept is %+v", kept)
		}
	}
}

// No signal is left of a job that is deleted when it comes.
func signalMeetsDelete(b *bench) (one, other, check func()) {
	steps, j := b.store.steps(), b.add(time.Hour)
	signal := func() {
		_, err := steps.Signal(b.Context(), j.ID, "go", []byte("1"))
		b.no(err)
	}
	return signal, b.applied(j.ID, store.Change{Op: store.OpDelete}), func() {
		if kept := must(steps.KeptSteps(b.Context(), j.ID)); len(kept) > 0 {
			b.Errorf("left is %+v", kept)
		}
	}
}

// A step that is kept while its run is released is there if it was told so, and not otherwise.
func stepMeetsRelease(b *bench) (one, other, check func()) {
	steps := b.store.steps()
	node, j := b.begun()
	var ok bool
	seen := -1
	keep := func() {
		var err error
		_, ok, err = steps.KeepStep(b.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, stepOf(j, "s", "1"))
		b.no(err)
	}
	release := func() {
		_, err := soon(func() (bool, error) { return b.store.Release(b.Context(), node, nil) }, func(left bool) bool { return !left })()
		b.no(err)
		kept, err := steps.KeptSteps(b.Context(), j.ID)
		b.no(err)
		seen = len(kept)
	}
	return keep, release, func() {
		if kept := must(steps.KeptSteps(b.Context(), j.ID)); len(kept) != seen || ok != (seen == 1) {
			b.Errorf("the run was told %v, there were %d steps when it was released, and now %+v", ok, seen, kept)
		}
	}
}
