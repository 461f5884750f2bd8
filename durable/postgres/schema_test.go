package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
)

// makeFirst makes the schema of a store that of the first version.
func makeFirst(store *postgres.Store) {
	for _, statement := range []string{
		"create index executor_run_finished on executor_run using brin (finished)", "alter table executor_job drop column lost", "drop table executor_limit, executor_pause", "alter table executor_node drop column lease", "drop index executor_job_owner",
		sqlrow.SQL("create index executor_job_owner on executor_job (owner) where state in {Held}"), "alter table executor_job rename column pending to wish", "update executor_schema set version = 1",
	} {
		must(store.DB().Exec(statement))
	}
}

// A database of the first version is brought up to date with all that is in it.
func TestFirstSchemaIsMigrated(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	j := claimed(t, store, "a", 1, 0)[0]
	makeFirst(store)
	migrated := open(t, dsn)
	must(migrated.Join(t.Context(), "b", time.Hour))
	if p := must(migrated.Heartbeat(t.Context(), "b", time.Hour, durable.Watch{})); p.Freed != 0 || !p.Alive {
		t.Errorf("pulse is %+v", p)
	}
	if p := must(migrated.Heartbeat(t.Context(), "a", time.Hour, durable.Watch{})); !p.Alive {
		t.Error("the node of the older program was taken for dead")
	}
	if got := must(migrated.Get(t.Context(), j.ID)); got.State != durable.Running || got.Owner != "a" {
		t.Errorf("job is %+v", got)
	}
}

// A lease that ends later than it can, since the server's clock was put back, is
// cut down by the next beat of another node: its owner may be dead.
func TestLeaseIsCutAfterTheClockWasPutBack(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "dead", time.Minute))
	must(store.Join(t.Context(), "alive", time.Minute))
	must(store.DB().Exec("update executor_node set lease_until = lease_until + 3600000000"))
	p := must(store.Heartbeat(t.Context(), "alive", time.Minute, durable.Watch{}))
	var until int64
	if err := store.DB().QueryRow("select lease_until from executor_node where id = 'dead'").Scan(&until); err != nil {
		t.Fatal(err)
	}
	if left := time.UnixMicro(until).Sub(p.Now); left != time.Minute {
		t.Errorf("the lease ends in %v", left)
	}
}

var _ durable.TxStore = (*postgres.Store)(nil)

// A role that may not make tables may use those that are there.
func TestOpenWithoutTheRightToMakeTables(t *testing.T) {
	dsn := dsn(t)
	owner := open(t, dsn)
	config := must(pgx.ParseConfig(dsn))
	schema := config.RuntimeParams["search_path"]
	role := "app_" + schema
	for _, statement := range []string{
		"create role " + role + " login", "grant usage on schema " + schema + " to " + role,
		"grant select, insert, update, delete on all tables in schema " + schema + " to " + role,
	} {
		must(owner.DB().Exec(statement))
	}
	app := open(t, strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1))
	claimed(t, app, "a", 1, 0)
	must(owner.DB().Exec("update executor_schema set version = 1000"))
	if _, err := postgres.Open(strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1)); !errors.Is(err, durable.ErrNewerSchema) {
		t.Errorf("with a newer schema: %v", err)
	}
}

// A transaction that was left open on a table which is to be changed, as that of a
// dump, holds up whoever opens an older database, but not the nodes that use it.
func TestMigrationThatWaitsHoldsUpNobody(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	must(store.Join(t.Context(), "a", time.Hour))
	makeFirst(store)
	end := leaveOpen(t, store, "select from executor_job")
	opened := make(chan error, 1)
	go func() {
		migrated, err := postgres.Open(dsn)
		if err == nil {
			err = migrated.Close()
		}
		opened <- err
	}()
	waitForWaiting(t, store, 1)
	if _, err := store.DB().ExecContext(soon(t), "update executor_job set updated = 0"); err != nil {
		t.Error(err)
	}
	waitForWaiting(t, store, 1)
	end()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
