package sqlite

import (
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A job has its tags in its row, which says so whether it has any, and each in a row of executor_tag, by which it is
// found. No statement is run for a job without them.

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
