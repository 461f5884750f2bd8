package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Export calls each for every row of the store, in one read transaction. First it tells children of what is late, which
// no row of an export has.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	for tries := 0; ; tries++ {
		found, err := s.export(ctx, each)
		if err == nil && found && tries == 100 {
			err = errors.New("durable/postgres: jobs are yet to be told of the end of a parent, but are locked; end what locks them")
		}
		if err == nil && found {
			err = s.tellAllLate(ctx)
		}
		if err != nil || !found {
			return explain(err, s.config.User)
		}
	}
}

// export is Export, unless it reports that something is late.
func (s *Store) export(ctx context.Context, each func(store.Row) error) (found bool, err error) {
	tx, err := s.calls.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	q := standard{tx}
	if err := q.queryRow(ctx, "select exists (select from executor_parent where late)").Scan(&found); err != nil || found {
		return found, err
	}
	return false, sqlrow.Export(func(statement string) (sqlrow.Rows, error) { return q.query(ctx, statement) }, each)
}

// Import adds rows in one transaction, some hundreds with each statement.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	// The transaction is not tried again, as rows come once.
	_, err := do(ctx, func(ctx context.Context, fn func(q querier) error) error { return transact(ctx, s.calls, fn) },
		func(q querier) (none struct{}, err error) {
			empty := false
			if err := q.queryRow(ctx, sqlrow.Empty).Scan(&empty); err != nil {
				return none, err
			}
			if !empty {
				return none, store.ErrNotEmpty
			}
			i := importer{querier: q, ctx: ctx, tables: make(map[string]*gathered)}
			for row, err := range rows {
				if err = cmp.Or(err, ctx.Err()); err != nil {
					return none, err
				}
				if err := i.take(row); err != nil {
					return none, err
				}
			}
			if err := i.end(); err != nil {
				return none, err
			}
			if err := q.exec(ctx, sqlrow.Bury); err != nil {
				return none, err
			}
			return none, notifyNodes(ctx, q)
		})
	s.floors.reset()
	return explain(err, s.config.User)
}

// An importer gathers the rows of an Import.
type importer struct {
	querier
	ctx    context.Context
	tables map[string]*gathered
}

// gathered is what is to be added to a table.
type gathered struct {
	sqlrow.Table
	rows []map[string]any
	size int // of their bytes
}

// gatheredRows is how many rows of a table a statement adds, and gatheredSize how many bytes of them.
const gatheredRows, gatheredSize = 500, 4 << 20

// take adds a row of an export, at the latest by end.
func (i *importer) take(row store.Row) error {
	return sqlrow.Imported(row, func(id durable.ID) any { return id.String() }, i.add)
}

// end writes what was gathered.
func (i *importer) end() error {
	for _, t := range i.tables {
		if err := i.write(t); err != nil {
			return err
		}
	}
	return nil
}

// add gathers a row of a table.
func (i *importer) add(t sqlrow.Table, values []any) error {
	g := i.tables[t.Name]
	if g == nil {
		g = &gathered{Table: t}
		i.tables[t.Name] = g
	}
	row := make(map[string]any, len(values))
	for c, v := range values {
		if data, ok := v.([]byte); ok {
			v = nil
			if data != nil {
				v = `\x` + hex.EncodeToString(data)
				g.size += len(data)
			}
		}
		row[t.Columns[c]] = v
	}
	if g.rows = append(g.rows, row); len(g.rows) < gatheredRows && g.size < gatheredSize {
		return nil
	}
	return i.write(g)
}

// needed are the columns that only PostgreSQL has, and that have no default.
var needed = map[string]struct{ name, value string }{
	"executor_parent": {", late", ", false"},
	"executor_limit":  {", turn", ", 0"},
}

// write adds what was gathered for a table.
func (i *importer) write(g *gathered) error {
	text, err := json.Marshal(g.rows)
	if err != nil {
		return err
	}
	g.rows, g.size = nil, 0
	columns, more := strings.Join(g.Columns, ", "), needed[g.Name]
	return i.exec(i.ctx, "insert into "+g.Name+" ("+columns+more.name+") select "+columns+more.value+
		" from pg_catalog.jsonb_populate_recordset(null::"+g.Name+", $1::text::jsonb)", string(text))
}
