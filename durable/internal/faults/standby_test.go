//go:build linux

package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// The primary dies and its synchronous standby takes over. Nodes whose dsn names both go on by themselves, and no
// occurrence is lost, committed twice or begun early.
func TestHistoryWithFailoverToStandby(t *testing.T) {
	t.Parallel()
	server.Schema(t) // or there is no PostgreSQL here
	primary, err := pgserver.Start("fsync=off", "max_connections=200", "synchronous_standby_names=*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Stop)
	standby, err := primary.Standby("fsync=off", "max_connections=200")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Stop)

	f := newFleet(t, fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write", primary.Port, standby.Port))
	trial(t, f, 300, func() {
		f.start()
		f.start()
		f.reach(1)
		time.Sleep(lease)
		primary.Kill()
		promote(t, standby)
		time.Sleep(2 * lease)
	})
}

// promote makes a standby a primary. It does not wait for that: the statement's snapshot may stand in the way of what
// is still to be replayed.
func promote(t *testing.T, standby *pgserver.Server) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), standby.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var promoted bool
	if err := conn.QueryRow(t.Context(), "select pg_promote(false)").Scan(&promoted); err != nil || !promoted {
		t.Fatalf("the standby was promoted: %t, %v", promoted, err)
	}
}
