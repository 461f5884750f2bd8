package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	durablestore "github.com/executor-go/executor/durable/store"
)

// Faults makes statements of a store fail, for [RunFaults].
type Faults struct {
	// Kinds are the names of the faults that can be planted. For a store without statements it is nil, and Plant and
	// Met are not used.
	Kinds []string
	// Plant makes the nth statement from now on fail with a fault of that kind. n counts from 1.
	Plant func(kind string, n int)
	// Met removes the planted fault, and reports whether a statement has failed with it.
	Met func() bool
	// Begin begins a transaction whose statements can fail in the same way. For a store without transactions it is nil.
	Begin func(ctx context.Context) (durablestore.Tx, error)
}

// RunFaults makes each statement of each method of a store fail, in each way of [Faults], and compares the store with
// what its callers were told. If a call returns no error, its answer must be true in the store. If it returns an error,
// it must not return an answer. If the call is repeated after an error, it must be answered as if it were the first,
// and take effect once.
//
// RunFaults calls open once for each kind of fault, and once for a run without faults. The kinds are tested in
// parallel.
func RunFaults(t *testing.T, open func(t *testing.T) (durablestore.Store, Faults)) {
	store, faults := open(t)
	for _, method := range untested() {
		t.Errorf("no call of %s is among those of RunFaults", method)
	}
	t.Run("no fault", func(t *testing.T) { runFaults(t, store, faults, "") })
	for _, kind := range faults.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			store, faults := open(t)
			runFaults(t, store, faults, kind)
		})
	}
}

// runFaults makes each call with faults of one kind, "" for none.
func runFaults(t *testing.T, store durablestore.Store, faults Faults, kind string) {
	for _, c := range calls {
		if strings.HasSuffix(c.method(), "Tx") && faults.Begin == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := &faulted{&bench{TB: t, store: newPartial(store)}, faults}
			defer unexpected(t)
			for n := 1; b.fails(c, kind, n); n++ {
			}
		})
	}
}

// faulted is a bench whose store has faults.
type faulted struct {
	*bench
	faults Faults
}

// mostStatements is more than a call has statements.
const mostStatements = 100

// fails makes a call whose nth statement goes wrong, says what is wrong with what it was told, and reports whether
// there was such a statement.
func (b *faulted) fails(c faultCall, kind string, n int) bool {
	b.Helper()
	t := c.prepare(b)
	if kind != "" {
		b.faults.Plant(kind, n)
	}
	answer, err := t.call()
	met := kind != "" && b.faults.Met()
	if n > mostStatements {
		b.Fatalf("the call has more than %d statements", mostStatements)
	}
	if err != nil && !met {
		b.Errorf("no statement failed, and the call: %v", err)
	}
	if err != nil && answer != nil && !reflect.ValueOf(answer).IsZero() && !t.counts {
		b.Errorf("statement %d: the answer %+v came with the error: %v", n, answer, err)
	}
	for try := 0; err != nil; try++ { // a connection that broke may be found as late as by the next call
		if t.anew != nil {
			t.anew()
		}
		if answer, err = t.call(); err != nil && try == 5 {
			b.Errorf("statement %d: the call fails again and again: %v", n, err)
			return met
		}
	}
	if wrong := t.wrong(answer); wrong != "" {
		b.Errorf("statement %d: the answer is %+v, but %s", n, answer, wrong)
	}
	return met
}

// A faultCall is a call of a method.
type faultCall struct {
	name    string // begins with that of the method
	prepare func(b *faulted) told
}

// method returns the name of the method.
func (c faultCall) method() string {
	name, _, _ := strings.Cut(c.name, " ")
	return name
}

// told is a call, and how to find whether what it tells is so.
type told struct {
	call   func() (any, error)
	wrong  func(answer any) string // "" if it is so
	anew   func()                  // what is to be done after an error; or nil
	counts bool                    // the answer counts what was done before an error
}

// untested returns the methods of a Store that no call is of. An Import needs an empty store.
func untested() (methods []string) {
	for _, m := range slices.Concat(methodsOf[durablestore.Full](), methodsOf[durablestore.TxStore](), methodsOf[durablestore.Mover]()) {
		if m != "Close" && m != "Import" && !slices.ContainsFunc(calls, func(c faultCall) bool {
			return c.method() == m
		}) {
			methods = append(methods, m)
		}
	}
	return methods
}

func methodsOf[T any]() (names []string) {
	for m := range reflect.TypeFor[T]().Methods() {
		names = append(names, m.Name)
	}
	return names
}

// fresh returns a name that was not there before.
func fresh(prefix string) string { return prefix + durablestore.NewID().String() }

// these returns n jobs of a kind of their own.
func these(n int, change ...func(i int, j *durablestore.NewJob)) []durablestore.NewJob {
	kind, jobs := fresh("k"), make([]durablestore.NewJob, n)
	for i := range jobs {
		jobs[i] = job(-time.Second)
		jobs[i].Kind = kind
		for _, f := range change {
			f(i, &jobs[i])
		}
	}
	return jobs
}

func keyed(i int, j *durablestore.NewJob) { j.Key = fresh("key") }

func tagged(i int, j *durablestore.NewJob) { j.Tags = []string{"both", fresh("tag")} }

// untagged returns what is wrong with finding jobs by their tags, "" if nothing is.
func (b *bench) untagged(jobs []durablestore.NewJob) string {
	for i := range jobs {
		if found := b.listed(jobs[i].Tags...); len(found) != 1 {
			return fmt.Sprintf("job %d: %d jobs are found by its tags %q", i, len(found), jobs[i].Tags)
		}
	}
	return ""
}

// ofKind returns the jobs of a kind.
func (b *bench) ofKind(kind string) []durablestore.Job {
	return must(b.store.List(b.Context(), durablestore.Filter{Kind: kind, Limit: 1000}))
}

// inserting returns the call that inserts jobs.
func (b *bench) inserting(jobs []durablestore.NewJob, p durablestore.Placement) told {
	return told{
		call: func() (any, error) { return answer(b.store.Insert(b.Context(), jobs, p)) },
		wrong: func(a any) string {
			placed := a.([]durablestore.InsertResult)
			if there := b.ofKind(jobs[0].Kind); len(placed) != len(jobs) || len(there) != len(jobs) {
				return fmt.Sprintf("there are %d jobs, want %d", len(there), len(jobs))
			}
			for i, r := range placed {
				got, err := b.store.Get(b.Context(), jobs[i].ID)
				switch {
				case err != nil:
					return fmt.Sprintf("job %d: %v", i, err)
				case r.ID != jobs[i].ID || r.Schedule != got.Schedule || string(r.Payload) != string(got.Payload) || r.State != got.State || r.Owner != got.Owner:
					return fmt.Sprintf("job %d is %+v", i, got)
				}
			}
			if jobs[0].Tags == nil {
				return ""
			}
			return b.untagged(jobs)
		},
	}
}

// answer returns what a method does, as any value.
func answer[T any](v T, err error) (any, error) { return v, err }

// soon returns a call that is made until it has answered with all: what another transaction has a lock on is left for
// the next, and one whose line broke is over when the server has noticed.
func soon[T any](call func() (T, error), all func(T) bool) func() (any, error) {
	return func() (any, error) {
		v, err := call()
		for begun := time.Now(); err == nil && !all(v) && time.Since(begun) < patience; {
			time.Sleep(time.Millisecond)
			v, err = call()
		}
		return v, err
	}
}

// nothing is what a method without an answer returns.
func nothing(err error) (any, error) { return nil, err }

// given returns jobs of a kind of their own that a new node holds, and the node.
func (b *bench) given(n int) (string, []durablestore.Job) {
	node, jobs := b.node(fresh("node")), these(n)
	must(b.store.Insert(b.Context(), jobs, durablestore.Placement{}))
	claimed := b.claimBy(claimOf(node, jobs[0].Kind, n))
	if len(claimed) != n {
		panic(failure{fmt.Sprintf("claimed %d of %d jobs", len(claimed), n)})
	}
	return node, claimed
}

func claimOf(node, kind string, n int) durablestore.ClaimRequest {
	return durablestore.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: n,
		Kinds: []durablestore.KindLimit{{Kind: kind, Max: n}}}
}

// claiming returns the call that claims the jobs of a kind.
func (b *bench) claiming(global int) told {
	return b.claimingBy(these(3), func(r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
		r.Kinds[0].Global = global
		return b.store.Claim(b.Context(), r)
	})
}

// claimingQueue returns the call that claims the jobs of a queue.
func (b *bench) claimingQueue(global int, rate durablestore.Rate) told {
	jobs := these(3, func(i int, j *durablestore.NewJob) { j.Queue = "q" })
	return b.claimingBy(jobs, func(r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
		r.Kinds[0].Global, r.Kinds[0].Rate = global, rate
		return b.store.ClaimQueue(b.Context(), "q", r)
	})
}

func (b *bench) claimingBy(jobs []durablestore.NewJob, claim func(durablestore.ClaimRequest) (durablestore.ClaimResult, error)) told {
	node := b.node(fresh("node"))
	must(b.store.Insert(b.Context(), jobs, durablestore.Placement{}))
	var c durablestore.ClaimResult
	return told{
		call: soon(func() (durablestore.ClaimResult, error) {
			more, err := claim(claimOf(node, jobs[0].Kind, 3))
			c.Jobs = append(c.Jobs, more.Jobs...)
			return c, err
		}, func(c durablestore.ClaimResult) bool { return len(c.Jobs) >= 3 }),
		anew: func() {
			c.Jobs = nil
			must(b.store.Release(b.Context(), node, nil))
		},
		wrong: func(a any) string {
			c := a.(durablestore.ClaimResult)
			if len(c.Jobs) != 3 {
				return "three jobs wait"
			}
			for _, j := range c.Jobs {
				if got := b.get(j.ID); got.State != j.State || got.Epoch != j.Epoch || got.Owner != node {
					return fmt.Sprintf("a job is %+v", got)
				}
			}
			return ""
		},
	}
}

// changing returns the call that changes a job.
func (b *bench) changing(c durablestore.Change, state durablestore.State) told {
	jobs := these(1)
	must(b.store.Insert(b.Context(), jobs, durablestore.Placement{}))
	return told{
		call: func() (any, error) {
			a, err := b.store.Change(b.Context(), jobs[0].ID, c)
			if err == nil && a != durablestore.Applied { // it was applied by the call whose answer was lost
				a = durablestore.Applied
			}
			return a, err
		},
		wrong: func(any) string {
			got, err := b.store.Get(b.Context(), jobs[0].ID)
			switch {
			case c.Op == durablestore.OpDelete && err == nil:
				return "the job is there"
			case c.Op != durablestore.OpDelete && (err != nil || got.State != state):
				return fmt.Sprintf("the job is %+v, %v", got, err)
			}
			return ""
		},
	}
}

// committing returns the call of a group commit, with everything that one may have.
func (b *faulted) committing() told { return b.committingBy(b.store.Commit) }

func (b *faulted) committingBy(commit func(context.Context, durablestore.CommitRequest) (durablestore.CommitResult, error)) told {
	node, jobs := b.given(4)
	ref := func(i int) durablestore.Ref { return durablestore.Ref{ID: jobs[i].ID, Epoch: jobs[i].Epoch} }
	now := must(b.store.Now(b.Context()))
	r := durablestore.CommitRequest{Node: node, History: 5,
		Begun:    []durablestore.Begin{{Ref: ref(0), Started: now}},
		Confirms: []durablestore.Confirm{{Ref: ref(1), Occurrence: jobs[1].Due}},
		Outcomes: []durablestore.Outcome{outcome(jobs[2]), next(jobs[3], now.Add(time.Hour))},
	}
	return told{
		call: soon(func() (durablestore.CommitResult, error) { return commit(b.Context(), r) },
			func(c durablestore.CommitResult) bool { return len(c.Locked) == 0 }),
		wrong: func(a any) string {
			c := a.(durablestore.CommitResult)
			if len(c.Locked) > 0 || !slices.Equal(c.Confirmed, []bool{true}) || !slices.Equal(c.Committed, []bool{true, true}) {
				return "all of it is to be done"
			}
			for i, state := range []durablestore.State{durablestore.Running, durablestore.Confirmed, durablestore.Succeeded, durablestore.Waiting} {
				got := b.get(jobs[i].ID)
				runs := must(b.store.Runs(b.Context(), jobs[i].ID, 0, 10))
				if got.State != state || len(runs) != i/2 {
					return fmt.Sprintf("job %d has %d runs, and is %+v", i, len(runs), got)
				}
			}
			return ""
		},
	}
}

// reading returns a call that changes nothing, whose answer is the same each time.
func reading[T any](f func(b *faulted, node string, j durablestore.Job) func() (T, error)) func(b *faulted) told {
	return func(b *faulted) told {
		node, jobs := b.given(1)
		read := f(b, node, jobs[0])
		want := must(read())
		return told{
			call: func() (any, error) { return answer(read()) },
			wrong: func(a any) string {
				if !reflect.DeepEqual(a, any(want)) {
					return fmt.Sprintf("it was %+v before", want)
				}
				return ""
			},
		}
	}
}

// endRun ends the run of a job that a node has.
func (b *bench) endRun(node string, j durablestore.Job, state durablestore.State) {
	o := outcome(j)
	o.State, o.Output = state, []byte("output")
	b.settle(node, o)
}

// inTx does something in a transaction, and returns what it was told if that was committed.
func inTx[T any](b *faulted, fn func(store durablestore.TxStore, tx durablestore.Tx) (T, error)) (v T, err error) {
	var none T
	tx, err := b.faults.Begin(b.Context())
	if err != nil {
		return none, err
	}
	defer tx.Rollback()
	if v, err = fn(b.store.parts.Tx, tx); err != nil {
		return v, err
	}
	if err := tx.Commit(); err != nil {
		return none, err
	}
	return v, nil
}

// insertingTx returns the call that inserts jobs in a transaction.
func (b *faulted) insertingTx(jobs []durablestore.NewJob) told {
	t := b.inserting(jobs, durablestore.Placement{})
	t.call = func() (any, error) {
		return answer(inTx(b, func(s durablestore.TxStore, tx durablestore.Tx) ([]durablestore.InsertResult, error) {
			return s.InsertTx(b.Context(), tx, jobs)
		}))
	}
	return t
}

var calls = []faultCall{
	// It reads all that the store has, so it comes while that is little.
	{"Export", reading(exporting)},

	{"InsertTx", func(b *faulted) told { return b.insertingTx(these(1, keyed)) }},
	{"InsertTx of several with tags", func(b *faulted) told { return b.insertingTx(these(2, tagged)) }},
	{"InsertTx of several", func(b *faulted) told { return b.insertingTx(these(3, keyed)) }},
	{"CompleteTx", func(b *faulted) told {
		return b.committingBy(func(ctx context.Context, r durablestore.CommitRequest) (durablestore.CommitResult, error) {
			return inTx(b, func(s durablestore.TxStore, tx durablestore.Tx) (durablestore.CommitResult, error) {
				return s.CompleteTx(ctx, tx, r)
			})
		})
	}},
	{"GetTx", reading(func(b *faulted, _ string, j durablestore.Job) func() (durablestore.Job, error) {
		return func() (durablestore.Job, error) {
			return inTx(b, func(s durablestore.TxStore, tx durablestore.Tx) (durablestore.Job, error) {
				return s.GetTx(b.Context(), tx, j.ID)
			})
		}
	})},

	{"Insert", func(b *faulted) told { return b.inserting(these(1), durablestore.Placement{}) }},
	{"Insert with a key", func(b *faulted) told { return b.inserting(these(1, keyed), durablestore.Placement{}) }},
	{"Insert of several", func(b *faulted) told { return b.inserting(these(3), durablestore.Placement{}) }},
	{"Insert of several with keys", func(b *faulted) told { return b.inserting(these(3, keyed), durablestore.Placement{}) }},
	{"Insert of several with tags", func(b *faulted) told { return b.inserting(these(3, tagged), durablestore.Placement{}) }},
	{"Insert of a schedule that has other tags", func(b *faulted) told {
		jobs := these(1, keyed, tagged, func(i int, j *durablestore.NewJob) { every("1h")(j) })
		must(b.store.Insert(b.Context(), jobs, durablestore.Placement{}))
		gone := jobs[0].Tags[1]
		again := slices.Clone(jobs)
		again[0].ID = durablestore.NewID()
		tagged(0, &again[0])
		return told{
			call: func() (any, error) { return answer(b.store.Insert(b.Context(), again, durablestore.Placement{})) },
			wrong: func(any) string {
				if found := b.listed(gone); len(found) > 0 {
					return fmt.Sprintf("%d jobs are found by a tag that it no longer has", len(found))
				}
				return b.untagged(again)
			},
		}
	}},
	{"Insert for a node", func(b *faulted) told {
		node := b.node(fresh("node"))
		return b.inserting(these(1, keyed), durablestore.Placement{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 1})
	}},
	{"Insert of a schedule that is there", func(b *faulted) told {
		jobs := these(2, keyed, func(i int, j *durablestore.NewJob) { every("1h")(j) })
		must(b.store.Insert(b.Context(), jobs, durablestore.Placement{}))
		again := slices.Clone(jobs)
		for i := range again {
			again[i].ID, again[i].Payload = durablestore.NewID(), []byte("2")
		}
		t := b.inserting(jobs, durablestore.Placement{}) // they keep their IDs
		t.call = func() (any, error) { return answer(b.store.Insert(b.Context(), again, durablestore.Placement{})) }
		return t
	}},
	{"Insert that reuses a key", func(b *faulted) told {
		key := fresh("key")
		old := these(1, func(i int, j *durablestore.NewJob) { j.Key = key })
		must(b.store.Insert(b.Context(), old, durablestore.Placement{}))
		b.change(old[0].ID, durablestore.OpCancel, durablestore.Applied)
		return b.inserting(these(1, func(i int, j *durablestore.NewJob) { j.Key, j.ReuseKey = key, true }), durablestore.Placement{})
	}},
	{"Insert that takes the key of one that runs", func(b *faulted) told {
		node, key := b.node(fresh("node")), fresh("key")
		old := these(1, func(i int, j *durablestore.NewJob) { j.Key = key })
		must(b.store.Insert(b.Context(), old, durablestore.Placement{}))
		b.claimBy(claimOf(node, old[0].Kind, 1))
		t := b.inserting(these(1, func(i int, j *durablestore.NewJob) { j.Key = key; among()(j) }), durablestore.Placement{})
		wrong := t.wrong
		t.wrong = func(a any) string {
			if j := b.get(old[0].ID); j.Key != "" || j.State != durablestore.Confirmed {
				return fmt.Sprintf("the one that runs is %+v", j)
			}
			return wrong(a)
		}
		return t
	}},
	{"Insert in a queue", func(b *faulted) told {
		return b.inserting(these(2, func(i int, j *durablestore.NewJob) { j.Queue = "q" }), durablestore.Placement{})
	}},
	{"ClaimQueue", func(b *faulted) told { return b.claimingQueue(0, durablestore.Rate{}) }},
	{"ClaimQueue with limits", func(b *faulted) told {
		return b.claimingQueue(100, durablestore.Rate{Every: time.Microsecond, Burst: 1000})
	}},
	{"QueueNames", reading(func(b *faulted, _ string, _ durablestore.Job) func() ([]string, error) {
		queue := fresh("q")
		b.add(time.Hour, toQueue(queue))
		return func() ([]string, error) {
			all, err := b.store.QueueNames(b.Context())
			return slices.DeleteFunc(all, func(name string) bool { return name != queue }), err
		}
	})},
	{"QueueCounts", reading(func(b *faulted, _ string, _ durablestore.Job) func() ([]durablestore.QueueCount, error) {
		queue := fresh("q")
		b.add(time.Hour, toQueue(queue))
		return func() ([]durablestore.QueueCount, error) {
			all, err := b.store.QueueCounts(b.Context())
			return slices.DeleteFunc(all, func(c durablestore.QueueCount) bool { return c.Queue != queue }), err
		}
	})},
	{"DrainNode", func(b *faulted) told {
		name := b.node(fresh("node"))
		return told{
			call: func() (any, error) { return answer(b.store.DrainNode(b.Context(), name, true)) },
			wrong: func(a any) string {
				if !a.(bool) || !b.beat(name, lease).Draining {
					return "the node is to drain"
				}
				return ""
			},
		}
	}},
	{"Join", func(b *faulted) told {
		name := fresh("node")
		return told{
			call:  func() (any, error) { return answer(b.store.Join(b.Context(), name, lease)) },
			wrong: func(any) string { return b.missingNode(name) },
		}
	}},
	{"Heartbeat", func(b *faulted) told {
		name := b.node(fresh("node"))
		const longer = 2 * lease
		return told{
			call: func() (any, error) {
				return answer(b.store.Heartbeat(b.Context(), name, longer, durablestore.Watch{}))
			},
			wrong: func(any) string {
				for _, n := range must(b.store.Nodes(b.Context())) {
					if n.Name == name && n.Lease == longer {
						return ""
					}
				}
				return "the lease was not renewed"
			},
		}
	}},
	{"Heartbeat beside a dead node", func(b *faulted) told {
		name := b.node(fresh("node"))
		dead, jobs := b.given(2)
		b.begin(dead, jobs[0])
		must(b.store.Heartbeat(b.Context(), dead, -time.Second, durablestore.Watch{}))
		freed := 0
		return told{
			call: soon(func() (durablestore.HeartbeatResult, error) {
				p, err := b.store.Heartbeat(b.Context(), name, lease, durablestore.Watch{})
				freed += p.Freed
				return p, err
			}, func(durablestore.HeartbeatResult) bool {
				return !slices.ContainsFunc(jobs, func(j durablestore.Job) bool {
					got, err := b.store.Get(b.Context(), j.ID) // which may be what goes wrong
					return err != nil || got.State.Held()
				})
			}),
			wrong: func(a any) string {
				if !a.(durablestore.HeartbeatResult).Alive || freed > 2 {
					return fmt.Sprintf("two jobs were to be freed, and %d were", freed)
				}
				for i, j := range jobs {
					if got := b.get(j.ID); got.State != durablestore.Waiting {
						return fmt.Sprintf("job %d of the dead node is %+v", i, got)
					}
				}
				if n := len(must(b.store.Runs(b.Context(), jobs[0].ID, 0, 10))); n != 1 {
					return fmt.Sprintf("the job that was begun has %d runs", n)
				}
				return ""
			},
		}
	}},
	{"Leave", func(b *faulted) told {
		node, jobs := b.given(1)
		return told{
			call: func() (any, error) { return nothing(b.store.Leave(b.Context(), node)) },
			wrong: func(any) string {
				if got := b.get(jobs[0].ID); got.State != durablestore.Waiting || b.missingNode(node) == "" {
					return fmt.Sprintf("the node is there, or its job is %+v", got)
				}
				return ""
			},
		}
	}},
	{"Claim", func(b *faulted) told { return b.claiming(0) }},
	{"Claim with a limit for all nodes", func(b *faulted) told { return b.claiming(5) }},
	{"ClaimLimited", func(b *faulted) told {
		parts := func(i int, j *durablestore.NewJob) { j.Partition = []string{"", "p", "p"}[i] }
		return b.claimingBy(these(3, parts), func(r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
			r.Kinds[0].Rate, r.Kinds[0].PerPartition = durablestore.Rate{Every: time.Hour, Burst: 1000}, 2
			return b.store.ClaimLimited(b.Context(), r)
		})
	}},
	{"Release", func(b *faulted) told {
		node, jobs := b.given(2)
		return told{
			call: soon(func() (bool, error) { return b.store.Release(b.Context(), node, []durablestore.ID{jobs[0].ID}) },
				func(left bool) bool { return !left }),
			wrong: func(a any) string {
				kept, freed := b.get(jobs[0].ID), b.get(jobs[1].ID)
				if !kept.State.Held() || freed.State != durablestore.Waiting || a.(bool) {
					return fmt.Sprintf("the jobs are %+v and %+v", kept, freed)
				}
				return ""
			},
		}
	}},
	{"Commit", (*faulted).committing},
	{"Commit of a run that waits for a signal", (*faulted).committingSignaled},
	{"KeepStep", (*faulted).keepingStep},
	{"Signal", func(b *faulted) told { return b.signaling(false) }},
	{"Signal that is waited for", func(b *faulted) told { return b.signaling(true) }},
	{"KeptSteps", reading(keptSteps)},
	{"Insert with parents", func(b *faulted) told { return b.inserting(b.withParents(), durablestore.Placement{}) }},
	{"InsertTx with parents", func(b *faulted) told { return b.insertingTx(b.withParents()) }},
	{"Commit of a parent", (*faulted).committingParent},
	{"Commit of a parent that failed", (*faulted).committingFailedParent},
	{"CompleteTx of a parent", (*faulted).completingParent},
	{"Release of a parent", (*faulted).releasingParent},
	{"Heartbeat that finds a parent lost", (*faulted).losingParent},
	{"Change cancels a parent", func(b *faulted) told { return b.changingParent(durablestore.OpCancel) }},
	{"Change deletes a parent", func(b *faulted) told { return b.changingParent(durablestore.OpDelete) }},
	{"Change revives a child", (*faulted).revivingChild},
	{"Parents", readingGraph(func(b *faulted, f family) ([]durablestore.Job, error) {
		return b.store.Parents(b.Context(), f.child, 0, 5)
	})},
	{"Children", readingGraph(func(b *faulted, f family) ([]durablestore.Job, error) {
		return b.store.Children(b.Context(), f.child, durablestore.ID{}, 5)
	})},
	{"CountChildren", readingGraph(func(b *faulted, f family) ([]durablestore.Count, error) {
		return b.store.CountChildren(b.Context(), f.parent.ID)
	})},
	{"CountParents", readingGraph(func(b *faulted, f family) (durablestore.ParentCounts, error) {
		return b.store.CountParents(b.Context(), f.child)
	})},
	{"Change cancels", func(b *faulted) told {
		return b.changing(durablestore.Change{Op: durablestore.OpCancel}, durablestore.Canceled)
	}},
	{"Change pauses", func(b *faulted) told {
		return b.changing(durablestore.Change{Op: durablestore.OpPause}, durablestore.Paused)
	}},
	{"Change moves", func(b *faulted) told {
		return b.changing(durablestore.Change{Op: durablestore.OpMove, Queue: "q"}, durablestore.Waiting)
	}},
	{"Change deletes", func(b *faulted) told { return b.changing(durablestore.Change{Op: durablestore.OpDelete}, 0) }},
	{"PauseKind", func(b *faulted) told {
		kind := fresh("k")
		return told{
			call: func() (any, error) { return nothing(b.store.PauseKind(b.Context(), kind, true)) },
			wrong: func(any) string {
				if !slices.Contains(must(b.store.PausedKinds(b.Context())), kind) {
					return "the kind is not paused"
				}
				must(0, b.store.PauseKind(b.Context(), kind, false))
				return ""
			},
		}
	}},
	{"NoteAct", func(b *faulted) told {
		id := durablestore.NewID()
		return told{
			call: func() (any, error) {
				return nothing(b.store.NoteAct(b.Context(), durablestore.Act{Job: id, Action: "run", Who: "w", Answer: "applied"}))
			},
			wrong: func(any) string {
				if len(must(b.store.Acts(b.Context(), durablestore.ActFilter{Job: id, Limit: 5}))) == 0 {
					return "it was not noted"
				}
				return ""
			},
		}
	}},
	{"Report", func(b *faulted) told {
		node, jobs := b.given(1)
		j := b.begin(node, jobs[0])
		r := durablestore.Report{Details: &durablestore.NodeDetails{Host: "h"},
			Progress: []durablestore.RunProgress{{Job: j.ID, Epoch: j.Epoch, Done: 1, Total: 2, At: j.Started}}}
		return told{
			call: func() (any, error) { return nothing(b.store.Report(b.Context(), node, r)) },
			wrong: func(any) string {
				if len(must(b.store.Progress(b.Context(), []durablestore.ID{j.ID}))) != 1 {
					return "no progress is there"
				}
				return ""
			},
		}
	}},
	{"Prune", func(b *faulted) told {
		old := durablestore.Retention{Succeeded: 1, Dead: 1, History: 1}
		for must(b.store.Prune(b.Context(), old)) > 0 { // what other calls have left
		}
		removed := 0
		node, jobs := b.given(2)
		b.endRun(node, jobs[0], durablestore.Succeeded)
		b.endRun(node, jobs[1], durablestore.Dead)
		return told{
			counts: true,
			call: soon(func() (int, error) {
				n, err := b.store.Prune(b.Context(), old)
				removed += n
				return n, err
			}, func(int) bool {
				there, err := b.store.List(b.Context(), durablestore.Filter{Kind: jobs[0].Kind})
				return err == nil && len(there) == 0
			}),
			wrong: func(any) string {
				if there := b.ofKind(jobs[0].Kind); len(there) > 0 || removed > 4 {
					return fmt.Sprintf("of two jobs and two runs %d were removed, and %+v is there", removed, there)
				}
				return ""
			},
		}
	}},

	{"Now", func(b *faulted) told {
		before := must(b.store.Now(b.Context()))
		return told{
			call: func() (any, error) { return answer(b.store.Now(b.Context())) },
			wrong: func(a any) string {
				if a.(time.Time).Before(before) {
					return fmt.Sprintf("it was %v before", before)
				}
				return ""
			},
		}
	}},
	{"Get", reading(func(b *faulted, _ string, j durablestore.Job) func() (durablestore.Job, error) {
		return func() (durablestore.Job, error) { return b.store.Get(b.Context(), j.ID) }
	})},
	{"Find", reading(func(b *faulted, _ string, j durablestore.Job) func() (durablestore.Job, error) {
		added := b.add(time.Hour, key(fresh("key")))
		return func() (durablestore.Job, error) { return b.store.Find(b.Context(), added.Key) }
	})},
	{"List", reading(func(b *faulted, _ string, j durablestore.Job) func() ([]durablestore.Job, error) {
		return func() ([]durablestore.Job, error) {
			return b.store.List(b.Context(), durablestore.Filter{Kind: j.Kind})
		}
	})},
	{"Runs", reading(func(b *faulted, node string, j durablestore.Job) func() ([]durablestore.Run, error) {
		b.endRun(node, j, durablestore.Succeeded)
		return func() ([]durablestore.Run, error) { return b.store.Runs(b.Context(), j.ID, 0, 5) }
	})},
	{"Output", reading(func(b *faulted, node string, j durablestore.Job) func() ([]byte, error) {
		b.endRun(node, j, durablestore.Succeeded)
		run := must(b.store.Runs(b.Context(), j.ID, 0, 1))[0]
		return func() ([]byte, error) { return b.store.Output(b.Context(), j.ID, run.Seq) }
	})},
	{"Latest", reading(func(b *faulted, node string, j durablestore.Job) func() ([]durablestore.JobRun, error) {
		b.endRun(node, j, durablestore.Succeeded)
		f := durablestore.LatestFilter{Kind: j.Kind, Verdicts: []durablestore.Verdict{durablestore.RunSucceeded}, Limit: 5}
		return func() ([]durablestore.JobRun, error) { return b.store.Latest(b.Context(), f) }
	})},
	{"Dead", reading(func(b *faulted, node string, j durablestore.Job) func() ([]durablestore.DeadJob, error) {
		b.endRun(node, j, durablestore.Dead)
		return func() ([]durablestore.DeadJob, error) { return b.store.Dead(b.Context(), 1) }
	})},
	{"Progress", reading(func(b *faulted, node string, j durablestore.Job) func() ([]durablestore.RunProgress, error) {
		j = b.begin(node, j)
		must(0, b.store.Report(b.Context(), node, durablestore.Report{Progress: []durablestore.RunProgress{{Job: j.ID, Epoch: j.Epoch, Done: 1, At: j.Started}}}))
		return func() ([]durablestore.RunProgress, error) {
			return b.store.Progress(b.Context(), []durablestore.ID{j.ID})
		}
	})},
	{"Kinds", reading(func(b *faulted, _ string, _ durablestore.Job) func() ([]string, error) {
		b.add(time.Hour)
		return func() ([]string, error) { return sorted(b.store.Kinds(b.Context())) }
	})},
	{"Counts", reading(func(b *faulted, _ string, j durablestore.Job) func() ([]durablestore.Count, error) {
		return func() ([]durablestore.Count, error) {
			all, err := b.store.Counts(b.Context(), durablestore.Filter{})
			return slices.DeleteFunc(all, func(c durablestore.Count) bool { return c.Kind != j.Kind }), err
		}
	})},
	{"PausedKinds", reading(func(b *faulted, _ string, j durablestore.Job) func() ([]string, error) {
		must(0, b.store.PauseKind(b.Context(), j.Kind, true))
		b.Cleanup(func() { b.store.PauseKind(context.Background(), j.Kind, false) })
		return func() ([]string, error) { return sorted(b.store.PausedKinds(b.Context())) }
	})},
	{"Acts", reading(func(b *faulted, _ string, j durablestore.Job) func() ([]durablestore.Act, error) {
		must(0, b.store.NoteAct(b.Context(), durablestore.Act{Job: j.ID, Action: "run", Answer: "applied"}))
		return func() ([]durablestore.Act, error) {
			return b.store.Acts(b.Context(), durablestore.ActFilter{Job: j.ID, Limit: 5})
		}
	})},
	{"Nodes", reading(func(b *faulted, node string, _ durablestore.Job) func() ([]durablestore.NodeInfo, error) {
		return func() ([]durablestore.NodeInfo, error) {
			all, err := b.store.Nodes(b.Context())
			return slices.DeleteFunc(all, func(n durablestore.NodeInfo) bool { return n.Name != node }), err
		}
	})},
}

func sorted(all []string, err error) ([]string, error) {
	slices.Sort(all)
	return all, err
}

// missingNode returns what is wrong if a node is not alive.
func (b *bench) missingNode(name string) string {
	if !slices.ContainsFunc(must(b.store.Nodes(b.Context())), func(n durablestore.NodeInfo) bool { return n.Name == name }) {
		return "the node is not there"
	}
	return ""
}
