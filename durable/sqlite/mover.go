package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"iter"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Export calls each for every row of the store, in one read transaction.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "rollback"); err != nil {
			conn.Raw(func(any) error { return driver.ErrBadConn }) // or others would read in this transaction
		}
	}()
	if _, err := conn.ExecContext(ctx, "begin deferred"); err != nil {
		return explain(err)
	}
	return explain(sqlrow.Export(func(statement string) (sqlrow.Rows, error) { return conn.QueryContext(ctx, statement) }, each))
}

// Import adds rows in one transaction. No other call can write meanwhile.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	id := func(id durable.ID) any { return id[:] }
	// It returns when the writer does not use rows any more.
	return s.writer.do(context.WithoutCancel(ctx), func(q *querier) error {
		empty := false
		if err := q.row(sqlrow.Empty, nil, &empty); err != nil {
			return err
		}
		if !empty {
			return store.ErrNotEmpty
		}
		for row, err := range rows {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if err := sqlrow.Imported(row, id, q.add); err != nil {
				return err
			}
		}
		_, err := q.exec(sqlrow.Bury)
		return err
	})
}

// add adds a row to a table.
func (q *querier) add(t sqlrow.Table, values []any) error {
	_, err := q.exec("insert into "+t.Name+" ("+strings.Join(t.Columns, ", ")+") values (?"+strings.Repeat(", ?", len(t.Columns)-1)+")", values...)
	return err
}
