package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
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

// A file of the first version is brought up to date with all that is in it.
func TestMigrateFirstSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Join(t.Context(), "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	j := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}
	if _, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{Node: "a", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	over := durable.NewJob{ID: durable.NewID(), Key: "over", Kind: "k", Schedule: "once", Attempts: 3}
	if _, err := store.Insert(t.Context(), []durable.NewJob{over}, durablestore.Placement{Node: "a", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	end := durable.Outcome{Ref: durablestore.Ref{ID: over.ID, Epoch: 1}, State: durable.Succeeded,
		Run: durable.Run{Verdict: durable.RunFailed, Finished: time.Now()}}
	b := durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{end}, History: 9}
	if _, err := store.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := store.Downgrade(1); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if store, err = sqlite.Open(path); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, node := range []string{"a", "b"} {
		if _, err := store.Join(t.Context(), "b", time.Hour); err != nil {
			t.Fatal(err)
		}
		if p, err := store.Heartbeat(t.Context(), node, time.Hour, durablestore.Watch{}); err != nil || !p.Alive ||
			p.Freed != 0 {
			t.Errorf("answer is %+v: %v", p, err)
		}
	}
	failed := durable.LatestFilter{Verdicts: []durable.Verdict{durable.RunFailed}, Limit: 2}
	runs, err := store.Latest(t.Context(), failed)
	if err != nil || len(runs) != 1 || runs[0].Job != over.ID || runs[0].Key != "over" {
		t.Errorf("runs are %+v: %v", runs, err)
	}
	if data, err := store.Output(t.Context(), over.ID, 1); err != nil || data != nil {
		t.Errorf("output is %v: %v", data, err)
	}
	nodes, err := store.Nodes(t.Context())
	if i := slices.IndexFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == "a" }); err != nil || i < 0 ||
		!nodes[i].Joined.IsZero() || nodes[i].Host != "" || nodes[i].Beat.IsZero() {
		t.Errorf("nodes are %+v: %v", nodes, err)
	}
	if got, err := store.Get(t.Context(), j.ID); err != nil || got.Meta != nil || got.State != durable.Confirmed ||
		got.Owner != "a" {
		t.Errorf("job is %+v: %v", got, err)
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
	execute(t, store, "insert into executor_schema (version, oldest) values (1000, 6)")
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
