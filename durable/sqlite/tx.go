package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store"
)

// GetTx returns a job as the caller's transaction sees it. The transaction locks it already if it began as a writer, as
// those of DSN do.
func (s *Store) GetTx(ctx context.Context, tx durable.Tx, id durable.ID) (durable.Job, error) {
	j, err := inTx(ctx, tx, func(q *querier) (*durable.Job, error) { return q.get("where id = ?", id[:]) })
	if err == nil && j == nil {
		err = durable.ErrNotFound
	}
	return deref(j), err
}

// InsertTx adds jobs in the caller's transaction.
func (s *Store) InsertTx(ctx context.Context, tx durable.Tx, jobs []durable.NewJob) ([]durable.InsertResult, error) {
	return stepInTx(ctx, tx, func(q *querier) ([]durable.InsertResult, error) { return q.insert(jobs, store.Placement{}) })
}

// CompleteTx commits in the caller's transaction.
func (s *Store) CompleteTx(ctx context.Context, tx durable.Tx, b store.CommitRequest) (store.CommitResult, error) {
	return stepInTx(ctx, tx, func(q *querier) (store.CommitResult, error) { return q.commitAll(b) })
}

// stepInTx is inTx for what changes something: if that fails, the transaction is as it was before, whatever becomes of
// it.
func stepInTx[T any](ctx context.Context, of durable.Tx, fn func(q *querier) (T, error)) (T, error) {
	return inTx(ctx, of, func(q *querier) (v T, err error) {
		if _, err := q.exec("savepoint executor"); err != nil {
			return v, err
		}
		if v, err = fn(q); err != nil {
			q.exec("rollback to executor") // which fails if the transaction was undone
		}
		_, released := q.exec("release executor")
		return v, cmp.Or(err, released)
	})
}

// inTx runs fn in a caller's transaction, unless ctx has ended, and closes the statements that fn has prepared: the
// transaction would keep them until it ends, and may have many calls.
func inTx[T any](ctx context.Context, of durable.Tx, fn func(q *querier) (T, error)) (T, error) {
	var none T
	tx, ok := of.(*sql.Tx)
	if !ok {
		return none, argument.Invalid("durable/sqlite: transaction is a %T; it must be a *sql.Tx", of)
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	ctx = context.WithoutCancel(ctx) // it must not end between a failure and what undoes the rest
	stmts := make(map[string]statement)
	defer func() {
		for _, s := range stmts {
			s.Close()
		}
	}()
	v, err := fn(&querier{func(text string) (statement, error) {
		if s := stmts[text]; s != nil {
			return s, nil
		}
		s, err := tx.PrepareContext(ctx, text)
		if err != nil {
			return nil, foreign(err)
		}
		stmts[text] = standard{s}
		return standard{s}, nil
	}})
	if err != nil {
		return none, err
	}
	return v, nil
}

// foreign explains an error of preparing a statement in a transaction that is none of the store's file: there is no
// such table, or the language is another.
func foreign(err error) error {
	var lite *sqlite.Error
	if errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_ERROR {
		return argument.Invalid("durable/sqlite: transaction: it is in another file: begin it in a database opened by Store.DSN: %w", err)
	}
	return err
}
