package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/executor-go/executor/durable/store"
)

// A way runs a function, maybe again, with what runs its statements. It returns nil when what they have changed is
// committed.
type way func(ctx context.Context, fn func(q querier) error) error

// do runs fn in a way, and returns its result when that is committed. All that changes rows goes through it: the rows
// of a statement arrive before its commit, which can fail still, by a lock that it has to wait for, a full disk or a
// broken line. With an error there is no result, whatever fn has read.
//
// An error with a code is the server's: what it answers was not committed. With any other, which is mostly that of a
// line, it may have been; no method takes it for an answer, and each can be called again.
func do[T any](ctx context.Context, by way, fn func(q querier) (T, error)) (T, error) {
	var v, none T
	before := canceledWaits.Load()
	err := by(ctx, func(q querier) (err error) {
		v, err = fn(q)
		return err
	})
	if err == nil && canceledWaits.Load() != before {
		err = errCanceledWait
	}
	switch {
	case code(err) == diskFull:
		return none, fmt.Errorf("%w: make room on the disk of the server (%w)", store.ErrFull, err)
	case err != nil:
		return none, err
	}
	return v, nil
}

// diskFull is the code of the server if it has no room.
const diskFull = "53100"

// exec is do for a statement without a result.
func exec(ctx context.Context, by way, statement string, args ...any) error {
	_, err := do(ctx, by, func(q querier) (struct{}, error) { return struct{}{}, q.exec(ctx, statement, args...) })
	return err
}

// canceledWaits counts the commits of this program that the server has reported as done, with a warning, since its wait
// for a synchronous standby was canceled. It does not matter if a call takes that of another for its own: it is made
// again, and waits for the standby, see follow.
var canceledWaits atomic.Int64

var errCanceledWait = errors.New("durable/postgres: the wait of a commit for the synchronous standby was canceled: what was committed may not be there")

// noteCanceledWaits returns a function for Config.OnNotice. A warning has no code of its own, and its text is that of
// the server's language.
func noteCanceledWaits(next pgconn.NoticeHandler) pgconn.NoticeHandler {
	return func(conn *pgconn.PgConn, n *pgconn.Notice) {
		if n.Routine == "SyncRepWaitForLSN" {
			canceledWaits.Add(1)
		}
		if next != nil {
			next(conn, n)
		}
	}
}

// each commits each statement by itself.
func each(db *sql.DB) way {
	return func(ctx context.Context, fn func(q querier) error) error { return fn(standard{db}) }
}

// together commits all statements in one transaction, which begins again if the server broke it off for another one.
func together(db *sql.DB) way {
	return func(ctx context.Context, fn func(q querier) error) error {
		var err error
		for range 5 {
			if err = transact(ctx, db, fn); !broken(err) {
				break
			}
		}
		return err
	}
}

func transact(ctx context.Context, db *sql.DB, fn func(q querier) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(standard{tx}); err != nil {
		return err
	}
	return tx.Commit()
}

// broken reports whether err is a deadlock or a failure to serialize.
func broken(err error) bool { return code(err) == "40P01" || code(err) == "40001" }

// call is do for a user's call, in a transaction. That may have to wait for a row until a person ends another one, and
// does so with a connection that no other call needs; then waits is true, and only ctx ends it: a lock_timeout of the
// role would be an error even where the commit waits, which no user has asked to.
func call[T any](ctx context.Context, s *Store, fn func(tx querier, waits bool) (T, error)) (T, error) {
	try := func(db *sql.DB, patience string, waits bool) (T, error) {
		return do(ctx, together(db), func(tx querier) (none T, err error) {
			if err := tx.exec(ctx, "select "+patience); err != nil {
				return none, err
			}
			return fn(tx, waits)
		})
	}
	v, err := try(s.calls, hasty, false)
	if code(err) == lockNotAvailable {
		v, err = try(s.queue, endless, true)
	}
	return v, explain(err, s.config.User)
}
