package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Tx converts a transaction of pgx, from a pgxpool.Pool or a pgx.Conn, for AddTx and CompleteTx. It must meet the
// same conditions as a transaction of database/sql, see Store.DB:
//
//	id, err := email.AddTx(ctx, postgres.Tx(tx), 0, payload)
//
// Like tx, it can't be used by two goroutines at the same time, nor while the rows of a query in it are open.
func Tx(tx pgx.Tx) durable.Tx {
	if v := reflect.ValueOf(tx); tx == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return native{plain{tx}, tx}
}

// native is a transaction of pgx's.
type native struct {
	plain
	tx pgx.Tx
}

func (n native) Commit() error   { return n.tx.Commit(context.Background()) }
func (n native) Rollback() error { return n.tx.Rollback(context.Background()) }

// plain is a connection or a transaction of pgx's.
type plain struct {
	on interface {
		Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, statement string, args ...any) pgx.Row
	}
}

func (p plain) exec(ctx context.Context, statement string, args ...any) error {
	_, err := p.on.Exec(ctx, statement, args...)
	return err
}

func (p plain) query(ctx context.Context, statement string, args ...any) (rows, error) {
	rows, err := p.on.Query(ctx, statement, args...)
	return nativeRows{rows}, err
}

func (p plain) queryRow(ctx context.Context, statement string, args ...any) sqlrow.Scanner {
	return p.on.QueryRow(ctx, statement, args...)
}

type nativeRows struct{ pgx.Rows }

func (r nativeRows) Close() error {
	r.Rows.Close()
	return r.Err()
}

// A querier runs statements: in a database, or in a transaction. A row that is not there is sql.ErrNoRows, also to pgx.
type querier interface {
	exec(ctx context.Context, statement string, args ...any) error
	query(ctx context.Context, statement string, args ...any) (rows, error)
	queryRow(ctx context.Context, statement string, args ...any) sqlrow.Scanner
}

// rows are *sql.Rows or pgx.Rows.
type rows = sqlrow.Rows

// standard is a querier of database/sql.
type standard struct {
	on interface {
		ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row
	}
}

func (s standard) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.on.ExecContext(ctx, statement, args...)
	return err
}

func (s standard) query(ctx context.Context, statement string, args ...any) (rows, error) {
	return s.on.QueryContext(ctx, statement, args...)
}

func (s standard) queryRow(ctx context.Context, statement string, args ...any) sqlrow.Scanner {
	return s.on.QueryRowContext(ctx, statement, args...)
}

// direct runs fn with a connection of a node's, without a transaction. It is for statements of many values or rows:
// database/sql would convert and copy each once more. As there, fn is called again if nothing was sent, since the
// connection was lost before.
func (s *Store) direct(ctx context.Context, fn func(q querier) error) error {
	for try := 0; ; try++ {
		err := s.once(ctx, fn)
		if err == nil || try == 2 || !pgconn.SafeToRetry(err) {
			return err
		}
	}
}

func (s *Store) once(ctx context.Context, fn func(q querier) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error { return fn(plain{c.(*stdlib.Conn).Conn()}) })
}

// in returns what runs statements in a caller's transaction.
func in(tx durable.Tx) (querier, error) {
	switch tx := tx.(type) {
	case *sql.Tx:
		return standard{tx}, nil
	case native:
		return tx, nil
	}
	return nil, argument.Invalid("durable/postgres: transaction is a %T; it must be a *sql.Tx, or what postgres.Tx makes of a pgx.Tx", tx)
}

// foreign explains an error of a transaction that is none of the store's database. That it is of another driver shows
// in the first arguments, which have a list among them: database/sql declines those, before anything is sent, unless a
// driver takes them.
func foreign(err error) error {
	switch {
	case err == nil:
		return nil
	case code(err) == "42P01":
		return argument.Invalid("durable/postgres: transaction: it does not see the tables of the store: begin it with Store.DB,"+
			" or with the database and the search path of the store: %w", err)
	case strings.HasPrefix(err.Error(), "sql: converting argument"):
		return argument.Invalid("durable/postgres: transaction: it is of another driver: begin it with Store.DB,"+
			" or with a *sql.DB of pgx's package stdlib: %w", err)
	}
	return err
}

// GetTx returns a job as the caller's transaction sees it, and locks it.
func (s *Store) GetTx(ctx context.Context, tx durable.Tx, id durable.ID) (durable.Job, error) {
	q, err := in(tx)
	if err != nil {
		return durable.Job{}, err
	}
	j, err := lock(ctx, q, "id = any($1::uuid[])", uuids([]durable.ID{id})) // see foreign
	if err == nil && j == nil {
		err = durable.ErrNotFound
	}
	if err != nil {
		return durable.Job{}, foreign(err)
	}
	return *j, nil
}

// InsertTx adds jobs in the caller's transaction. If one of several can't be added, or a parent is missing, InsertTx
// rolls back to a savepoint, and changes nothing.
func (s *Store) InsertTx(ctx context.Context, tx durable.Tx, jobs []durable.NewJob) ([]durable.InsertResult, error) {
	q, err := in(tx)
	if err != nil {
		return nil, err
	}
	by := within(q)
	if len(jobs) > 1 || slices.ContainsFunc(jobs, grafted) {
		by = savepoint(q)
	}
	placed, err := again(func(freed bool) ([]durable.InsertResult, error) {
		return do(ctx, by, func(q querier) ([]durable.InsertResult, error) {
			return insertAll(ctx, q, jobs, nil, store.Placement{}, true, freed)
		})
	})
	if conflict := (*conflictError)(nil); errors.As(err, &conflict) {
		return conflict.results, nil
	}
	if err != nil {
		return nil, foreign(err)
	}
	s.lowerTo(placed)
	return placed, nil
}

// within leaves the commit to the caller's transaction.
func within(q querier) way {
	return func(ctx context.Context, fn func(q querier) error) error { return fn(q) }
}

// savepoint is within, and undoes what fn has done if it fails, also if ctx has ended.
func savepoint(q querier) way {
	return func(ctx context.Context, fn func(q querier) error) error {
		if err := q.exec(ctx, "savepoint executor"); err != nil {
			return err
		}
		err := fn(q)
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), answer)
		defer cancel()
		if err != nil {
			if back := q.exec(after, "rollback to savepoint executor"); back != nil {
				if errors.As(err, new(*conflictError)) {
					return back // what err says was not undone
				}
				return err
			}
		}
		return cmp.Or(q.exec(after, "release savepoint executor"), err)
	}
}

// CompleteTx commits in the caller's transaction.
func (s *Store) CompleteTx(ctx context.Context, tx durable.Tx, b store.CommitRequest) (store.CommitResult, error) {
	q, err := in(tx)
	if err != nil {
		return store.CommitResult{}, err
	}
	return do(ctx, within(q), func(q querier) (store.CommitResult, error) {
		a, f, err := s.commitAll(ctx, q, b, picky)
		if err == nil && len(f.left) > 0 {
			err = s.completeParents(ctx, q, b, f.left, &a)
		}
		return a, err
	})
}
