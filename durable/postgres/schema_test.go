package postgres_test

import (
	"errors"
	"fmt"
	executor "github.com/executor-go/executor"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/jackc/pgx/v5"
)

// makeFirst makes the schema of a store that of the first version.
func makeFirst(store *postgres.Store) {
	for _, statement := range []string{
		"alter table executor_job drop constraint executor_job_sound", "alter table executor_schema drop column oldest", "create index executor_run_finished on executor_run using brin (finished)", "alter table executor_job drop column lost", "alter table executor_job drop column meta", "alter table executor_job drop column label", "alter table executor_run drop column label", "drop table executor_tag", "alter table executor_job drop column tags", "alter table executor_job drop column part, drop column lined", "alter table executor_node drop column joined, drop column info",
		"alter table executor_run drop column output", "drop index executor_run_latest", "drop table executor_progress, executor_act, executor_step", "drop table executor_parent, executor_after", "alter table executor_job drop column family", "drop table executor_part, executor_limit, executor_pause, executor_begun", "alter table executor_job drop column suspect", "alter table executor_node drop column lease", "drop index executor_job_owner",
		sqlrow.SQL("create index executor_job_owner on executor_job (owner) where state in {Held}"), "alter table executor_job rename column pending to wish", "update executor_schema set version = 1",
	} {
		must(store.DB().Exec(statement))
	}
}

// A database of the first version is brought up to date with all that is in it.
func TestMigrateFirstSchema(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	held := claimed(t, store, "a", 2, 0)
	j, over := held[0], held[1]
	end := durable.Outcome{Ref: durablestore.Ref{ID: over.ID, Epoch: over.Epoch}, State: durable.Succeeded,
		Run: durable.Run{Verdict: durable.RunFailed, Finished: time.Now()}}
	must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{end}, History: 9}))
	makeFirst(store)
	migrated := open(t, dsn)
	must(migrated.Join(t.Context(), "b", time.Hour))
	if p := must(migrated.Heartbeat(t.Context(), "b", time.Hour, durablestore.Watch{})); p.Freed != 0 || !p.Alive {
		t.Errorf("answer is %+v", p)
	}
	if p := must(migrated.Heartbeat(t.Context(), "a", time.Hour, durablestore.Watch{})); !p.Alive {
		t.Error("the node of the older program was taken for dead")
	}
	failed := durable.LatestFilter{Verdicts: []durable.Verdict{durable.RunFailed}, Limit: 2}
	runs := must(migrated.Latest(t.Context(), failed))
	if len(runs) != 1 || runs[0].Job != over.ID {
		t.Errorf("runs are %+v", runs)
	}
	if data := must(migrated.Output(t.Context(), over.ID, 1)); data != nil {
		t.Errorf("output is %v", data)
	}
	nodes := must(migrated.Nodes(t.Context()))
	if i := slices.IndexFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == "a" }); i < 0 ||
		!nodes[i].Joined.IsZero() || nodes[i].Host != "" || nodes[i].Beat.IsZero() {
		t.Errorf("nodes are %+v", nodes)
	}
	if got := must(migrated.Get(t.Context(), j.ID)); got.Meta != nil || got.State != durable.Confirmed ||
		got.Owner != "a" {
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
	_, add := durable.Client[int, int](jobs, "k").Schedule(t.Context(), 0, 1)
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
	for oldest, want := range map[int]error{6: nil, 1000: durable.ErrNewerSchema} {
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
