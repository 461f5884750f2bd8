package postgres_test

import (
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// childOf adds a job that waits for all of these.
func childOf(t *testing.T, store *postgres.Store, parents ...durable.Job) durable.ID {
	t.Helper()
	n := durable.NewJob{ID: durable.NewID(), Kind: "child", Schedule: "once", Attempts: 3, After: durablestore.After{Need: len(parents)}}
	for _, p := range parents {
		n.After.Parents = append(n.After.Parents, p.ID)
	}
	must(store.Insert(t.Context(), []durable.NewJob{n}, durablestore.Placement{}))
	return n.ID
}

// success is the end of a run.
func success(j durable.Job) durable.Outcome {
	return durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded, Due: j.Due, Occurrence: j.Occurrence}
}

// A transaction that was left open and has a child locked does not hold up the ends of its parents, nor other children.
// The child follows with the next heartbeat of any node when it has ended.
func TestLockedChildHoldsUpNoParent(t *testing.T) {
	store := open(t, dsn(t))
	parents := claimed(t, store, "a", 2, 0)
	locked, free := childOf(t, store, parents...), childOf(t, store, parents...)
	end := leaveOpen(t, store, lockJob, locked.String())
	r := must(store.Commit(soon(t), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(parents[0]), success(parents[1])}}))
	if len(r.Locked) > 0 || !r.Committed[0] || !r.Committed[1] || !r.Released {
		t.Errorf("the answer is %+v", r)
	}
	for id, want := range map[durable.ID]durable.State{locked: durable.Blocked, free: durable.Waiting} {
		if j := must(store.Get(t.Context(), id)); j.State != want {
			t.Errorf("it is %v, want %v", j.State, want)
		}
	}
	must(store.Join(t.Context(), "b", time.Hour))
	must(store.Heartbeat(soon(t), "b", time.Hour, durablestore.Watch{})) // does not wait for it, either
	end()
	must(store.Heartbeat(t.Context(), "b", time.Hour, durablestore.Watch{}))
	if j := must(store.Get(t.Context(), locked)); j.State != durable.Waiting {
		t.Errorf("after the transaction it is %v", j.State)
	}
}

// A transaction that was left open and has added a child holds up the ends of its parents, but of no other job.
func TestChildInOpenTransactionHoldsUpItsParentsAlone(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 3, 0)
	other := childOf(t, store, jobs[2])
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	child := durable.NewJob{ID: durable.NewID(), Kind: "child", Schedule: "once", Attempts: 3,
		After: durablestore.After{Parents: []durable.ID{jobs[0].ID}, Need: 1}}
	must(store.InsertTx(t.Context(), tx, []durable.NewJob{child}))
	b := durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(jobs[0]), success(jobs[1]), success(jobs[2])}}
	r := must(store.Commit(soon(t), b))
	if len(r.Locked) != 1 || r.Locked[0].ID != jobs[0].ID || r.Committed[0] || !r.Committed[1] || !r.Committed[2] {
		t.Errorf("the answer is %+v, want that the first is locked", r)
	}
	if j := must(store.Get(t.Context(), other)); j.State != durable.Waiting {
		t.Errorf("the child of another is %v", j.State)
	}
	must(0, tx.Commit())
	if r := must(store.Commit(t.Context(), b)); len(r.Locked) > 0 || !r.Committed[0] {
		t.Errorf("the answer is %+v", r)
	}
	if j := must(store.Get(t.Context(), child.ID)); j.State != durable.Waiting {
		t.Errorf("the child is %v", j.State)
	}
}

// A run that ends in a transaction at REPEATABLE READ which can't see a child that was added since fails to end: or the
// child would wait for ever.
func TestCompleteTxMissesNoChild(t *testing.T) {
	store := open(t, dsn(t))
	parent := claimed(t, store, "a", 1, 0)[0]
	first := childOf(t, store, parent)
	b := durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(parent)}}
	tx := must(store.DB().BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
	defer tx.Rollback()
	must(store.GetTx(t.Context(), tx, first)) // its snapshot is from here
	second := childOf(t, store, parent)
	if r, err := store.CompleteTx(t.Context(), tx, b); err == nil && r.Committed[0] {
		t.Errorf("the answer is %+v", r)
	}
	must(0, tx.Rollback())
	again := must(store.DB().BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
	defer again.Rollback()
	must(store.CompleteTx(t.Context(), again, b))
	must(0, again.Commit())
	if r := must(store.Commit(t.Context(), b)); !r.Committed[0] || !r.Released {
		t.Errorf("the answer is %+v", r)
	}
	for _, id := range []durable.ID{first, second} {
		if j := must(store.Get(t.Context(), id)); j.State != durable.Waiting {
			t.Errorf("the child is %v", j.State)
		}
	}
}

// Jobs without children are committed by one statement, and added by one, whatever other jobs wait for.
func TestJobsWithoutChildrenTakeOneStatement(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 4, 0)
	childOf(t, store, jobs[3])
	b := durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(jobs[0]), success(jobs[1]), success(jobs[2])}}
	if n := must(postgres.CommitStatements(t.Context(), store, b)); n != 1 {
		t.Errorf("they were committed by %d statements", n)
	}
	n := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}
	if n := must(postgres.Statements(t.Context(), store, []durable.NewJob{n})); n != 1 {
		t.Errorf("one was added by %d statements", n)
	}
	if j := must(store.Get(t.Context(), jobs[2].ID)); j.State != durable.Succeeded {
		t.Errorf("it is %v", j.State)
	}
}

// A job that is added with a parent in its list which stands for a job that is removed at the same moment is canceled,
// as is one whose parent is removed later.
func TestParentOfTheListIsRemovedMeanwhile(t *testing.T) {
	store := open(t, dsn(t))
	parent := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Delay: time.Hour, Attempts: 1}
	there := must(store.Insert(t.Context(), []durable.NewJob{parent}, durablestore.Placement{}))[0].ID
	parent.ID = durable.NewID()
	child := durable.NewJob{ID: durable.NewID(), Kind: "child", Schedule: "once", Attempts: 1,
		After: durablestore.After{Parents: []durable.ID{parent.ID}, Need: 1}}
	removal := must(store.DB().BeginTx(t.Context(), nil))
	defer removal.Rollback()
	must(removal.Exec(lockJob, there.String()))
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	var wg sync.WaitGroup
	wg.Go(func() {
		if p, err := store.InsertTx(t.Context(), tx, []durable.NewJob{parent, child}); err != nil || p[0].ID != there || p[1].State != durable.Canceled {
			t.Errorf("the insert was answered %+v: %v", p, err)
		}
	})
	waitForWaiting(t, store, 1)
	must(removal.Exec("delete from executor_job where id = $1", there.String()))
	must(0, removal.Commit())
	wg.Wait()
	must(0, tx.Commit())
	want := durablestore.ParentFailed(there, durable.Canceled)
	if j := must(store.Get(t.Context(), child.ID)); j.State != durable.Canceled || j.Error != want {
		t.Errorf("it is %v, with the error %q", j.State, j.Error)
	}
	if c := must(store.CountParents(t.Context(), child.ID)); c.Total != 1 || c.Failed != 1 {
		t.Errorf("the parents are %+v", c)
	}
}

// A job that gets a child while a prune is about to remove it is kept for that.
func TestPruneKeepsWhatGetsAChildMeanwhile(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 2, 0)
	must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{success(jobs[0])}}))
	must(store.Change(t.Context(), childOf(t, store, jobs...), durable.Change{Op: durable.OpCancel}))
	goOn := stall(t, store, "executor_parent", "gone as (")
	var wg sync.WaitGroup
	wg.Go(func() { must(store.Prune(t.Context(), durable.Retention{Succeeded: 1})) })
	waitForWaiting(t, store, 1)
	childOf(t, store, jobs...)
	goOn()
	wg.Wait()
	if _, err := store.Get(t.Context(), jobs[0].ID); err != nil {
		t.Errorf("of the parent: %v", err)
	}
}
