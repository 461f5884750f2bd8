package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A job has its tags in its row, which says so whether it has any, and each in a row of executor_tag, by which it is
// found. For jobs without tags no statement is another one, and none is run.

const (
	// splitTags is the tags of a column, as a table tag.
	splitTags = `pg_catalog.unnest(pg_catalog.string_to_array(tags, E'\n')) as t (tag)`

	// untagGone removes the tags of jobs that a statement removes, which are gone there.
	untagGone = `untagged as (
		delete from executor_tag e using gone, ` + splitTags + ` where gone.tags <> '' and e.tag = t.tag and e.job = gone.id
	)`
)

// A tagging is what is in the statement that inserts jobs for their tags: an array among the arguments, its name, what
// their column has, what of it is returned, and what adds rows to executor_tag.
type tagging struct{ array, name, column, returned, rows string }

var (
	untagged = tagging{column: "''"}
	tagged   = tagging{", $22::text[]", ", tags", "tags", ", tags", `tagged as (
		insert into executor_tag (tag, job) select t.tag, ins.id from ins, ` + splitTags + ` where ins.tags <> '' order by t.tag, ins.id
	), `}
)

// tagsOf returns the tags of jobs as their column has them, nil if none of them has any.
func tagsOf(jobs []durable.NewJob) []string {
	if !slices.ContainsFunc(jobs, func(j durable.NewJob) bool { return len(j.Tags) > 0 }) {
		return nil
	}
	tags := make([]string, len(jobs))
	for i := range jobs {
		tags[i] = sqlrow.Tags(jobs[i].Tags)
	}
	return tags
}

// A retagging is the tags of jobs that become others.
type retagging struct {
	goneFrom, addedTo []pgtype.UUID
	gone, added       []string
}

// add adds a job whose tags become others.
func (r *retagging) add(id durable.ID, was, are []string) {
	gone, added := sqlrow.Retagged(was, are)
	for _, tag := range gone {
		r.goneFrom, r.gone = append(r.goneFrom, uuid(id)), append(r.gone, tag)
	}
	for _, tag := range added {
		r.addedTo, r.added = append(r.addedTo, uuid(id)), append(r.added, tag)
	}
}

const retagJobs = `with gone as (
		delete from executor_tag t using unnest($1::text[], $2::uuid[]) as g (tag, job) where t.tag = g.tag and t.job = g.job
	) insert into executor_tag (tag, job) select * from unnest($3::text[], $4::uuid[]) on conflict do nothing`

// write writes it. The rows of the jobs are locked.
func (r *retagging) write(ctx context.Context, tx querier) error {
	if len(r.gone)+len(r.added) == 0 {
		return nil
	}
	return tx.exec(ctx, retagJobs, r.gone, r.goneFrom, r.added, r.addedTo)
}
