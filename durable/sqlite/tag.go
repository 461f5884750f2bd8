package sqlite

import (
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A job has its tags in its row, which says so whether it has any, and each in a row of executor_tag, by which it is
// found. No statement is run for a job without them.

// refill fills the table from the rows of the jobs, when it is made anew.
var refill = map[string]string{
	"executor_tag": `insert into executor_tag (tag, job)
	with recursive split (job, tag, rest) as (
		select id, null, tags || char(10) from executor_job where tags <> ''
		union all
		select job, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) from split where rest <> ''
	) select tag, job from split where tag is not null`,
}

// tag adds tags of a job to executor_tag.
func (q *querier) tag(id durable.ID, tags []string) error {
	for _, tag := range tags {
		if _, err := q.exec("insert into executor_tag (tag, job) values (?, ?) on conflict do nothing", tag, id[:]); err != nil {
			return err
		}
	}
	return nil
}

// untag removes them.
func (q *querier) untag(id durable.ID, tags []string) error {
	for _, tag := range tags {
		if _, err := q.exec("delete from executor_tag where tag = ? and job = ?", tag, id[:]); err != nil {
			return err
		}
	}
	return nil
}

// retag makes the tags of a job others.
func (q *querier) retag(id durable.ID, was, are []string) error {
	gone, added := sqlrow.Retagged(was, are)
	if err := q.untag(id, gone); err != nil {
		return err
	}
	return q.tag(id, added)
}
