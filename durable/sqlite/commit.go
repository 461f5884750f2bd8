package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Commit confirms claims and commits outcomes.
func (s *Store) Commit(ctx context.Context, b store.CommitRequest) (store.CommitResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.CommitResult, error) { return q.commitAll(b) })
}

func (q *querier) commitAll(b store.CommitRequest) (store.CommitResult, error) {
	a := store.CommitResult{Now: now()}
	for _, r := range b.Ended {
		if _, err := q.exec("delete from executor_begun where job = ? and epoch = ?", r.ID[:], r.Epoch); err != nil {
			return a, err
		}
	}
	for _, r := range b.Begun {
		if _, err := q.exec("insert into executor_begun (job, epoch, started) values (?, ?, ?) on conflict do nothing",
			r.ID[:], r.Epoch, micros(r.Started)); err != nil {
			return a, err
		}
	}
	for _, c := range b.Confirms {
		n, err := q.exec(confirmJob, micros(c.Occurrence), micros(a.Now), c.ID[:], c.Epoch)
		if err != nil {
			return a, err
		}
		a.Confirmed = append(a.Confirmed, n > 0)
	}
	var parents []durable.ID
	for i := range b.Outcomes {
		c, err := q.commit(&b.Outcomes[i], b, micros(a.Now))
		if err != nil {
			return a, err
		}
		if c.before {
			a.Before = append(a.Before, b.Outcomes[i].Ref)
		}
		switch {
		case c.parent && c.before: // maybe in a transaction of the handler's, which no node has heard of
			a.Released = true
		case c.parent:
			parents = append(parents, b.Outcomes[i].ID)
		}
		a.Committed = append(a.Committed, c.ok)
	}
	released, err := q.ended(a.Now, parents...)
	a.Released = a.Released || released
	return a, err
}

// confirmJob is transition.Confirm as a statement. Reading the row, changing it in Go and writing it back is one
// statement more for each confirm and outcome, and takes a third of the throughput.
var confirmJob = sqlrow.SQL(`update executor_job set state = {Granted},
	occurrence = case when ?1 <> 0 then ?1 else occurrence end,
	updated = case when schedule <> 'once' and (due > ?2 or next_due > ?2) then max(updated, ?2) else ?2 end
	where id = ?3 and epoch = ?4 and state in {Held}`)

// commitJob ends the run of a job without children, and commitParent that of any: transition.Commit as a statement.
var (
	commitJob    = commitParent + sqlrow.SQL(" and (family & {HasChildren}) = 0")
	commitParent = sqlrow.SQL(`update executor_job set
	state = case when schedule = 'once' and next_due <> 0 then case pending when {PendingPause} then {Paused} else {Waiting} end
		when ?1 = {Dead} and pending = {PendingCancel} then {Canceled} when ?1 <> {Waiting} and (?2 <> 0 or next_due = 0) then ?1
		when pending = {PendingCancel} then {Canceled} when pending = {PendingPause} then {Paused} else {Waiting} end,
	due = case when (?1 = {Waiting} or ?2 = 0 or schedule = 'once') and next_due <> 0 then next_due when ?2 = 0 then due else ?2 end,
	occurrence = case when (?1 = {Waiting} or ?2 = 0 or schedule = 'once') and next_due <> 0 then next_due else ?3 end,
	attempt = case when (?1 = {Waiting} or ?2 = 0 or schedule = 'once') and next_due <> 0 then 0 else ?4 end,
	pending = {PendingNone}, next_due = 0, owner = '', error = ?5, result = coalesce(?6, result), runs = min(runs + ?7, {Most}),
	updated = case when (?1 = {Waiting} or ?2 = 0) and next_due > ?8 and schedule <> 'once' and pending <> {PendingCancel} then max(updated, ?8) else ?8 end,
	lost = case when ?11 then 0 else lost end, suspect = suspect and not ?11, label = ?12
	where id = ?9 and epoch = ?10 and state = {Granted}`)
)

// addRun adds a line to the history. It is an insert of values, as one of a select could fail in the middle: for that
// SQLite copies each page that it changes.
const addRun = "insert into executor_run (" + sqlrow.RunColumns + `, output)
	values (?, (select runs from executor_job where id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`

// committed is what became of an outcome.
type committed struct {
	ok     bool // it is committed: now, or before
	before bool
	parent bool // the job has children
}

// commit commits one outcome.
func (q *querier) commit(o *durable.Outcome, b store.CommitRequest, now int64) (c committed, err error) {
	recorded := int64(1)
	if o.Unrecorded {
		recorded = 0
	}
	ran := !o.Unrecorded && o.Run.Verdict != durable.RunSkipped
	args := []any{int64(o.State), micros(o.Due), micros(o.Occurrence), sqlrow.Attempt(o.Attempt), o.Error, o.Result,
		recorded, now, o.ID[:], o.Epoch, ran, o.Run.Label}
	n, err := q.exec(commitJob, args...)
	if err == nil && n == 0 {
		var state, family int64
		err := q.row("select state, family from executor_job where id = ? and epoch = ?", []any{o.ID[:], o.Epoch}, &state, &family)
		if errors.Is(err, sql.ErrNoRows) {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if c.parent = sqlrow.HasChildren(family); durable.State(state) != durable.Running {
			// A job with this epoch that is not running was committed already: all else that ends a run makes the epoch
			// go up.
			c.ok, c.before = true, true
			return c, nil
		}
		if _, err := q.exec(commitParent, args...); err != nil {
			return c, err
		}
	}
	if err == nil && len(o.Signals) > 0 {
		err = q.signaled(o, now)
	}
	if c.ok = err == nil; err != nil || o.Unrecorded {
		return c, err
	}
	if r := &o.Run; b.History > 0 {
		_, err = q.exec(addRun, o.ID[:], o.ID[:], micros(r.Occurrence), sqlrow.Attempt(r.Attempt), o.Epoch, b.Node,
			micros(r.Started), micros(r.Finished), int64(r.Verdict), r.Error, r.Label, o.Output)
	}
	if err == nil && o.Epoch > int64(b.History) { // a job has no more runs than it was given to nodes
		_, err = q.exec("delete from executor_run where job = ?1 and seq <= (select runs from executor_job where id = ?1) - ?2", o.ID[:], b.History)
	}
	c.ok = err == nil
	return c, err
}
