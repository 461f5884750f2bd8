package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/internal/steptest"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
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

// waitForPatient waits until a statement has waited for a lock for longer than d. So that is not one which ends soon, if
// it has to wait.
func waitForPatient(t *testing.T, store *postgres.Store, d time.Duration) {
	t.Helper()
	for patient := false; !patient; {
		if err := store.DB().QueryRow("select exists (select from pg_locks join pg_stat_activity using (pid) where not granted and now() - state_change > make_interval(secs => $1))", d.Seconds()).Scan(&patient); err != nil {
			t.Fatal(err)
		}
	}
}

// must returns v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// soon returns a context that ends before a node would lose its lease: after two
// seconds, in steps that count no more than their length, however long they take. So
// it does not end because the machine stands still.
func soon(t *testing.T) context.Context {
	const step = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		for range 2 * time.Second / step {
			select {
			case <-time.After(step):
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-over })
	return ctx
}

// claimed returns jobs that are the node's, due, and so Confirmed, or ahead.
func claimed(t *testing.T, store *postgres.Store, node string, n int, ahead time.Duration) []durable.Job {
	t.Helper()
	must(store.Join(t.Context(), node, time.Hour))
	var jobs []durable.NewJob
	for range n {
		jobs = append(jobs, durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: ahead, Attempts: 3})
	}
	must(store.Insert(t.Context(), jobs, durablestore.Placement{}))
	c := must(store.Claim(t.Context(),
		durablestore.ClaimRequest{Node: node, Ahead: time.Hour, Limit: n, Kinds: []durablestore.KindLimit{{Kind: "k", Max: n}}}))
	if len(c.Jobs) != n {
		t.Fatalf("claimed %d jobs, want %d", len(c.Jobs), n)
	}
	return c.Jobs
}

// leave opens a transaction that has locked a row and does nothing more, until
// the function returned is called.
func leaveOpen(t *testing.T, store *postgres.Store, query string, args ...any) (end func()) {
	t.Helper()
	tx := must(store.DB().BeginTx(context.WithoutCancel(t.Context()), nil))
	if _, err := tx.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
	end = func() { tx.Rollback() }
	t.Cleanup(end)
	return end
}

// stall has the statements that have this text in them stop when they read that table, with snapshots that they have
// taken, until goOn is called.
func stall(t *testing.T, store *postgres.Store, table, text string) (goOn func()) {
	t.Helper()
	must(store.DB().Exec(fmt.Sprintf(`alter table %[1]s rename to %[1]s_real;
		create function stall() returns boolean language plpgsql as $$ begin
			if pg_catalog.strpos(pg_catalog.current_query(), '%[2]s') > 0 then
				perform pg_catalog.pg_advisory_xact_lock_shared('%[1]s_real'::regclass::oid::bigint);
			end if;
			return true;
		end $$;
		create view %[1]s as select * from %[1]s_real where stall()`, table, text)))
	return leaveOpen(t, store, fmt.Sprintf("select pg_advisory_xact_lock('%s_real'::regclass::oid::bigint)", table))
}

const lockJob = "select from executor_job where id = $1 for update"

func uuidText(j durable.Job) string { return j.ID.String() }

// server is shared by the tests; each has a schema of its own.
var server *pgtest.Server

func TestMain(m *testing.M) {
	if steptest.Child(func() (durable.Store, error) { return postgres.Open(os.Getenv(stepsDSN)) }) {
		return
	}
	os.Exit(pgtest.Main(func() int {
		defer closeLeft()
		return m.Run()
	}, &server, "fsync=off"))
}

// dsn returns the name of a schema that is empty.
func dsn(t *testing.T) string {
	t.Helper()
	return server.Schema(t)
}

// left are stores whose tests are over, by how they were opened.
var left struct {
	sync.Mutex
	stores map[string][]*postgres.Store
}

// ready returns a store that is empty: one that an earlier test has left, or a new one, which open opens. It is for the
// many tests of package storetest, most of which take less time than it takes to make the tables, to connect, and to
// plan each statement first.
func ready(t *testing.T, how string, open func() *postgres.Store) (store *postgres.Store) {
	t.Helper()
	left.Lock()
	if stores := left.stores[how]; len(stores) > 0 {
		store, left.stores[how] = stores[0], stores[1:]
	}
	left.Unlock()
	if store == nil {
		store = open()
	}
	t.Cleanup(func() {
		must(0, postgres.Empty(context.Background(), store))
		left.Lock()
		defer left.Unlock()
		if left.stores == nil {
			left.stores = make(map[string][]*postgres.Store)
		}
		left.stores[how] = append(left.stores[how], store)
	})
	return store
}

// closeLeft closes the stores that tests have left.
func closeLeft() {
	for _, stores := range left.stores {
		for _, store := range stores {
			store.Close()
		}
	}
}

// pooled is what a dsn has behind a pooler that pools transactions.
const pooled = "&default_query_exec_mode=exec"

// open opens a store, which is closed at the end of the test.
func open(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

var _ durablestore.TxStore = (*postgres.Store)(nil)

// before returns a dsn that names another server, at that port, before the one of dsn.
func before(dsn string, port int) string {
	return strings.Replace(dsn, "@127.0.0.1:", fmt.Sprintf("@127.0.0.1:%d,127.0.0.1:", port), 1) + "&target_session_attrs=read-write"
}
