package postgres_test

import (
	"errors"
	"fmt"
	executor "github.com/executor-go/executor"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/jackc/pgx/v5"
)

// later is a migration as a later version has it.
const later = "alter table executor_job add column later integer not null default 7"

// A database of the version before is brought up to date with all that is in it; nodes of that version go on, and start
// again, as long as the migration lets them.
func TestMigrate(t *testing.T) {
	dsn := dsn(t)
	before := open(t, dsn)
	j := claimed(t, before, "a", 1, 0)[0]
	func() {
		defer postgres.AddMigration(later)()
		for range 2 { // the second time there is nothing to do
			after := open(t, dsn)
			if got := must(after.Get(t.Context(), j.ID)); got.State != durable.Confirmed || got.Owner != "a" {
				t.Errorf("job is %+v", got)
			}
			var n int
			if err := after.DB().QueryRow("select later from executor_job").Scan(&n); err != nil || n != 7 {
				t.Errorf("the column has %d: %v", n, err)
			}
		}
	}()
	if p := must(before.Heartbeat(t.Context(), "a", time.Hour, durablestore.Watch{})); p.Freed != 0 || !p.Alive {
		t.Errorf("answer is %+v", p)
	}
	claimed(t, open(t, dsn), "b", 1, 0)
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
	must(owner.DB().Exec("update executor_schema set version = 1000, oldest = 1000"))
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
	defer postgres.AddMigration(later)()
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
		{"create role " + role + " login", `no schema of the search path exists that the role "` + role + `" may use`},
		{"grant usage on schema " + schema + " to " + role, `open the store once as a role that may make them`},
		{"", `grant the role "` + role + `" usage of the schema, and select, insert, update and delete on its tables`},
		{"alter role " + role + " set default_transaction_read_only = on; grant create on schema " + schema + " to " + role +
			"; drop table executor_schema, executor_job", "name the primary, or all servers with target_session_attrs=read-write"},
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

// The error of a call that writes, where the server takes no writes, says what to do about it.
func TestCallsNameReadOnlyServer(t *testing.T) {
	dsn := dsn(t)
	must(0, open(t, dsn).Close())
	store := open(t, dsn+"&default_transaction_read_only=on")
	jobs := must(durable.New(durable.Config{Store: store}))
	_, add := durable.KindOf[int, int](jobs, "k").Add(t.Context(), 1)
	_, change := jobs.Cancel(t.Context(), durable.NewID())
	for _, err := range []error{add, change} {
		if err == nil || !strings.Contains(err.Error(), "name the primary, or all servers with target_session_attrs=read-write") {
			t.Errorf("the error is %v", err)
		}
	}
	if all, err := jobs.List(t.Context(), durable.Filter{}); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// A program uses the tables that a newer one has made if these say that they may be used by programs of its version,
// and leaves their version alone.
func TestOpenNewerSchemaThatAllowsIt(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	for oldest, want := range map[int]error{1: nil, 1000: durable.ErrNewerSchema} {
		must(store.DB().Exec("update executor_schema set version = 1000, oldest = $1", oldest))
		newer, err := postgres.Open(dsn)
		if !errors.Is(err, want) {
			t.Errorf("oldest %d: %v", oldest, err)
		}
		if err == nil {
			claimed(t, newer, "a", 1, 0)
			must(0, newer.Close())
		}
		version := 0
		if must(0, store.DB().QueryRow("select version from executor_schema").Scan(&version)); version != 1000 {
			t.Errorf("the version is %d", version)
		}
	}
}

// MaxConns bounds what a store opens.
func TestMaxConns(t *testing.T) {
	dsn := dsn(t)
	if _, err := postgres.Open(dsn, postgres.MaxConns(3)); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("three: %v", err)
	}
	dsn += "&application_name=few"
	store, err := postgres.Open(dsn, postgres.MaxConns(5))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	must(store.Join(t.Context(), "a", time.Hour))
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			key := fmt.Sprint("key", i%5)
			for range 5 {
				must(store.Insert(t.Context(), []durable.NewJob{{ID: durable.NewID(), Key: key, Kind: "k", Schedule: "once",
					Attempts: 1}}, durablestore.Placement{}))
				must(store.Heartbeat(t.Context(), "a", time.Hour, durablestore.Watch{}))
			}
		})
	}
	calls.Wait()
	var n int
	must(0, open(t, dsn).DB().QueryRow("select count(*) from pg_stat_activity where application_name = 'few'").Scan(&n))
	if n > 5+3 { // with those of the store that asks
		t.Errorf("there are %d connections", n)
	}
}
