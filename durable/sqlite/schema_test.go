package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

// execute runs statements on a connection of its own.
func execute(t *testing.T, store *sqlite.Store, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of the version before is brought up to date with all that is in it, once; programs of that version use it
// then, as long as the migration lets them.
func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	before, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	j := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}
	if _, err := before.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{}); err != nil {
		t.Fatal(err)
	}
	defer sqlite.AddMigration("alter table executor_job add column later integer not null default 7")()
	for range 2 { // the second time there is nothing to do
		after, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := after.Get(t.Context(), j.ID); err != nil || got.State != durable.Waiting {
			t.Errorf("job is %+v: %v", got, err)
		}
		execute(t, after, "create table t (n integer check (n = 2))", "insert into t select count(*) from executor_schema",
			"drop table t")
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
	j.ID = durable.NewID()
	if _, err := before.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{}); err != nil {
		t.Errorf("a program of the version before: %v", err)
	}
}

// A migration that fails changes nothing, and is tried again.
func TestMigrateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	before, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	undo := sqlite.AddMigration("alter table executor_job add column later integer; create table executor_node (id text)")
	if after, err := sqlite.Open(path); err == nil {
		after.Close()
		t.Error("a migration that fails: no error")
	}
	undo()
	defer sqlite.AddMigration("alter table executor_job add column later integer")()
	after, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// A lease that ends later than it can, since the clock was put back, is cut down by the next heartbeat of another node:
// its owner may be dead.
func TestHeartbeatCutsLeaseAfterClockWasPutBack(t *testing.T) {
	store := open(t)
	for _, node := range []string{"dead", "alive"} {
		if _, err := store.Join(t.Context(), node, 40*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, store, "update executor_node set lease_until = lease_until + 3600000000")
	if _, err := store.Heartbeat(t.Context(), "alive", 40*time.Hour, durablestore.Watch{}); err != nil {
		t.Fatal(err)
	}
	execute(t, store, "create table t (n integer check (n = 0))", // an error, unless it is 0
		"insert into t select count(*) from executor_node where lease_until - lease > strftime('%s', 'now') * 1000000 + 60000000")
}

var _ durablestore.TxStore = (*sqlite.Store)(nil)

// A program uses a file that a newer one has made if that says that it may be used by programs of its version.
func TestOpenNewerSchemaThatAllowsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	execute(t, store, "insert into executor_schema (version, oldest) values (1000, 1)")
	newer, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	if _, err := newer.Join(t.Context(), "a", time.Hour); err != nil {
		t.Error(err)
	}
	execute(t, store, "update executor_schema set oldest = 1000")
	if _, err := sqlite.Open(path); !errors.Is(err, durable.ErrNewerSchema) {
		t.Error(err)
	}
}
