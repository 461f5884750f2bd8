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
	occurrence = case when ?1 <> 0 then ?1 else occurrence end, updated = ?2
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
	pending = {PendingNone}, next_due = 0, owner = '', error = ?5, result = coalesce(?6, result), runs = min(runs + ?7, {Most}), updated = ?8,
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

// pruneLimit is the most rows of each sort that one call of Prune removes.
const pruneLimit = 2000

// pruneJobs removes jobs by the index of those that are over. SQLite does not infer that a job in one of these states
// is in an index of all of them: without the condition of the index in the statement it reads all jobs.
var pruneJobs = sqlrow.SQL(`delete from executor_job where rowid in
	(select rowid from executor_job where state = ? and state >= {Succeeded} and state <= {Canceled} and updated < ?
		and ` + notAwaited + ` limit ?) returning id, tags, family`)

// pruneRuns removes runs by the index of the latest. An imported run, or one that finished while the clock was ahead, is
// not where its age would have it in the table.
const pruneRuns = `delete from executor_run where rowid in
	(select rowid from executor_run where verdict = ? and finished < ? limit ?)`

// forgetBegun forgets runs that are over: the node that had them was lost, or has not said so.
var forgetBegun = sqlrow.SQL(`delete from executor_begun where not exists (
	select 1 from executor_job j where j.id = executor_begun.job and j.epoch = executor_begun.epoch and j.state = {Granted})`)

// Prune removes jobs and runs whose retention has ended.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (int, error) {
	return do(ctx, s.writer, func(q *querier) (removed int, err error) {
		for _, forget := range []string{forgetBegun, sqlrow.ForgetProgress} {
			if _, err := q.exec(forget); err != nil {
				return 0, err
			}
		}
		t := now()
		if err := q.reline(&s.relined, t); err != nil {
			return 0, err
		}
		for state, keep := range sqlrow.Kept(r) {
			gone, err := q.gone(pruneJobs, int64(state), micros(t.Add(-keep)), pruneLimit)
			if err != nil {
				return removed, err
			}
			removed += len(gone)
			for i := range gone {
				n, err := q.removeRest(gone[i])
				if err != nil {
					return removed, err
				}
				removed += n
			}
		}
		if r.History > 0 {
			for _, verdict := range store.Verdicts() {
				n, err := q.exec(pruneRuns, int64(verdict), micros(t.Add(-r.History)), pruneLimit)
				if err != nil {
					return removed, err
				}
				removed += int(n)
			}
		}
		return removed, nil
	})
}

// removeRest removes what there is of a job beside its row, and returns how many runs it had.
func (q *querier) removeRest(j durable.Job) (runs int, err error) {
	n, err := q.exec("delete from executor_run where job = ?", j.ID[:])
	if err == nil {
		_, err = q.exec(removeSteps, j.ID[:])
	}
	if err == nil {
		err = q.untag(j.ID, j.Tags)
	}
	if err == nil && j.HasParents {
		err = q.orphan(j.ID)
	}
	return int(n), err
}

// gone returns the jobs that a statement has removed, with nothing but their IDs, their tags and whether they have
// parents.
func (q *querier) gone(text string, args ...any) ([]durable.Job, error) {
	rows, err := q.query(text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var jobs []durable.Job
	for rows.Next() {
		var id []byte
		var tags string
		var family int64
		if err := rows.Scan(&id, &tags, &family); err != nil {
			return nil, err
		}
		known, err := sqlrow.ID(id)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, durable.Job{ID: known, Tags: sqlrow.ParseTags(tags), HasParents: sqlrow.HasParents(family)})
	}
	return jobs, rows.Err()
}
