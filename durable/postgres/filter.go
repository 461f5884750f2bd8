package postgres

import (
	"context"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

func dollar(n int) string { return "$" + strconv.Itoa(n) }

// List returns a page of jobs.
func (s *Store) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	statement, args := listJobs(f)
	return sqlrow.ScanAll(s.calls.QueryContext(ctx, statement, args...))
}

// listJobs returns the statement that lists jobs. The planner knows how many jobs have what is in the filter: it uses
// the index of that if these are few, and else that of the order.
func listJobs(f durable.Filter) (statement string, args []any) {
	q := sqlrow.NewQuery(dollar)
	q.AddPage("id", &f, uuid(f.After))
	from := tables(q, &f)
	if len(f.Tags) > 0 {
		q.AddPage("job", &f, uuid(f.After)) // as the planner does not conclude
	}
	return "select " + sqlrow.Read + " from " + from + q.Where() + sqlrow.Order("id", &f) + " limit " +
		q.Arg(sqlrow.Page(&f)), q.Args()
}

// Counts counts the jobs that f selects, of each kind in each state.
func (s *Store) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	q := sqlrow.NewQuery(dollar)
	from := tables(q, &f)
	return sqlrow.ScanCounts(s.calls.QueryContext(ctx, sqlrow.CountJobs+from+q.Where()+sqlrow.GroupCounts, q.Args()...))
}

// tables returns what the jobs of a filter are read from, and adds the conditions to q. A prefix is a range of keys,
// and nothing else, so that the planner can estimate how many have it.
func tables(q *sqlrow.Query, f *durable.Filter) (from string) {
	from = "executor_job"
	for i, tag := range f.Tags {
		if i == 0 {
			from = "executor_tag join executor_job on id = job"
			q.Add("tag = ?", tag)
		} else {
			q.AddTag(tag)
		}
	}
	if f.Prefix != "" {
		q.Add("key >= ?", f.Prefix)
		if beyond := sqlrow.Beyond(f.Prefix); beyond != "" {
			q.Add("key < ?", beyond)
		}
	}
	q.AddFilter(f, "pg_catalog.strpos")
	return from
}
