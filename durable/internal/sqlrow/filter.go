package sqlrow

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A Query collects the conditions of a statement, and their arguments.
type Query struct {
	place func(n int) string
	where []string
	args  []any
}

// NewQuery returns a Query. place returns the placeholder of an argument, counted from 1.
func NewQuery(place func(n int) string) *Query { return &Query{place: place} }

// Arg adds an argument, and returns its placeholder.
func (q *Query) Arg(v any) string {
	q.args = append(q.args, v)
	return q.place(len(q.args))
}

// Add adds a condition, in which each ? stands for the next of the arguments.
func (q *Query) Add(condition string, args ...any) {
	var b strings.Builder
	for _, v := range args {
		before, after, _ := strings.Cut(condition, "?")
		b.WriteString(before + q.Arg(v))
		condition = after
	}
	q.where = append(q.where, b.String()+condition)
}

// Where returns the conditions, after "where" if there are any, and Args the arguments.
func (q *Query) Where() string {
	if len(q.where) == 0 {
		return ""
	}
	return " where " + strings.Join(q.where, " and ")
}

// Args returns the arguments, in order.
func (q *Query) Args() []any { return q.args }

// AddFilter adds the conditions of a filter on jobs in executor_job that are said in the same way everywhere: all but
// those of Prefix, Tags and After, see AddPage. contains is the function that returns at what place of a text another one
// is, 0 if it is not in it.
func (q *Query) AddFilter(f *durable.Filter, contains string) {
	if f.Kind != "" {
		q.Add("kind = ?", f.Kind)
	}
	if f.Queue != "" {
		q.Add("queue = ?", f.Queue)
	}
	q.addKeys("key", f.Keys)
	if len(f.States) > 0 {
		q.Add(States(f.States))
	}
	if f.Error != "" {
		q.Add("error <> '' and "+contains+"(error, ?) > 0", f.Error) // the first is that of executor_job_error
	}
	q.AddRange("due", f.Due)
	q.AddRange("created", f.Created)
	q.AddRange("updated", f.Updated)
}

// addKeys adds the condition that a column has one of some keys, if there are any.
func (q *Query) addKeys(column string, keys []string) {
	if len(keys) == 0 {
		return
	}
	args := make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	q.Add(column+" in (?"+strings.Repeat(", ?", len(keys)-1)+")", args...)
}

// AddRange adds the conditions that a time is in a range.
func (q *Query) AddRange(column string, r store.TimeRange) {
	if !r.From.IsZero() {
		q.Add(column+" >= ?", bound(r.From))
	}
	if !r.Until.IsZero() {
		q.Add(column+" < ?", bound(r.Until))
	}
}

// bound returns the first time of a column that is not before t.
func bound(t time.Time) int64 {
	if t.Unix() > latest/second {
		return latest + 1
	}
	return Micros(t.Add(time.Microsecond - 1))
}

// AddPage adds the condition that a job is on the page of a filter, or on a later one, by a column that has its ID.
func (q *Query) AddPage(column string, f *durable.Filter, after any) {
	switch {
	case !f.LatestFirst:
		q.Add(column+" > ?", after)
	case f.After != durable.ID{}:
		q.Add(column+" < ?", after)
	}
}

// Order returns the order of a list, by a column that has the IDs.
func Order(column string, f *durable.Filter) string {
	if f.LatestFirst {
		return " order by " + column + " desc"
	}
	return " order by " + column
}

// AddTag adds the condition that a job in executor_job has a tag.
func (q *Query) AddTag(tag string) {
	q.Add("exists (select 1 from executor_tag where tag = ? and job = executor_job.id)", tag)
}

// Page returns how many jobs a page of the filter has.
func Page(f *durable.Filter) int { return cmp.Or(f.Limit, 100) }

// Tags returns tags as the column of a job has them. None of them has a control character.
func Tags(tags []string) string { return strings.Join(tags, "\n") }

// ParseTags is the inverse of Tags.
func ParseTags(column string) []string {
	if column == "" {
		return nil
	}
	return strings.Split(column, "\n")
}

// Retagged returns which tags of a job are no longer there, and which are new.
func Retagged(was, are []string) (gone, added []string) {
	lacks := func(all, in []string) (some []string) {
		for _, tag := range all {
			if !slices.Contains(in, tag) {
				some = append(some, tag)
			}
		}
		return some
	}
	return lacks(was, are), lacks(are, was)
}
