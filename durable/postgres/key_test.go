package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// waitForWaiting waits until n statements wait for a lock.
func waitForWaiting(t *testing.T, store *postgres.Store, n int) {
	t.Helper()
	for waiting := 0; waiting < n; {
		if err := store.DB().QueryRow("select count(*) from pg_locks where not granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}

// Inserts that wait for a key, which a transaction has asked for that was left open,
// take no connection from the store nor from its users, and ten of their own,
// however many they are.
func TestInsertsThatWaitLeaveTheStoreAlone(t *testing.T) {
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
			ids <- must(store.Insert(t.Context(), []durable.NewJob{again}, durable.Placement{}))[0].ID
		}()
	}
	waitForWaiting(t, store, 10)
	if n := store.DB().Stats().OpenConnections; n > 2 { // the transaction's, and that of the question
		t.Errorf("users have %d connections", n)
	}
	if p, err := store.Heartbeat(soon(t), "a", time.Hour, durable.Watch{}); err != nil || !p.Alive {
		t.Errorf("pulse is %+v: %v", p, err)
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

// A key that a transaction has asked for, which was left open, keeps nobody from
// declaring a node dead that asks for the key as well; and that insert is done when
// the transaction is over.
func TestKeyInTransactionKeepsNoNodeAlive(t *testing.T) {
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
		p, err := store.Insert(t.Context(), []durable.NewJob{j}, durable.Placement{Node: "dead", Limit: 1})
		if err == nil && (p[0].ID != j.ID || p[0].Held) {
			err = fmt.Errorf("added as %+v", p[0])
		}
		added <- err
	}()
	waitForWaiting(t, store, 1)
	must(store.Heartbeat(t.Context(), "dead", -time.Second, durable.Watch{}))
	for ctx, freed := soon(t), 0; freed == 0; {
		p, err := store.Heartbeat(ctx, "alive", time.Hour, durable.Watch{})
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

// A key that is taken leaves the job that has it free to be settled, though the
// transaction that asked for the key stays open.
func TestTakenKeyInTransactionLocksNothing(t *testing.T) {
	store := open(t, dsn(t))
	j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 3}
	must(store.Join(t.Context(), "a", time.Hour))
	held := must(store.Insert(t.Context(), []durable.NewJob{j}, durable.Placement{Node: "a", Limit: 1}))[0]
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	j.ID = durable.NewID()
	if p := must(store.InsertTx(t.Context(), tx, []durable.NewJob{j})); p[0].ID != held.ID {
		t.Errorf("got %v, want %v", p[0].ID, held.ID)
	}
	o := durable.Outcome{Ref: durable.Ref{ID: held.ID, Epoch: held.Epoch}, State: durable.Succeeded, Due: held.Due, Occurrence: held.Occurrence}
	if s, err := store.Commit(soon(t), durable.CommitRequest{Node: "a", Outcomes: []durable.Outcome{o}}); err != nil || !s.Committed[0] {
		t.Errorf("%+v, %v", s, err)
	}
}

// A key, a kind or a prefix that no job can have, such as one with a zero byte, which
// PostgreSQL has no text for, is of no job; that is no failure of the database.
func TestTextThatNoJobCanHave(t *testing.T) {
	jobs := must(durable.New(durable.Config{Store: open(t, dsn(t))}))
	must(durable.Client[int, int](jobs, "k").Schedule(t.Context(), time.Hour, 1, durable.Key("key")))
	for _, text := range []string{"a\x00b", "\xff"} {
		if _, err := jobs.Find(t.Context(), text); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("Find(%q): %v", text, err)
		}
		for _, f := range []durable.Filter{{Kind: text}, {Prefix: text}} {
			if all, err := jobs.List(t.Context(), f); err != nil || len(all) != 0 {
				t.Errorf("List(%+v): %v, %v", f, all, err)
			}
		}
	}
}
