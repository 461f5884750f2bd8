package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Inserts that wait for a key, which an open transaction has taken, take no connection from the store nor from its
// users, and ten of their own, however many they are.
func TestInsertThatWaitsLeavesConnections(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	tx := must(store.DB().BeginTx(context.WithoutCancel(t.Context()), nil))
	defer tx.Rollback()
	j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 3}
	must(store.InsertTx(t.Context(), tx, []durable.NewJob{j}))
	const inserts = 20
	ids := make(chan durable.ID, inserts)
	for range inserts {
		again := j
		again.ID = durable.NewID()
		go func() {
			ids <- must(store.Insert(t.Context(), []durable.NewJob{again}, durablestore.Placement{}))[0].ID
		}()
	}
	waitForWaiting(t, store, 10)
	if n := store.DB().Stats().OpenConnections; n > 2 { // the transaction's, and that of the question
		t.Errorf("users have %d connections", n)
	}
	if p, err := store.Heartbeat(soon(t), "a", time.Hour, durablestore.Watch{}); err != nil || !p.Alive {
		t.Errorf("answer is %+v: %v", p, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for range inserts {
		if id := <-ids; id != j.ID {
			t.Errorf("added as %v, want %v", id, j.ID)
		}
	}
}

// A node that waits for a key, which an open transaction has taken, can be declared dead meanwhile; and the insert is
// done when the transaction is over.
func TestInsertThatWaitsKeepsNoNodeAlive(t *testing.T) {
	store := open(t, dsn(t))
	claimed(t, store, "dead", 1, 0)
	must(store.Join(t.Context(), "alive", time.Hour))
	j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 3}
	tx := must(store.DB().BeginTx(context.WithoutCancel(t.Context()), nil))
	defer tx.Rollback()
	must(store.InsertTx(t.Context(), tx, []durable.NewJob{j}))
	j.ID = durable.NewID()
	added := make(chan error, 1)
	go func() {
		p, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{Node: "dead", Limit: 1})
		if err == nil && (p[0].ID != j.ID || p[0].Held) {
			err = fmt.Errorf("added as %+v", p[0])
		}
		added <- err
	}()
	waitForWaiting(t, store, 1)
	must(store.Heartbeat(t.Context(), "dead", -time.Second, durablestore.Watch{}))
	for ctx, freed := soon(t), 0; freed == 0; {
		p, err := store.Heartbeat(ctx, "alive", time.Hour, durablestore.Watch{})
		if err != nil {
			t.Fatalf("the dead node keeps its job: %v", err)
		}
		freed = p.Freed
	}
	tx.Rollback()
	if err := <-added; err != nil {
		t.Error(err)
	}
}

// A transaction that adds a key which is taken leaves the job that has it free: its outcome can be committed while the
// transaction is open.
func TestInsertTxOfTakenKeyLocksNothing(t *testing.T) {
	store := open(t, dsn(t))
	j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 3}
	must(store.Join(t.Context(), "a", time.Hour))
	held := must(store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{Node: "a", Limit: 1}))[0]
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	j.ID = durable.NewID()
	if p := must(store.InsertTx(t.Context(), tx, []durable.NewJob{j})); p[0].ID != held.ID {
		t.Errorf("got %v, want %v", p[0].ID, held.ID)
	}
	o := durable.Outcome{Ref: durablestore.Ref{ID: held.ID, Epoch: held.Epoch}, State: durable.Succeeded, Due: held.Due,
		Occurrence: held.Occurrence}
	if s, err := store.Commit(soon(t),
		durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{o}}); err != nil || !s.Committed[0] {
		t.Errorf("%+v, %v", s, err)
	}
}

// What is registered again together is all changed, though it had to wait in the middle of it.
func TestInsertChangesAllThatIsRegisteredAgain(t *testing.T) {
	store := open(t, dsn(t))
	jobs := []durable.NewJob{
		{ID: durable.NewID(), Key: "first", Kind: "k", Schedule: "rate:1s", Attempts: 3},
		{ID: durable.NewID(), Key: "second", Kind: "k", Schedule: "rate:1s", Attempts: 3},
	}
	added := must(store.Insert(t.Context(), jobs, durablestore.Placement{}))
	end := leaveOpen(t, store, lockJob, uuidText(added[1].Job))
	errs := make(chan error, 1)
	go func() {
		for i := range jobs {
			jobs[i].ID, jobs[i].Schedule = durable.NewID(), "rate:2s"
		}
		_, err := store.Insert(t.Context(), jobs, durablestore.Placement{})
		errs <- err
	}()
	// Until it is not the first try any more, which ends soon.
	waitForPatient(t, store, 100*time.Millisecond)
	end()
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	for _, j := range added {
		if got := must(store.Get(t.Context(), j.ID)); got.Schedule != "rate:2s" {
			t.Errorf("%s: schedule is %s", j.Key, got.Schedule)
		}
	}
}

// A job that was accepted is there, though the commit that was to add it first has failed: its row came before.
func TestInsertCountsNoRowOfAFailedCommit(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`create sequence commits`))
	must(store.DB().Exec(`create function refuse() returns trigger language plpgsql as $$ begin
		if nextval('commits') = 1 then raise exception 'canceling statement due to lock timeout' using errcode = 'lock_not_available'; end if;
		return null;
	end $$`))
	must(store.DB().Exec(`create constraint trigger refuse after insert on executor_job deferrable initially deferred
		for each row execute function refuse()`))
	j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 3}
	if p := must(store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})); p[0].ID != j.ID || !p[0].Changed {
		t.Errorf("the answer is %+v", p[0])
	}
	if _, err := store.Get(t.Context(), j.ID); err != nil {
		t.Errorf("the job that was accepted: %v", err)
	}
	if n := must(count(store, "commits")); n != 2 {
		t.Errorf("%d commits were tried, want 2", n)
	}
}

func count(store *postgres.Store, sequence string) (n int, err error) {
	err = store.DB().QueryRow("select last_value from " + sequence).Scan(&n)
	return n, err
}

// A call that has to wait for a lock ends when it has the lock, whatever lock_timeout the role has.
func TestChangeWaitsBeyondTheRolesLockTimeout(t *testing.T) {
	store := open(t, dsn(t)+"&lock_timeout=50ms")
	j := claimed(t, store, "a", 1, 0)[0]
	end := leaveOpen(t, store, lockJob, uuidText(j))
	changed := make(chan error, 1)
	go func() {
		_, err := store.Change(t.Context(), j.ID, durable.Change{Op: durable.OpCancel})
		changed <- err
	}()
	for waiting := false; !waiting; { // for longer than that
		if err := store.DB().QueryRow("select exists (select from pg_locks l join pg_stat_activity using (pid) where not granted and now() - state_change > '200ms')").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-changed:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
	}
	end()
	if err := <-changed; err != nil {
		t.Error(err)
	}
}
