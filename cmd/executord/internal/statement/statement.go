// Package statement runs the SQL of jobs.
package statement

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	_ "github.com/executor-go/executor/durable/sqlite" // its driver
)

// DSNHint describes how databases are named.
const DSNHint = "write postgres://user@host/database, or the path of a file of SQLite; $NAME is a variable of the environment"

// maxRows is how many rows of an answer are written.
const maxRows = 1000

// Expand replaces the variables in the name of a database, whose password does not belong into a job file.
func Expand(dsn string) (string, error) {
	missing := ""
	dsn = os.Expand(dsn, func(name string) string {
		value, set := os.LookupEnv(name)
		if !set {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("the variable %s is not set; set it, such as in env of the job", missing)
	}
	return dsn, nil
}

// Run runs statements, with semicolons between them, on a database, and writes what they answer: rows with tabs between
// their values below a line of names, or how many rows were changed.
//
// PostgreSQL runs them in one transaction, unless they say otherwise.
func Run(ctx context.Context, dsn, text string, to io.Writer) error {
	if len(split(text)) == 0 {
		return errors.New("the input has no statement")
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return runPostgres(ctx, dsn, text, to)
	}
	return runSQLite(ctx, dsn, text, to)
}

func runPostgres(ctx context.Context, dsn, text string, to io.Writer) error {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return err // it has the URL without its password
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintf(to, "%s: %s\n", n.Severity, n.Message) }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	results := conn.Exec(ctx, text)
	defer results.Close()
	for results.NextResult() {
		rows := results.ResultReader()
		out := answer{to: to}
		for _, f := range rows.FieldDescriptions() {
			out.names = append(out.names, f.Name)
		}
		for rows.NextRow() {
			var values []string
			for _, v := range rows.Values() {
				values = append(values, shown(v != nil, string(v)))
			}
			out.row(values)
		}
		tag, err := rows.Close()
		if err != nil {
			return explain(err)
		}
		if out.end(); len(out.names) == 0 {
			fmt.Fprintln(to, tag)
		}
	}
	return explain(results.Close())
}

// explain adds to an error of PostgreSQL what the server has said besides.
func explain(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	text := e.Message + " (" + e.Code + ")"
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			text += "; " + more
		}
	}
	return errors.New(text)
}

func runSQLite(ctx context.Context, path, text string, to io.Writer) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("database %s does not exist; %s", path, DSNHint) // opening it would make one
	}
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx) // with which a transaction of several statements begins and ends
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, one := range split(text) {
		if err := runOne(ctx, conn, one, to); err != nil {
			return err
		}
	}
	return nil
}

// runOne runs one statement of SQLite.
func runOne(ctx context.Context, conn *sql.Conn, text string, to io.Writer) error {
	var before, after, changed int64
	if err := conn.QueryRowContext(ctx, "select total_changes()").Scan(&before); err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	out := answer{to: to}
	if out.names, err = rows.Columns(); err != nil {
		return err
	}
	cells := make([]sql.NullString, len(out.names))
	targets := make([]any, len(cells))
	for i := range cells {
		targets[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		values := make([]string, len(cells))
		for i, c := range cells {
			values[i] = shown(c.Valid, c.String)
		}
		out.row(values)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if out.end(); len(out.names) > 0 {
		return nil
	}
	rows.Close() // the connection has one query at a time
	if err := conn.QueryRowContext(ctx, "select total_changes(), changes()").Scan(&after, &changed); err != nil {
		return err
	}
	if after == before {
		changed = 0 // changes has those of an earlier statement
	}
	fmt.Fprintf(to, "rows changed: %d\n", changed)
	return nil
}

// answer writes rows.
type answer struct {
	to    io.Writer
	names []string
	rows  int
}

func (a *answer) row(values []string) {
	if a.rows == 0 {
		fmt.Fprintln(a.to, strings.Join(a.names, "\t"))
	}
	if a.rows++; a.rows <= maxRows {
		fmt.Fprintln(a.to, strings.Join(values, "\t"))
	}
}

func (a *answer) end() {
	switch {
	case a.rows > maxRows:
		fmt.Fprintf(a.to, "(%d more rows are not shown)\n", a.rows-maxRows)
	case len(a.names) > 0 && a.rows == 0:
		fmt.Fprintln(a.to, "(no rows)")
	}
}

// shown returns how a value is written: on one line, and NULL if it is none.
func shown(valid bool, value string) string {
	if !valid {
		return "NULL"
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(value)
}
