package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/jackc/pgx/v5"
)

// makeFirst makes the schema of a store that of the first version.
func makeFirst(store *postgres.Store) {
	for _, statement := range []string{
		"alter table executor_job drop constraint executor_job_sound", "create index executor_run_finished on executor_run using brin (finished)", "alter table executor_job drop column lost", "drop table executor_limit, executor_pause, executor_begun", "alter table executor_job drop column suspect", "alter table executor_node drop column lease", "drop index executor_job_owner",
		sqlrow.SQL("create index executor_job_owner on executor_job (owner) where state in {Held}"), "alter table executor_job rename column pending to wish", "update executor_schema set version = 1",
	} {
		must(store.DB().Exec(statement))
	}
}

// A database of the first version is brought up to date with all that is in it.
func TestMigrateFirstSchema(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	j := claimed(t, store, "a", 1, 0)[0]
	makeFirst(store)
	migrated := open(t, dsn)
	must(migrated.Join(t.Context(), "b", time.Hour))
	if p := must(migrated.Heartbeat(t.Context(), "b", time.Hour, durable.Watch{})); p.Freed != 0 || !p.Alive {
		t.Errorf("answer is %+v", p)
	}
	if p := must(migrated.Heartbeat(t.Context(), "a", time.Hour, durable.Watch{})); !p.Alive {
		t.Error("the node of the older program was taken for dead")
	}
	if got := must(migrated.Get(t.Context(), j.ID)); got.State != durable.Confirmed || got.Owner != "a" {
		t.Errorf("job is %+v", got)
	}
}

// A role that may not make tables may use those that are there.
func TestOpenWithoutRightToMakeTables(t *testing.T) {
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
	if _, err := postgres.Open(strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1)); !errors.Is(err,
		durable.ErrNewerSchema) {
		t.Errorf("with a newer schema: %v", err)
	}
}

// A transaction that is open on a table which is to be changed, as that of a dump, holds up programs that open an older
// database, but not the nodes that use it.
func TestMigrateThatWaitsHoldsUpNoNode(t *testing.T) {
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

// The error of Open names the rights that the role lacks.
func TestOpenNamesMissingRights(t *testing.T) {
	dsn := dsn(t)
	owner := must(pgx.Connect(t.Context(), dsn))
	defer owner.Close(t.Context())
	config := owner.Config()
	schema := config.RuntimeParams["search_path"]
	role := "lacking_" + schema
	as := strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1)
	for _, step := range []struct{ statement, want string }{
		{"create role " + role + " login", `no schema of the search path is there and may be used by the role "` + role + `"`},
		{"grant usage on schema " + schema + " to " + role, `open the store once as a role that may make them`},
		{"", `grant the role "` + role + `" usage of the schema, and select, insert, update and delete on its tables`},
		{"alter role " + role + " set default_transaction_read_only = on; grant create on schema " + schema + " to " + role +
			"; drop table executor_schema", "name the primary, or all servers with target_session_attrs=read-write"},
	} {
		if step.statement == "" {
			must(0, open(t, dsn).Close())
		} else {
			must(owner.Exec(t.Context(), step.statement, pgx.QueryExecModeSimpleProtocol))
		}
		store, err := postgres.Open(as)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%q: %v", step.statement, err)
		}
	}
}
