package sqlite

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

func question(n int) string { return "?" + strconv.Itoa(n) }

// few is Store.few of a store that is opened: of how many jobs List takes them not to be few, at least; see fewOf.
const few = 1000

// A way is how jobs are found: by the index of their IDs, or by one of what few of them have. SQLite can't estimate how
// many have it, and would use that index however many they are; so each is asked for that many first.
type way struct {
	tag string // by executor_tag, in the order of the IDs
	// add adds the conditions of an index of few; nil if it is that of the IDs, or of the tag.
	add func(q *sqlrow.Query)
}

// List returns a page of jobs. If few jobs have the tag or the prefix, or are in the states, List looks them up and
// sorts them; otherwise it reads jobs in the order of their IDs.
func (s *Store) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	w, err := s.way(ctx, &f)
	if err != nil {
		return nil, err
	}
	statement, args := listJobs(&f, w)
	return sqlrow.ScanAll(s.read.QueryContext(ctx, statement, args...))
}

// Counts counts the jobs that f selects, of each kind in each state.
func (s *Store) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	w, err := s.way(ctx, &f)
	if err != nil {
		return nil, err
	}
	statement, args := countJobs(&f, w)
	return sqlrow.ScanCounts(s.read.QueryContext(ctx, statement, args...))
}

// fewOf returns of how many jobs List takes them not to be few. To look up n of N jobs takes about as long as to read them
// in the order of their IDs, until a page is full, if n * n is page * N.
func (s *Store) fewOf(ctx context.Context, f *durable.Filter) (int, error) {
	rows := 0.0
	err := s.read.QueryRowContext(ctx, "select coalesce(max(rowid), 0) from executor_job").Scan(&rows)
	return max(s.few, int(math.Sqrt(float64(sqlrow.Page(f))*rows))), err
}

// way returns how the jobs of a filter are found. Of the tags it is the one that the fewest have.
func (s *Store) way(ctx context.Context, f *durable.Filter) (way, error) {
	if len(f.Keys) > 0 { // each key is that of one job
		return way{add: func(*sqlrow.Query) {}}, nil
	}
	few, err := s.fewOf(ctx, f)
	if err != nil {
		return way{}, err
	}
	best, least := way{}, few
	for _, tag := range f.Tags {
		n, err := s.atMost(ctx, few, "executor_tag", func(q *sqlrow.Query) { q.Add("tag = ?", tag) })
		if err != nil {
			return way{}, err
		}
		if best.tag == "" || n < least {
			best, least = way{tag: tag}, n
		}
	}
	if best.tag != "" && least < few {
		return best, nil
	}
	if beyond := sqlrow.Beyond(f.Prefix); beyond != "" {
		narrow := false
		if err := s.read.QueryRowContext(ctx, fewKeys, f.Prefix, beyond, few, few).Scan(&narrow); err != nil {
			return way{}, err
		}
		if narrow {
			return way{add: func(q *sqlrow.Query) { q.Add("key >= ? and key < ?", f.Prefix, beyond) }}, nil
		}
	}
	if add := stateIndex(f); add != nil {
		n, err := s.atMost(ctx, few, "executor_job", add)
		if err != nil {
			return way{}, err
		}
		if n < few {
			return way{add: add}, nil
		}
	}
	return best, nil
}

// fewKeys reports whether few keys are in a range, by the index that has them in the order of their bytes. Texts have
// another order if the program that made the file made it one of UTF-16.
const fewKeys = `select (select encoding from pragma_encoding) = 'UTF-8'
	and (select count(*) from (select 1 from executor_job where key >= ? and key < ? limit ?)) < ?`

// stateIndex returns the conditions of the index that has all jobs in the states of a filter, nil if there is none.
func stateIndex(f *durable.Filter) func(q *sqlrow.Query) {
	all := func(in func(durable.State) bool) bool {
		return len(f.States) > 0 && !slices.ContainsFunc(f.States, func(s durable.State) bool { return !in(s) })
	}
	switch {
	case all(durable.State.Done):
		return func(q *sqlrow.Query) {
			q.Add(sqlrow.SQL("state >= {Succeeded} and state <= {Canceled}"))
			q.Add(sqlrow.States(f.States))
			q.AddRange("updated", f.Updated)
		}
	case all(durable.State.Held):
		return func(q *sqlrow.Query) { q.Add(sqlrow.SQL("state in {Held}")) }
	case all(func(s durable.State) bool { return s == durable.Waiting }):
		return func(q *sqlrow.Query) {
			q.Add(sqlrow.SQL("state = {Waiting}"))
			if f.Kind != "" {
				q.Add(sqlrow.SQL("kind = ? and priority in {AnyPriority}"), f.Kind)
			}
			q.AddRange("due", f.Due)
		}
	}
	return nil
}

// tables returns what the jobs of a filter are read from, and their ID there, and adds the conditions to q.
func tables(q *sqlrow.Query, f *durable.Filter, w way) (from, id string) {
	from, id = "executor_job", "id"
	switch {
	case w.tag != "":
		from, id = "executor_tag cross join executor_job", "job" // the first is read first
		q.Add("tag = ? and id = job", w.tag)
	case w.add != nil:
		id = "+id" // for no index
		w.add(q)
	}
	for _, tag := range f.Tags {
		if tag != w.tag {
			q.AddTag(tag)
		}
	}
	if f.Prefix != "" {
		q.Add("substr(key, 1, length(?)) = ?", f.Prefix, f.Prefix)
	}
	q.AddFilter(f, "instr")
	return from, id
}

// listJobs returns the statement that lists jobs that are found in that way.
func listJobs(f *durable.Filter, w way) (statement string, args []any) {
	q := sqlrow.NewQuery(question)
	from, id := tables(q, f, w)
	q.AddPage(id, f, f.After[:])
	return "select " + sqlrow.Read + " from " + from + q.Where() + sqlrow.Order(id, f) + " limit " +
		q.Arg(sqlrow.Page(f)), q.Args()
}

// countJobs returns the statement that counts jobs that are found in that way.
func countJobs(f *durable.Filter, w way) (statement string, args []any) {
	q := sqlrow.NewQuery(question)
	from, _ := tables(q, f, w)
	return sqlrow.CountJobs + from + q.Where() + sqlrow.GroupCounts, q.Args()
}

// atMost returns how many rows an index finds, or most if there are that many or more.
func (s *Store) atMost(ctx context.Context, most int, table string, add func(q *sqlrow.Query)) (n int, err error) {
	q := sqlrow.NewQuery(question)
	add(q)
	statement := "select count(*) from (select 1 from " + table + q.Where() + " limit " + strconv.Itoa(most) + ")"
	err = s.read.QueryRowContext(ctx, statement, q.Args()...).Scan(&n)
	return n, err
}
