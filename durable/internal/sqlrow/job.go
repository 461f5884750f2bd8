package sqlrow

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A reader reads rows of jobs, each into the same variables.
type reader struct {
	job                                durable.Job
	id                                 []byte
	key                                sql.NullString
	meta, tags                         string
	anchor, due, occurrence, next      int64
	priority, state, pending           int64
	attempt, attempts, lost            int64
	timeout, created, updated, started int64
	family                             int64
	dest                               []any
}

// newReader returns a reader of the columns with these names.
func newReader(names []string) *reader {
	r := new(reader)
	j := &r.job
	by := map[string]any{
		"id": &r.id, "key": &r.key, "kind": &j.Kind, "payload": &j.Payload, "priority": &r.priority,
		"schedule": &j.Schedule, "missed": &j.Missed, "anchor": &r.anchor, "due": &r.due, "occurrence": &r.occurrence,
		"next_due": &r.next, "state": &r.state, "pending": &r.pending, "epoch": &j.Epoch, "owner": &j.Owner,
		"attempt": &r.attempt, "attempts": &r.attempts, "timeout": &r.timeout, "runs": &j.Runs, "lost": &r.lost,
		"error": &j.Error, "result": &j.Result, "created": &r.created, "updated": &r.updated, "suspect": &j.Suspect,
		"meta": &r.meta, "label": &j.Label, "tags": &r.tags, "part": &j.Partition, "queue": &j.Queue, "family": &r.family,
	}
	for _, name := range names {
		r.dest = append(r.dest, by[name])
	}
	return r
}

// scan reads a row into r.job. What is of no column that is read has its zero value.
func (r *reader) scan(s Scanner) error {
	r.job, r.id = durable.Job{}, nil
	err := s.Scan(r.dest...)
	if err != nil {
		return err
	}
	j := &r.job
	if j.ID, err = ID(r.id); err != nil {
		return err
	}
	j.Key = r.key.String
	if r.meta != "" && json.Unmarshal([]byte(r.meta), &j.Meta) != nil {
		j.Meta = nil // of a row that was changed by hand; the job runs without it
	}
	j.Tags = ParseTags(r.tags)
	if j.Queue != "" {
		r.priority -= queued
	}
	j.Priority, j.State, j.Pending = durable.Priority(r.priority), durable.State(r.state), durable.Pending(r.pending)
	j.Attempt, j.Attempts, j.Lost = int(r.attempt), int(r.attempts), int(r.lost)
	j.Anchor, j.Due, j.Occurrence, j.NextDue = Time(r.anchor), Time(r.due), Time(r.occurrence), Time(r.next)
	j.Created, j.Updated = Time(r.created), Time(r.updated)
	j.Timeout = time.Duration(r.timeout) * time.Microsecond
	j.HasParents, j.HasChildren, j.Absent = r.family&hasParents != 0, r.family&hasChildren != 0, r.family&isAbsent != 0
	switch {
	case j.State == durable.Paused && r.family&isBlocked != 0:
		j.State = durable.Blocked
	case j.State != durable.Running:
	case r.started == 0:
		j.State = durable.Confirmed
	default:
		j.Attempt, j.Started = j.Attempt+1, Time(r.started)
	}
	return nil
}

// readsAll returns a reader of Read.
func readsAll() *reader {
	r := newReader(Names)
	r.dest = append(r.dest, &r.started)
	return r
}

// Scan reads a job. With an error, which may come behind the row, it returns none.
func Scan(s Scanner) (durable.Job, error) {
	r := readsAll()
	if err := r.scan(s); err != nil {
		return durable.Job{}, err
	}
	return r.job, nil
}

// ScanAll reads and closes rows of jobs.
func ScanAll(rows Rows, err error) ([]durable.Job, error) {
	r := readsAll()
	return all(func(row Scanner) (durable.Job, error) {
		err := r.scan(row)
		return r.job, err
	})(rows, err)
}

// ScanClaimed reads and closes rows of Claimed, and calls each with the job of one after the other, which each has to
// copy, and to complete by what the claim knows, see Complete.
func ScanClaimed(rows Rows, err error, each func(j *durable.Job)) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	r := newReader(claimedNames)
	for rows.Next() {
		if err := r.scan(rows); err != nil {
			return err
		}
		each(&r.job)
	}
	return rows.Err()
}

// Complete sets what a claim at the time now has set in the row of a job.
func Complete(j *durable.Job, r *store.ClaimRequest, now time.Time) {
	j.State, j.Owner, j.Updated = durable.Claimed, r.Node, now
	if !j.Due.After(now.Add(r.Lead)) {
		j.State = durable.Confirmed
	}
}
