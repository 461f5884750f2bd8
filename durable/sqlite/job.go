package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

var selectJob = "select " + sqlrow.Read + " from executor_job "

var (
	insertJob = "insert into executor_job (" + sqlrow.Columns + ") values (?" + strings.Repeat(", ?", len(sqlrow.Names)-1) + ")"
	// updateJob takes the job out of line: a claim puts it there again, at its new time.
	updateJob = "update executor_job set " + strings.Join(sqlrow.Names[1:], " = ?, ") + " = ?, lined = -1 where id = ?"
)

// get reads one job. It returns nil if there is none.
func (q *querier) get(where string, arg any) (*durable.Job, error) {
	jobs, err := sqlrow.ScanAll(q.query(selectJob+where, arg))
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return &jobs[0], nil
}

// put writes a job that is there already.
func (q *querier) put(j *durable.Job) error {
	v := sqlrow.Values(j, j.ID[:])
	_, err := q.exec(updateJob, append(v[1:], j.ID[:])...)
	return err
}

func (q *querier) addRun(r *durable.Run) error {
	_, err := q.exec("insert into executor_run ("+sqlrow.RunColumns+") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing", sqlrow.RunValues(r, r.Job[:])...)
	return err
}

// takes reports whether a node is alive, and not to drain.
func (q *querier) takes(node string) (bool, error) {
	var n int
	err := q.row("select count(*) from executor_node where id = ? and not drain", []any{node}, &n)
	return n > 0, err
}

// Insert adds jobs.
func (s *Store) Insert(ctx context.Context, jobs []durable.NewJob,
	p store.Placement) ([]durable.InsertResult, error) {
	return do(ctx, s.writer, func(q *querier) ([]durable.InsertResult, error) { return q.insert(jobs, p) })
}

func (q *querier) insert(jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	takes := false
	if p.Node != "" {
		var err error
		if takes, err = q.takes(p.Node); err != nil {
			return nil, err
		}
	}
	now, held := now(), 0
	placed := make([]durable.InsertResult, len(jobs))
	if err := q.parentsThere(jobs); err != nil {
		return nil, err
	}
	if len(jobs) > 1 {
		if conflict, err := q.conflict(jobs, placed, now); err != nil || conflict {
			return placed, err
		}
	}
	ids, parents := make(map[durable.ID]durable.ID, len(jobs)), make(map[durable.ID]bool)
	for i := range jobs {
		n, one := &jobs[i], &placed[i]
		grafted := len(n.After.Parents) > 0
		err := q.insertOne(n, one, p, takes && held < p.Limit && !grafted, now)
		if err == nil && grafted && one.Changed {
			err = q.graft(&one.Job, n.After, ids, parents)
		}
		if err != nil {
			return nil, err
		}
		ids[n.ID] = one.ID
		if one.Held {
			held++
		}
		one.Now, one.KindTaken = now, one.Kind != n.Kind
	}
	for i := range placed { // those before their children in the list
		placed[i].HasChildren = placed[i].HasChildren || parents[placed[i].ID]
	}
	return placed, nil
}

// conflict reports whether one of several jobs can't have its key. Then the results are those of all.
func (q *querier) conflict(jobs []durable.NewJob, placed []durable.InsertResult, now time.Time) (bool, error) {
	conflict := false
	for _, keyed := range []bool{true, false} { // those without a key matter only for the results
		if !keyed && !conflict {
			break
		}
		for i := range jobs {
			n := &jobs[i]
			if (n.Key != "") != keyed {
				continue
			}
			placed[i].Now = now
			there, err := q.get("where id = ?", n.ID[:])
			if err == nil && there == nil && keyed {
				there, err = q.get("where key = ?", n.Key)
			}
			if err != nil {
				return false, err
			}
			if there == nil || there.ID != n.ID && transition.Reuses(there, *n, now) {
				continue
			}
			placed[i].Job, placed[i].KindTaken = *there, there.Kind != n.Kind
			conflict = conflict || there.ID != n.ID && transition.Conflicts(there, *n)
		}
	}
	return conflict, nil
}

// insertOne adds a job, or amends the one that has its key, and says so in one.
func (q *querier) insertOne(n *durable.NewJob, one *durable.InsertResult, p store.Placement, takes bool, now time.Time) error {
	*one = durable.InsertResult{Job: transition.New(*n, p, takes, now)}
	added, err := q.exec(insertJob+" on conflict do nothing", sqlrow.Values(&one.Job, one.ID[:])...)
	if err != nil {
		return err
	}
	if added == 1 {
		one.Changed, one.Held = true, one.State.Held()
		return q.tag(one.ID, one.Tags)
	}
	there, err := q.get("where id = ?", n.ID[:])
	if err != nil {
		return err
	}
	if there != nil {
		*one = durable.InsertResult{Job: *there}
		return nil
	}
	there, err = q.get("where key = ?", n.Key)
	if err != nil {
		return err
	}
	if there == nil {
		return errors.New("durable/sqlite: a job was not added, and does not exist")
	}
	if transition.Reuses(there, *n, now) {
		if _, err = q.exec("update executor_job set key = null where id = ?", there.ID[:]); err != nil {
			return err
		}
		return q.insertOne(n, one, p, takes, now)
	}
	was := there.Tags
	changed := transition.Amend(there, *n, now)
	*one = durable.InsertResult{Job: *there, Changed: changed}
	if !changed {
		return nil
	}
	if err := q.put(there); err != nil {
		return err
	}
	return q.retag(there.ID, was, there.Tags)
}

func deref(j *durable.Job) durable.Job {
	if j == nil {
		return durable.Job{}
	}
	return *j
}

// Change carries out an action on a job.
func (s *Store) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	return do(ctx, s.writer, func(q *querier) (durable.Answer, error) { return q.change(id, c) })
}

// ChangeEach carries out an action on several jobs, in one transaction.
func (s *Store) ChangeEach(ctx context.Context, ids []durable.ID, c durable.Change) ([]durable.Answer, error) {
	return do(ctx, s.writer, func(q *querier) ([]durable.Answer, error) {
		answers := make([]durable.Answer, len(ids))
		for i, id := range ids {
			var err error
			if answers[i], err = q.change(id, c); err != nil {
				return nil, err
			}
		}
		return answers, nil
	})
}

func (q *querier) change(id durable.ID, c durable.Change) (durable.Answer, error) {
	j, err := q.get("where id = ?", id[:])
	if err != nil || j == nil {
		return durable.NotFound, err
	}
	answer := transition.Change(j, c, now())
	if answer == durable.TooLate {
		return answer, nil
	}
	if c.Op == durable.OpDelete {
		return answer, q.remove(j)
	}
	if c.Op == durable.OpRevive && j.HasParents {
		if err := q.revive(j); err != nil {
			return answer, err
		}
	}
	if err := q.put(j); err != nil || !j.HasChildren || !j.State.Done() {
		return answer, err
	}
	_, err = q.ended(now(), id)
	return answer, err
}

// remove removes a job, and what belongs to it.
func (q *querier) remove(j *durable.Job) error {
	_, err := q.exec("delete from executor_job where id = ?", j.ID[:])
	if err == nil {
		_, err = q.removeRest(*j)
	}
	if err == nil && j.HasChildren {
		_, err = q.ended(now(), j.ID)
	}
	return err
}

// Get returns a job.
func (s *Store) Get(ctx context.Context, id durable.ID) (durable.Job, error) {
	return one(sqlrow.Scan(s.read.QueryRowContext(ctx, selectJob+"where id = ?", id[:])))
}

// Find returns the job with a key.
func (s *Store) Find(ctx context.Context, key string) (durable.Job, error) {
	return one(sqlrow.Scan(s.read.QueryRowContext(ctx, selectJob+"where key = ?", key)))
}

func one(j durable.Job, err error) (durable.Job, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return durable.Job{}, durable.ErrNotFound
	}
	return j, err
}

// Runs returns a page of a job's history.
func (s *Store) Runs(ctx context.Context, id durable.ID, before int64, limit int) ([]durable.Run, error) {
	return sqlrow.ScanRuns(s.read.QueryContext(ctx, "select "+sqlrow.RunColumns+` from executor_run
		where job = ?1 and (?2 = 0 or seq < ?2) order by seq desc limit ?3`, id[:], before, limit))
}

// Kinds returns the kinds that have waiting jobs, by one read of the index for each.
func (s *Store) Kinds(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.read.QueryContext(ctx, waitingKinds))
}

var waitingKinds = sqlrow.SQL(`with recursive k(kind) as (
		select min(kind) from executor_job where state = {Waiting}
		union all
		select (select min(j.kind) from executor_job j where j.state = {Waiting} and j.kind > k.kind) from k where k.kind is not null
	) select kind from k where kind is not null`)
