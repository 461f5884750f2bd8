package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// A primary that comes back after its standby was promoted takes writes, and is the first that the dsn names. A store
// that has seen the new one writes nothing to it: neither by new connections nor by one that it kept, nor over a pool.
func TestStoreRefusesPrimaryThatCameBack(t *testing.T) {
	dsn(t) // or there is no PostgreSQL here
	primary := must(pgserver.Start("fsync=off"))
	t.Cleanup(primary.Stop)
	standby := must(primary.Standby("fsync=off"))
	t.Cleanup(standby.Stop)
	both := fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable"+
		"&target_session_attrs=read-write", primary.Port, standby.Port)
	store, over := open(t, both), openPool(t, pool(t, both))
	old := map[string]*postgres.Store{"a store": store, "a store over a pool": over}
	insert := func(ctx context.Context, store *postgres.Store) error {
		job := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
		_, err := store.Insert(ctx, []durable.NewJob{job}, durablestore.Placement{})
		return err
	}
	count := func(s *pgserver.Server) (n int) {
		t.Helper()
		conn := must(pgx.Connect(t.Context(), s.DSN()))
		defer conn.Close(t.Context())
		if err := conn.QueryRow(t.Context(), "select count(*) from executor_job").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for what, store := range old {
		if err := insert(t.Context(), store); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	follows := must(pgx.Connect(t.Context(), standby.DSN()))
	defer follows.Close(context.Background())
	for replayed := 0; replayed < len(old); {
		follows.QueryRow(t.Context(), "select count(*) from executor_job").Scan(&replayed)
	}

	primary.Kill()
	must(follows.Exec(t.Context(), "select pg_promote()"))
	for what, store := range old {
		for err := insert(t.Context(), store); err != nil; err = insert(t.Context(), store) {
			if t.Context().Err() != nil {
				t.Fatalf("%s: %v", what, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := primary.Restart(); err != nil {
		t.Fatal(err)
	}
	before, after := count(primary), count(standby)
	for what, store := range old {
		// Each of these takes a connection of its own, most of them a new one.
		const calls = 8
		errs := make(chan error, calls)
		for range calls {
			go func() { errs <- insert(t.Context(), store) }()
		}
		for range calls {
			switch err := <-errs; {
			case err == nil:
				after++
			case store == over && strings.Contains(err.Error(), "it was the primary before a failover"):
				// The pool has made this connection, and goes by target_session_attrs alone.
			default:
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if got := count(primary); got != before {
		t.Errorf("%d jobs were written to the old primary", got-before)
	}
	if got := count(standby); got != after {
		t.Errorf("the new primary has %d jobs, want %d", got, after)
	}

	// If only the old one answers, that is an error which says so.
	standby.Kill()
	for what, store := range old {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := insert(ctx, store)
		for err != nil && !strings.Contains(err.Error(), "timeline") && ctx.Err() == nil { // of lost connections
			err = insert(ctx, store)
		}
		cancel()
		if err == nil || !strings.Contains(err.Error(), "it was the primary before a failover") {
			t.Errorf("%s, on the old primary alone: %v", what, err)
		}
	}
	if got := count(primary); got != before {
		t.Errorf("%d jobs were written to the old primary", got-before)
	}
}

// A connection that was kept to the old primary is not used again once the program has seen a later timeline.
func TestTimelinesLeaveOldConnection(t *testing.T) {
	store := open(t, dsn(t))
	db := store.DB()
	db.SetMaxOpenConns(1)
	session := func() (pid int) {
		t.Helper()
		if err := db.QueryRow("select pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	kept := session()
	if again := session(); again != kept {
		t.Fatalf("session %d, and then %d, without a reason", kept, again)
	}
	postgres.Seen(store, 7)
	if _, err := db.Exec("select 1"); err == nil || !strings.Contains(err.Error(), "seen timeline 7") {
		t.Errorf("after a later timeline was seen: %v", err)
	}
}
