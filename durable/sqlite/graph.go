package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

var (
	addParent    = "insert into executor_parent (child, ord, parent, state) values (?, ?, ?, ?)"
	addAfter     = "insert into executor_after (job, " + sqlrow.CountColumns + ") values (?, ?, ?, ?, ?, ?)"
	markParent   = sqlrow.SQL("update executor_job set family = family | {HasChildren} where id = ? and (family & {HasChildren}) = 0")
	countParent  = sqlrow.SQL("update executor_parent set state = ? where parent = ? and state = {Waiting} returning child")
	countAfter   = "update executor_after set succeeded = succeeded + ?, failed = failed + ? where job = ? returning " + sqlrow.CountColumns
	failedParent = sqlrow.SQL("select parent, state from executor_parent where child = ? and state in ({Dead}, {Canceled}) order by ord limit 1")
)

// parentsThere returns the error of jobs that are to be added if a parent is missing.
func (q *querier) parentsThere(jobs []durable.NewJob) error {
	before := make(map[durable.ID]bool)
	for i := range jobs {
		n := &jobs[i]
		for _, id := range n.After.Parents {
			if before[id] {
				continue
			}
			there := false
			if err := q.row("select exists (select 1 from executor_job where id = ?)", []any{id[:]}, &there); err != nil {
				return err
			}
			if !there {
				// What was added by an earlier call needs its parents no more.
				exists := false
				err := q.row("select exists (select 1 from executor_job where id = ? or key = ?)", []any{n.ID[:], sqlrow.Key(n.Key)}, &exists)
				if err == nil && !exists {
					err = store.NoParent(id)
				}
				if err != nil {
					return err
				}
				break
			}
		}
		before[n.ID] = true
	}
	return nil
}

// graft gives a new job its parents. ids are those of the jobs that were added before it, by the IDs that they were to
// have. It adds the parents to those that have children.
func (q *querier) graft(j *durable.Job, after store.After, ids map[durable.ID]durable.ID, parents map[durable.ID]bool) error {
	c := store.ParentCounts{Total: len(after.Parents), Need: after.Need, Anyway: after.Anyway}
	for i, id := range after.Parents {
		if as, ok := ids[id]; ok {
			id = as
		}
		parents[id] = true
		if _, err := q.exec(markParent, id[:]); err != nil {
			return err
		}
		var state int64
		if err := q.row("select state from executor_job where id = ?", []any{id[:]}, &state); err != nil {
			return err
		}
		counted := durable.Waiting
		if s := durable.State(state); s.Done() {
			counted = s
			c.Add(s, 1)
		}
		if _, err := q.exec(addParent, j.ID[:], i, id[:], int64(counted)); err != nil {
			return err
		}
	}
	if _, err := q.exec(addAfter, j.ID[:], c.Total, c.Succeeded, c.Failed, c.Need, c.Anyway); err != nil {
		return err
	}
	if err := transition.Graft(j, c, q.failed(j.ID)); err != nil {
		return err
	}
	return q.put(j)
}

// failed returns the function that returns the first parent of a job that has failed.
func (q *querier) failed(child durable.ID) func() (durable.ID, durable.State, error) {
	return func() (durable.ID, durable.State, error) {
		all, err := sqlrow.ScanParents(q.query(failedParent, child[:]))
		if err != nil || len(all) == 0 {
			return durable.ID{}, durable.Canceled, err
		}
		return all[0].ID, all[0].State, nil
	}
}

// ended counts for their children those of the jobs that have ended, or are not there any more, and reports whether
// that has released one.
func (q *querier) ended(now time.Time, ended ...durable.ID) (released bool, err error) {
	for len(ended) > 0 {
		touched := make(map[durable.ID]store.ParentCounts) // what is to be added
		for _, id := range ended {
			state := int64(durable.Canceled)
			err := q.row("select state from executor_job where id = ?", []any{id[:]}, &state)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return false, err
			}
			if !durable.State(state).Done() {
				continue
			}
			children, err := sqlrow.ScanIDs(q.query(countParent, state, id[:]))
			if err != nil {
				return false, err
			}
			for _, child := range children {
				c := touched[child]
				c.Add(durable.State(state), 1)
				touched[child] = c
			}
		}
		ended = nil
		for _, child := range slices.SortedFunc(maps.Keys(touched), func(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) }) {
			j, changed, err := q.settle(child, touched[child], now)
			switch {
			case err != nil:
				return false, err
			case !changed:
			case j.State == durable.Canceled:
				ended = append(ended, child)
			default:
				released = true
			}
		}
	}
	return released, nil
}

// settle counts parents of a job that have ended, and reports whether that has changed the job.
func (q *querier) settle(child durable.ID, add store.ParentCounts, now time.Time) (*durable.Job, bool, error) {
	counts, err := sqlrow.ScanParentCounts(q.query(countAfter, add.Succeeded, add.Failed, child[:]))
	if err != nil || len(counts) == 0 || !counts[0].Enough() && !counts[0].Hopeless() {
		return nil, false, err
	}
	j, err := q.get("where id = ?", child[:])
	if err != nil || j == nil {
		return nil, false, err
	}
	changed, err := transition.Settle(j, counts[0], q.failed(child), now)
	if err == nil && changed {
		err = q.put(j)
	}
	return j, changed, err
}

// endedFamily is ended for those of the jobs that have children.
func (q *querier) endedFamily(now time.Time, jobs []durable.Job) (released bool, err error) {
	var ended []durable.ID
	for i := range jobs {
		if jobs[i].HasChildren && jobs[i].State.Done() {
			ended = append(ended, jobs[i].ID)
		}
	}
	if len(ended) == 0 {
		return false, nil
	}
	return q.ended(now, ended...)
}

// reopenParents makes the rows of a job's parents what these are, and recount counts them.
var (
	reopenParents = sqlrow.SQL(`update executor_parent set state = (
		select case when state in {Over} then state else {Waiting} end from executor_job where id = executor_parent.parent)
		where child = ? and exists (select 1 from executor_job where id = executor_parent.parent)`)
	recount = sqlrow.SQL(`update executor_after set
		succeeded = (select count(*) from executor_parent where child = ?1 and state = {Succeeded}),
		failed = (select count(*) from executor_parent where child = ?1 and state in ({Dead}, {Canceled}))
		where job = ?1 returning ` + sqlrow.CountColumns)
)

// revive makes a job that was revived wait for those of its parents that have not ended.
func (q *querier) revive(j *durable.Job) error {
	if _, err := q.exec(reopenParents, j.ID[:]); err != nil {
		return err
	}
	counts, err := sqlrow.ScanParentCounts(q.query(recount, j.ID[:]))
	if err == nil && len(counts) > 0 {
		transition.Block(j, counts[0])
	}
	return err
}

// orphan forgets the parents of a job that is removed.
func (q *querier) orphan(id durable.ID) error {
	for _, statement := range []string{"delete from executor_parent where child = ?", "delete from executor_after where job = ?"} {
		if _, err := q.exec(statement, id[:]); err != nil {
			return err
		}
	}
	return nil
}

// Parents returns a page of a job's parents.
func (s *Store) Parents(ctx context.Context, id durable.ID, from, limit int) ([]durable.Job, error) {
	page, err := sqlrow.ScanParents(s.read.QueryContext(ctx,
		"select parent, state from executor_parent where child = ? and ord >= ? order by ord limit ?", id[:], from, limit))
	if err != nil {
		return nil, err
	}
	var all []durable.Job
	for part := range slices.Chunk(page, most) {
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i].ID[:]
		}
		jobs, err := sqlrow.ScanAll(s.read.QueryContext(ctx, selectJob+"where id in (?"+strings.Repeat(", ?", len(part)-1)+")", args...))
		if err != nil {
			return nil, err
		}
		all = append(all, sqlrow.FillParents(part, jobs)...)
	}
	return all, nil
}

// Children returns a page of a job's children.
func (s *Store) Children(ctx context.Context, id, after durable.ID, limit int) ([]durable.Job, error) {
	return sqlrow.ScanAll(s.read.QueryContext(ctx, listChildren, id[:], after[:], limit))
}

// listChildren reads the children in their order, by the index of the parents, and no more of them than the page has.
// The rows of parents go with their child.
var listChildren = selectJob + `where id in
	(select distinct child from executor_parent where parent = ? and child > ? order by child limit ?) order by id`

// CountChildren counts the children of a job.
func (s *Store) CountChildren(ctx context.Context, id durable.ID) ([]durable.Count, error) {
	return sqlrow.ScanCounts(s.read.QueryContext(ctx, countChildren, id[:]))
}

var countChildren = sqlrow.CountJobs + "executor_job where id in (select child from executor_parent where parent = ?)" + sqlrow.GroupCounts

// CountParents returns how many parents of a job have ended.
func (s *Store) CountParents(ctx context.Context, id durable.ID) (store.ParentCounts, error) {
	c, err := sqlrow.ScanCount(s.read.QueryRowContext(ctx, "select "+sqlrow.CountColumns+" from executor_after where job = ?", id[:]))
	if errors.Is(err, sql.ErrNoRows) {
		err = durable.ErrNotFound
	}
	return c, err
}
