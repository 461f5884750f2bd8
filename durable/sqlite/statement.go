package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A statement is prepared on the writer's connection, or in a transaction of a caller.
type statement interface {
	exec(args []any) (changed int64, err error)
	query(args []any) (sqlrow.Rows, error)
	Close() error
}

// standard is a statement of database/sql.
type standard struct{ *sql.Stmt }

func (s standard) exec(args []any) (int64, error) {
	r, err := s.Stmt.Exec(args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (s standard) query(args []any) (sqlrow.Rows, error) { return s.Stmt.Query(args...) }

// direct is a statement of the driver's. A group commit runs three of them for each job: database/sql would convert
// and copy each value, and take its locks for each, which is a fifth of their time.
type direct struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	args []driver.NamedValue // used again by each call
}

func prepare(conn any, text string) (*direct, error) {
	s, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	d := new(direct)
	d.stmt = s.(interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	})
	return d, nil
}

func (d *direct) Close() error { return d.stmt.Close() }

// values returns the arguments as the driver takes them.
func (d *direct) values(args []any) ([]driver.NamedValue, error) {
	d.args = d.args[:0]
	for i, v := range args {
		switch n := v.(type) {
		case nil, int64, string, []byte, bool:
		case int:
			v = int64(n)
		default:
			return nil, fmt.Errorf("durable/sqlite: argument %d is a %T", i+1, v)
		}
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return d.args, nil
}

func (d *direct) exec(args []any) (int64, error) {
	values, err := d.values(args)
	if err != nil {
		return 0, err
	}
	r, err := d.stmt.ExecContext(context.Background(), values)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (d *direct) query(args []any) (sqlrow.Rows, error) {
	values, err := d.values(args)
	if err != nil {
		return nil, err
	}
	rows, err := d.stmt.QueryContext(context.Background(), values)
	if err != nil {
		return nil, err
	}
	return &directRows{rows: rows, row: make([]driver.Value, len(rows.Columns()))}, nil
}

// directRows are the rows of a direct statement.
type directRows struct {
	rows driver.Rows
	row  []driver.Value
	err  error
}

func (r *directRows) Next() bool {
	r.err = r.rows.Next(r.row)
	return r.err == nil
}

func (r *directRows) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

func (r *directRows) Close() error { return r.rows.Close() }

// Scan copies the columns of a row. The driver has copied texts and blobs already.
func (r *directRows) Scan(dest ...any) error {
	if len(dest) != len(r.row) {
		return fmt.Errorf("durable/sqlite: %d columns are read as %d", len(r.row), len(dest))
	}
	for i, v := range r.row {
		if !assign(dest[i], v) {
			return fmt.Errorf("durable/sqlite: column %q, which is %T, is read as %T", r.rows.Columns()[i], v, dest[i])
		}
	}
	return nil
}

// assign copies a value, and reports whether it is of that type.
func assign(dest any, v driver.Value) (ok bool) {
	switch d := dest.(type) {
	case *int64:
		*d, ok = v.(int64)
	case *string:
		*d, ok = v.(string)
	case *[]byte:
		if *d, ok = v.([]byte); v == nil {
			ok = true
		}
	case *int:
		var n int64
		n, ok = v.(int64)
		*d = int(n)
	case *bool:
		var n int64
		n, ok = v.(int64)
		*d = n != 0
	case *sql.NullString:
		if d.String, d.Valid = v.(string); v == nil {
			return true
		}
		ok = d.Valid
	}
	return ok
}
