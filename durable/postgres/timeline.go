package postgres

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// timelines are the latest timelines that a program has seen of each database cluster. A primary that comes back after
// its standby was promoted takes writes as before, and nobody else has them: it is on an older timeline, by which it is
// refused. Other clusters have other identifiers, as one after an upgrade to another major version has.
type timelines struct {
	mu     sync.Mutex
	latest map[string]uint64
}

// place is where a server was when a connection was made: its cluster and timeline. A standby has none, nor does a
// server that does not say.
type place struct {
	cluster  string
	timeline uint64
}

const whereIs = `select system_identifier, case when pg_catalog.pg_is_in_recovery() then '' else
	pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()) end from pg_catalog.pg_control_system()`

// whereKept is where a connection has its place.
const whereKept = "executor: place"

// validating returns a function for Config.ValidateConnect that declines a server on an old timeline, so that the
// driver tries the next one that the dsn names.
func (t *timelines) validating(next pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if next != nil {
			if err := next(ctx, conn); err != nil {
				return err
			}
		}
		return t.look(ctx, conn)
	}
}

// look notes where the server of a new connection is, and returns an error if that is an old timeline.
func (t *timelines) look(ctx context.Context, conn *pgconn.PgConn) error {
	at := place{}
	results, err := conn.Exec(ctx, whereIs).ReadAll()
	switch {
	case err != nil && (ctx.Err() != nil || conn.IsClosed()):
		return err
	case err == nil && len(results) == 1 && len(results[0].Rows) == 1: // else it does not say
		row := results[0].Rows[0]
		at.cluster = string(row[0])
		at.timeline, _ = strconv.ParseUint(string(row[1][:min(8, len(row[1]))]), 16, 32)
	}
	conn.CustomData()[whereKept] = at
	return t.check(at)
}

// check notes a place, and returns an error if its timeline is an old one.
func (t *timelines) check(at place) error {
	if at.timeline == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	latest := t.latest[at.cluster]
	if at.timeline < latest {
		return fmt.Errorf("the server is on timeline %d, and this program has seen timeline %d: it was the primary before a failover;"+
			" stop it, or make it a standby; to go back to it, restart the program", at.timeline, latest)
	}
	if t.latest == nil {
		t.latest = make(map[string]uint64)
	}
	t.latest[at.cluster] = at.timeline
	return nil
}

// leave closes a connection that is not to be used again, see the other leave, or whose server is on an old timeline.
func (t *timelines) leave(ctx context.Context, conn *pgx.Conn) error {
	if at, ok := conn.PgConn().CustomData()[whereKept].(place); ok {
		if err := t.check(at); err != nil {
			return fmt.Errorf("%w: %w", err, driver.ErrBadConn)
		}
	}
	return leave(ctx, conn)
}
