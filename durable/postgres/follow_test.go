package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
	"github.com/jackc/pgx/v5"
)

// A job that is added again, since the first call gave up while the synchronous standby did not answer, is accepted
// when the standby has it, and not before: whether it is found by its ID or by its key, and also in a transaction.
func TestInsertAgainWaitsForTheStandby(t *testing.T) {
	store, _, standby := withStandby(t)
	first := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 1}
	again := first
	again.ID = durable.NewID()
	insert := func(j durable.NewJob) func(context.Context, *postgres.Store) error {
		return func(ctx context.Context, store *postgres.Store) error {
			_, err := store.Insert(ctx, []durable.NewJob{j}, durablestore.Placement{})
			return err
		}
	}
	inTx := func(ctx context.Context, store *postgres.Store) error {
		tx, err := store.DB().BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		_, err = store.InsertTx(ctx, tx, []durable.NewJob{again})
		return errors.Join(err, tx.Commit())
	}
	standby("gone")
	for _, call := range []struct {
		name string
		do   func(context.Context, *postgres.Store) error
	}{{"first", insert(first)}, {"same ID", insert(first)}, {"same key", insert(again)}, {"in a transaction", inTx}} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := call.do(ctx, store); err == nil {
			t.Errorf("%s: accepted without the standby", call.name)
		}
		cancel()
		for found := false; !found; { // the first call may be about to give up
			_, err := store.Find(t.Context(), "key")
			found = err == nil
		}
	}
	standby("")
	for _, do := range []func(context.Context, *postgres.Store) error{insert(first), insert(again), inTx} {
		if err := do(t.Context(), store); err != nil {
			t.Error(err)
		}
	}
}

// A call whose wait for the synchronous standby the operator has canceled is not answered as if the standby had it: with
// the server it would be lost.
func TestCanceledWaitForTheStandbyIsNoAnswer(t *testing.T) {
	store, operator, standby := withStandby(t)
	must(store.Join(t.Context(), "node", time.Hour))
	waiting := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	must(store.Insert(t.Context(), []durable.NewJob{waiting}, durablestore.Placement{}))
	standby("gone")
	for name, do := range map[string]func() error{
		"insert": func() error {
			j := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
			placed, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})
			if placed != nil {
				t.Errorf("the answer is %+v", placed)
			}
			return err
		},
		"insert with a key to reuse": func() error {
			j := durable.NewJob{ID: durable.NewID(), Key: "key", ReuseKey: true, Kind: "k", Schedule: "once", Attempts: 1}
			_, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{})
			return err
		},
		"claim": func() error {
			_, err := store.Claim(t.Context(), durablestore.ClaimRequest{Node: "node", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}})
			return err
		},
		"pause": func() error { return store.PauseKind(t.Context(), "k", true) },
	} {
		ended := make(chan error, 1)
		go func() { ended <- do() }()
		for over := false; !over; {
			select {
			case err := <-ended:
				if over = true; err == nil || !strings.Contains(err.Error(), "synchronous standby") {
					t.Errorf("%s: %v", name, err)
				}
			default: // there may be others that wait
				must(operator.Exec(t.Context(), "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query not like '%pg_notify%'"))
			}
		}
	}
	standby("")
}

// withStandby returns a store on a server of its own, a session on that whose commits do not wait, and a function by
// which those of others wait for a standby that is not there, and, with an empty name, do not wait.
func withStandby(t *testing.T) (store *postgres.Store, operator *pgx.Conn, standby func(names string)) {
	dsn(t) // or there is no PostgreSQL here
	primary, err := pgserver.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Stop)
	store = open(t, primary.DSN())
	operator = must(pgx.Connect(t.Context(), primary.DSN()))
	t.Cleanup(func() { operator.Close(context.Background()) })
	must(operator.Exec(t.Context(), "set synchronous_commit = local"))
	return store, operator, func(names string) {
		t.Helper()
		must(operator.Exec(t.Context(), "alter system set synchronous_standby_names = '"+names+"'"))
		must(operator.Exec(t.Context(), "select pg_reload_conf()"))
		// The server decides in a process of its own whether commits wait: later than its sessions have the setting.
		for commitsSoon(t, operator, primary.DSN()) != (names == "") {
		}
	}
}

// commitsSoon reports whether a commit returns, or waits for a standby.
func commitsSoon(t *testing.T, operator *pgx.Conn, dsn string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			_, err = conn.Exec(ctx, "select pg_logical_emit_message(true, '', '')")
			conn.Close(context.Background())
		}
		ended <- err
	}()
	for waits := false; !waits; {
		select {
		case err := <-ended:
			cancel()
			must(0, err)
			return true
		default:
			must(0, operator.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event = 'SyncRep')").Scan(&waits))
		}
	}
	cancel()
	<-ended
	return false
}
