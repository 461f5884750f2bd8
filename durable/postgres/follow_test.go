package postgres_test

import (
	"context"
	"errors"
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
	dsn(t) // or there is no PostgreSQL here
	primary, err := pgserver.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Stop)
	store := open(t, primary.DSN())
	operator := must(pgx.Connect(t.Context(), primary.DSN()))
	defer operator.Close(context.Background())
	must(operator.Exec(t.Context(), "set synchronous_commit = local"))
	// The server decides in a process of its own whether commits wait: later than its sessions have the setting.
	standby := func(names string) {
		t.Helper()
		must(operator.Exec(t.Context(), "alter system set synchronous_standby_names = '"+names+"'"))
		must(operator.Exec(t.Context(), "select pg_reload_conf()"))
		for commitsSoon(t, operator, primary.DSN()) != (names == "") {
		}
	}

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
