package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// OpenBy opens a file by a driver that stands for SQLite's.
func OpenBy(driver, path string) (*Store, error) { return open(driver, path, nil) }

// SetFew sets how many jobs are no longer few.
func (s *Store) SetFew(n int) { s.few = n }

// Limit makes the disk full at so many pages.
func (s *Store) Limit(pages int) error {
	return s.writer.do(context.Background(), func(q *querier) error {
		var n int
		return q.row(fmt.Sprintf("pragma max_page_count = %d", pages), nil, &n)
	})
}

// Downgrade makes the schema of an older version, with the jobs and nodes that are there.
func (s *Store) Downgrade(version int) error {
	ctx, conn := context.Background(), s.writer.conn
	var script strings.Builder
	tables, err := sqlrow.Strings(conn.QueryContext(ctx, "select name from sqlite_schema where type = 'table' and name like 'executor_%'"))
	if err != nil {
		return err
	}
	for _, name := range tables {
		fmt.Fprintf(&script, "alter table %s rename to old_%[1]s;", name)
	}
	indexes, err := sqlrow.Strings(conn.QueryContext(ctx, "select name from sqlite_schema where type = 'index' and name like 'executor_%'"))
	if err != nil {
		return err
	}
	for _, name := range indexes {
		fmt.Fprintf(&script, "drop index %s;", name)
	}
	for _, m := range migrations[:version] {
		script.WriteString(sqlrow.SQL(m))
	}
	script.WriteString("create table executor_schema (version integer not null);")
	for v := range version {
		fmt.Fprintf(&script, "insert into executor_schema values (%d);", v+1)
	}
	if _, err := conn.ExecContext(ctx, script.String()); err != nil {
		return err
	}
	for _, table := range []string{"executor_job", "executor_node", "executor_run"} {
		names, err := sqlrow.Strings(conn.QueryContext(ctx, "select name from pragma_table_info(?)", table))
		if err != nil {
			return err
		}
		into := strings.Join(names, ", ")
		_, err = conn.ExecContext(ctx, "insert into "+table+" ("+into+") select "+strings.Replace(into, "wish", "pending", 1)+" from old_"+table)
		if err != nil {
			return err
		}
	}
	for _, name := range tables {
		if _, err := conn.ExecContext(ctx, "drop table old_"+name); err != nil {
			return err
		}
	}
	return nil
}
