package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// holdParents keeps jobs from ending until the transaction has.
const holdParents = "select id from executor_job where id = any($1::uuid[]) order by id for no key update"

// markParents makes jobs parents. It writes their rows even if they are parents already: a transaction at REPEATABLE
// READ that ends one, and can't see the child, fails by that.
var markParents = sqlrow.SQL(`with l as materialized (` + holdParents + `)
	update executor_job j set family = j.family | {HasChildren} from l where j.id = l.id`)

// fate is what becomes of a job in executor_after by the numbers of its parents: 1 if it need not wait any longer, -1
// if it can't run, or 0.
const fate = `case when a.succeeded + case when a.anyway then a.failed else 0 end >= a.need then 1
	when not a.anyway and a.total - a.failed < a.need then -1 else 0 end`

// culprit is the error of a job a.job that is canceled since a parent has failed: store.ParentFailed in SQL.
const culprit = `(select 'durable: canceled, since parent ' || p.parent::text || ' is ' || case p.state when {Dead} then 'dead' else 'canceled' end
	from executor_parent p where p.child = a.job and p.state in ({Dead}, {Canceled}) order by p.ord limit 1)`

// addParents adds what new jobs wait for; their parents are locked. One that is not there was, when the job was added
// that it stands for in the list: it counts as one that was removed later.
var addParents = sqlrow.SQL(`with e as (
		select * from unnest($1::uuid[], $2::integer[], $3::uuid[]) as e (child, ord, parent)
	), p as (
		insert into executor_parent (child, ord, parent, state, late)
		select e.child, e.ord, e.parent, case when j.id is null then {Canceled} when j.state in {Over} then j.state else {Waiting} end, false
		from e left join executor_job j on j.id = e.parent
		returning child, state
	), c as (
		select child, count(*) as total, count(*) filter (where state = {Succeeded}) as succeeded,
			count(*) filter (where state in ({Dead}, {Canceled})) as failed
		from p group by child
	)
	insert into executor_after (job, total, succeeded, failed, need, anyway)
	select k.job, c.total, c.succeeded, c.failed, k.need, k.anyway
	from unnest($4::uuid[], $5::integer[], $6::boolean[]) as k (job, need, anyway) join c on c.child = k.job`)

// graftJobs is transition.Graft in one statement. It returns the jobs that are canceled and have children.
var graftJobs = sqlrow.SQL(`with f as (
		select a.job, ` + fate + ` as fate, ` + culprit + ` as culprit from executor_after a where a.job = any($1::uuid[])
	), u as (
		update executor_job j set state = case f.fate when 1 then {Waiting} when 0 then {Paused} else {Canceled} end,
			family = j.family | {HasParents} | case f.fate when 0 then {IsBlocked} else 0 end,
			error = case f.fate when -1 then f.culprit else j.error end
		from f where j.id = f.job
		returning j.id, j.state, j.family
	) select id from u where state = {Canceled} and (family & {HasChildren}) <> 0`)

// grafted reports whether a job is to be added with parents.
func grafted(j durable.NewJob) bool { return len(j.After.Parents) > 0 }

// lockParents locks the parents of jobs that are to be added, and returns an error if one is not there, unless its
// child is: by an earlier call, or by its key.
func lockParents(ctx context.Context, q querier, jobs []durable.NewJob) error {
	before := make(map[durable.ID]bool)
	var outside []durable.ID
	for _, n := range jobs {
		for _, id := range n.After.Parents {
			if !before[id] {
				outside = append(outside, id)
			}
		}
		before[n.ID] = true
	}
	held, err := sqlrow.ScanIDs(q.query(ctx, holdParents, uuids(outside)))
	if err != nil {
		return err
	}
	there := make(map[durable.ID]bool, len(held))
	for _, id := range held {
		there[id] = true
	}
	clear(before)
	for _, n := range jobs {
		for _, id := range n.After.Parents {
			if there[id] || before[id] {
				continue
			}
			added := false
			if err := q.queryRow(ctx, "select exists (select from executor_job where id = $1 or key = $2)", uuid(n.ID), n.Key).Scan(&added); err != nil {
				return err
			}
			if !added {
				return store.NoParent(id)
			}
			break
		}
		before[n.ID] = true
	}
	return nil
}

// graft gives those of the jobs that were added the parents that they are to have, and completes what became of them.
func graft(ctx context.Context, q querier, jobs []durable.NewJob, placed []durable.InsertResult) error {
	as := make(map[durable.ID]durable.ID, len(jobs)) // what the jobs of the list stand for, by their own IDs
	var kids, edges, parents []pgtype.UUID
	var ords, needs []int32
	var anyway []bool
	for i, n := range jobs {
		if grafted(n) && placed[i].Changed && placed[i].ID == n.ID {
			kids, needs, anyway = append(kids, uuid(n.ID)), append(needs, int32(n.After.Need)), append(anyway, n.After.Anyway)
			for k, id := range n.After.Parents {
				if of, ok := as[id]; ok {
					id = of
				}
				edges, ords, parents = append(edges, uuid(n.ID)), append(ords, int32(k)), append(parents, uuid(id))
			}
		}
		as[n.ID] = placed[i].ID
	}
	if len(kids) == 0 {
		return nil
	}
	if err := q.exec(ctx, markParents, parents); err != nil {
		return err
	}
	if err := q.exec(ctx, addParents, edges, ords, parents, kids, needs, anyway); err != nil {
		return err
	}
	canceled, err := sqlrow.ScanIDs(q.query(ctx, graftJobs, kids))
	if err == nil {
		_, _, err = ended(ctx, q, canceled)
	}
	if err != nil {
		return err
	}
	ids := make([]durable.ID, len(placed))
	for i := range placed {
		ids[i] = placed[i].ID
	}
	now, err := sqlrow.ScanAll(q.query(ctx, selectJob+"where id = any($1::uuid[])", uuids(ids)))
	if err != nil {
		return err
	}
	by := make(map[durable.ID]*durable.Job, len(now))
	for i := range now {
		by[now[i].ID] = &now[i]
	}
	for i := range placed {
		if j := by[placed[i].ID]; j != nil {
			placed[i].Job = *j
		}
	}
	return nil
}

// childrenOf selects the children of jobs that have ended, or are removed, which are not told yet, and locks them,
// except for those that another transaction has locked. It returns each, and whether it is locked now.
var childrenOf = sqlrow.SQL(`with c as materialized (
		select distinct child from executor_parent where parent = any($1::uuid[]) and state = {Waiting}
	), l as materialized (
		select id from executor_job where id in (select child from c) order by id for no key update skip locked
	) select c.child, l.id is not null from c left join l on l.id = c.child`)

// tellChildren is transition.Settle in one statement. The rows of executor_parent of jobs $1 that have ended get their
// states. What is in these rows counts for the children $2, which are locked, together with what was late; for others
// it is late. It returns how many of the children need not wait any longer, and which are canceled and have children.
// It needs to know the state of the jobs: tellRemoved is for such as are removed.
var tellChildren, tellRemoved = tell("j.state", "from executor_job j where j.id = p.parent and j.state in {Over} and"), tell("{Canceled}", "where")

func tell(state, from string) string {
	return sqlrow.SQL(`with n as materialized (select ` + clock + ` as now),
	k as materialized (select * from pg_catalog.unnest($2::uuid[]) as k (id)),
	e as (
		update executor_parent p set state = ` + state + `, late = p.child not in (select id from k)
		` + from + ` p.parent = any($1::uuid[]) and p.state = {Waiting}
		returning p.child, p.state, p.late
	), older as (
		update executor_parent set late = false where child in (select id from k) and late returning child, state
	), d as (
		select child, count(*) filter (where state = {Succeeded}) as succeeded, count(*) filter (where state <> {Succeeded}) as failed
		from (select child, state from e where not late union all select child, state from older) x group by child
	), a as (
		update executor_after a set succeeded = a.succeeded + d.succeeded, failed = a.failed + d.failed from d where a.job = d.child
		returning a.*
	), f as (
		select a.job, ` + fate + ` as fate from a
	), u as (
		update executor_job j set
			state = case when f.fate < 0 then {Canceled} when j.pending = {PendingPause} then {Paused} else {Waiting} end,
			due = case when f.fate > 0 then greatest(j.due, n.now) else j.due end,
			occurrence = case when f.fate > 0 and j.due < n.now then n.now else j.occurrence end,
			pending = {PendingNone}, family = j.family & ~{IsBlocked}, updated = n.now
		from f, n where j.id = f.job and f.fate <> 0 and j.state = {Paused} and (j.family & {IsBlocked}) <> 0
		returning j.id, j.state
	) select (select count(*) from u where state = {Waiting}), coalesce((select string_agg(id::text, ' ') from u where state = {Canceled}), '')`)
}

// blameParents sets the errors of jobs that are canceled since a parent has failed, once that is in executor_parent. It
// returns those that have children.
var blameParents = sqlrow.SQL(`with u as (
		update executor_job j set error = ` + culprit + ` from executor_after a where a.job = j.id and j.id = any($1::uuid[])
		returning j.id, j.family
	) select id from u where (family & {HasChildren}) <> 0`)

// ended tells the children of jobs that these have ended, and reports whether that has released one. It waits for no
// lock. A child that another transaction has locked is left, with what it is to be told as late in executor_parent: for
// catchUp, once that what was done here is committed, and for heartbeats. Each statement has a snapshot of its own:
// what is late is read when the child is locked.
func ended(ctx context.Context, q querier, ids []durable.ID) (released, left bool, err error) {
	return told(ctx, q, tellChildren, ids)
}

// told is ended by that statement for these jobs, and by tellChildren for those that are canceled by it.
func told(ctx context.Context, q querier, statement string, ids []durable.ID) (released, left bool, err error) {
	for ; len(ids) > 0; statement = tellChildren {
		children, err := sqlrow.ScanChildren(q.query(ctx, childrenOf, uuids(ids)))
		if err != nil {
			return false, false, err
		}
		if len(children) == 0 {
			break
		}
		var locked []durable.ID
		for _, c := range children {
			if c.Locked {
				locked = append(locked, c.ID)
			}
		}
		left = left || len(locked) < len(children)
		more := false
		if ids, more, err = tellLocked(ctx, q, statement, ids, locked); err != nil {
			return false, false, err
		}
		released = released || more
	}
	return released, left, nil
}

// tellLocked tells children that are locked of the ends of these parents, and of what is late. It returns those of them
// that are canceled and have children, and whether one is released.
func tellLocked(ctx context.Context, q querier, statement string, parents, locked []durable.ID) (canceled []durable.ID, released bool, err error) {
	count, text := 0, ""
	if err := q.queryRow(ctx, statement, uuids(parents), uuids(locked)).Scan(&count, &text); err != nil {
		return nil, false, err
	}
	if canceled, err = parseIDs(text); err == nil && len(canceled) > 0 {
		canceled, err = sqlrow.ScanIDs(q.query(ctx, blameParents, uuids(canceled)))
	}
	if err == nil && count > 0 {
		err = notifyNodes(ctx, q)
	}
	return canceled, count > 0, err
}

// parseIDs reads IDs with a space between each two.
func parseIDs(text string) (ids []durable.ID, err error) {
	for field := range strings.FieldsSeq(text) {
		id, err := durable.ParseID(field)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// endedText is ended for IDs with a space between each two. What it leaves is for Prune.
func endedText(ctx context.Context, q querier, text string) error {
	ids, err := parseIDs(text)
	if err == nil {
		_, _, err = ended(ctx, q, ids)
	}
	return err
}

const (
	// late selects the children that are to be told of the end of a parent, and lateOf those of these parents.
	late   = "select distinct child from executor_parent where late limit 1000"
	lateOf = "select distinct child from executor_parent where parent = any($1::uuid[]) and late"

	lockChildren = `with l as materialized (select id from executor_job where id = any($1::uuid[]) order by id for no key update`
	freeChildren = lockChildren + " skip locked) select id from l"
	allChildren  = lockChildren + ") select id from l"
)

// catchUp tells those of these parents' children that ended has left: mostly another node had just told them of another
// parent. It waits for such for a moment, and leaves the rest to heartbeats. What it can't do is no error of the call
// that it is a part of, which is committed.
func (s *Store) catchUp(ctx context.Context, parents []durable.ID) (released bool) {
	children, err := sqlrow.ScanIDs(s.db.QueryContext(ctx, lateOf, uuids(parents)))
	if err != nil || len(children) == 0 {
		return false
	}
	released, _ = s.tellLate(ctx, allChildren, children)
	return released
}

// tellLate tells children of what is late.
func (s *Store) tellLate(ctx context.Context, lock string, children []durable.ID) (bool, error) {
	released, err := do(ctx, together(s.db), func(tx querier) (bool, error) {
		if err := tx.exec(ctx, "select "+hasty); err != nil {
			return false, err
		}
		locked, err := sqlrow.ScanIDs(tx.query(ctx, lock, uuids(children)))
		if err != nil {
			return false, err
		}
		canceled, released, err := tellLocked(ctx, tx, tellChildren, nil, locked)
		if err != nil {
			return false, err
		}
		more, _, err := ended(ctx, tx, canceled)
		return released || more, err
	})
	if released {
		s.floors.reset()
	}
	return released, err
}

// tellAllLate tells any children of what is late.
func (s *Store) tellAllLate(ctx context.Context) error {
	children, err := sqlrow.ScanIDs(s.db.QueryContext(ctx, late))
	if err != nil || len(children) == 0 {
		return err
	}
	_, err = s.tellLate(ctx, freeChildren, children)
	return err
}

// outcomesAt returns a commit of the outcomes at these places.
func outcomesAt(b store.CommitRequest, places []int) store.CommitRequest {
	part := store.CommitRequest{Node: b.Node, History: b.History}
	for _, i := range places {
		part.Outcomes = append(part.Outcomes, b.Outcomes[i])
	}
	return part
}

// committed returns the jobs of those outcomes that were committed.
func committed(b store.CommitRequest, r store.CommitResult) (ids []durable.ID) {
	for i, ok := range r.Committed {
		if ok {
			ids = append(ids, b.Outcomes[i].ID)
		}
	}
	return ids
}

// merge completes an answer by that of the outcomes at these places.
func merge(a *store.CommitResult, places []int, r store.CommitResult) {
	for k, i := range places {
		a.Committed[i] = r.Committed[k]
	}
	a.Before, a.Locked = append(a.Before, r.Before...), append(a.Locked, r.Locked...)
	a.Released = a.Released || r.Released
}

// commitParents commits the outcomes of runs of jobs with children, which Commit has left, in a transaction with what
// that is for the children, and completes the answer.
func (s *Store) commitParents(ctx context.Context, b store.CommitRequest, places []int, a *store.CommitResult) error {
	part, left := outcomesAt(b, places), false
	r, err := do(ctx, together(s.db), func(tx querier) (r store.CommitResult, err error) {
		if err := tx.exec(ctx, "select "+hasty); err != nil {
			return r, err
		}
		if r, _, err = s.commitAll(ctx, tx, part, whole); err == nil {
			r.Released, left, err = ended(ctx, tx, committed(part, r))
		}
		return r, err
	})
	switch {
	case code(err) == lockNotAvailable:
		for _, o := range part.Outcomes {
			a.Locked = append(a.Locked, o.Ref)
		}
		return nil
	case err != nil:
		return err
	}
	if left {
		r.Released = s.catchUp(ctx, committed(part, r)) || r.Released
	}
	if merge(a, places, r); r.Released {
		s.floors.reset()
	}
	return nil
}

// completeParents commits the outcomes of runs of jobs with children in a transaction of the caller's, and notes for
// the children that they have ended. The children are told when the node commits the runs once more, see Commit: until
// the caller's transaction ends, it would keep others from telling them.
func (s *Store) completeParents(ctx context.Context, q querier, b store.CommitRequest, places []int, a *store.CommitResult) error {
	part := outcomesAt(b, places)
	r, _, err := s.commitAll(ctx, q, part, whole)
	if err != nil {
		return err
	}
	merge(a, places, r)
	return q.exec(ctx, tellChildren, uuids(committed(part, r)), uuids(nil))
}

// removeJob removes a job, and what belongs to it, and reports whether a child could not be told.
func removeJob(ctx context.Context, tx querier, j *durable.Job) (left bool, err error) {
	id := uuid(j.ID)
	untag := retagging{}
	untag.add(j.ID, j.Tags, nil)
	if err := untag.write(ctx, tx); err != nil {
		return false, err
	}
	statement := "with runs as (delete from executor_run where job = $1), steps as (delete from executor_step where job = $1) " +
		"delete from executor_job where id = $1"
	if j.HasParents {
		statement = "with parents as (delete from executor_parent where child = $1), after as (delete from executor_after where job = $1), " +
			statement[len("with "):]
	}
	if err := tx.exec(ctx, statement, id); err != nil || !j.HasChildren {
		return false, err
	}
	_, left, err = told(ctx, tx, tellRemoved, []durable.ID{j.ID})
	return left, err
}

// lockParentsOf locks the parents of a job. reopenParents makes the rows of a job's parents what these are, and recount
// counts them.
var (
	lockParentsOf = `select id from executor_job where id in (select parent from executor_parent where child = $1) order by id for no key update`
	reopenParents = sqlrow.SQL(`update executor_parent p set state = case when j.state in {Over} then j.state else {Waiting} end, late = false
		from executor_job j where p.child = $1 and j.id = p.parent`)
	recount = sqlrow.SQL(`update executor_after a set
		succeeded = (select count(*) from executor_parent where child = $1 and state = {Succeeded}),
		failed = (select count(*) from executor_parent where child = $1 and state in ({Dead}, {Canceled}))
		where a.job = $1 returning ` + sqlrow.CountColumns)
)

// revive makes a job that was revived, and is locked, wait for those of its parents that have not ended.
func revive(ctx context.Context, tx querier, j *durable.Job) error {
	id := uuid(j.ID)
	for _, statement := range []string{lockParentsOf, reopenParents} {
		if err := tx.exec(ctx, statement, id); err != nil {
			return err
		}
	}
	c, err := sqlrow.ScanCount(tx.queryRow(ctx, recount, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		transition.Block(j, c)
	}
	return err
}

// Parents returns a page of a job's parents.
func (s *Store) Parents(ctx context.Context, id durable.ID, from, limit int) ([]durable.Job, error) {
	page, err := sqlrow.ScanParents(s.calls.QueryContext(ctx,
		"select parent, state from executor_parent where child = $1 and ord >= $2 order by ord limit $3", uuid(id), from, limit))
	if err != nil || len(page) == 0 {
		return nil, err
	}
	ids := make([]durable.ID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	jobs, err := sqlrow.ScanAll(s.calls.QueryContext(ctx, selectJob+"where id = any($1::uuid[])", uuids(ids)))
	if err != nil {
		return nil, err
	}
	return sqlrow.FillParents(page, jobs), nil
}

// Children returns a page of a job's children.
func (s *Store) Children(ctx context.Context, id, after durable.ID, limit int) ([]durable.Job, error) {
	return sqlrow.ScanAll(s.calls.QueryContext(ctx, listChildren, uuid(id), uuid(after), limit))
}

// listChildren reads no more children than the page has: their rows are large, and those of parents, which go with their
// child, are small.
var listChildren = selectJob + `where id in
	(select distinct child from executor_parent where parent = $1 and child > $2 order by child limit $3) order by id`

// CountChildren counts the children of a job.
func (s *Store) CountChildren(ctx context.Context, id durable.ID) ([]durable.Count, error) {
	return sqlrow.ScanCounts(s.calls.QueryContext(ctx, countChildren, uuid(id)))
}

var countChildren = sqlrow.CountJobs + "executor_job where id in (select child from executor_parent where parent = $1)" + sqlrow.GroupCounts

// CountParents returns how many parents of a job have ended.
func (s *Store) CountParents(ctx context.Context, id durable.ID) (store.ParentCounts, error) {
	c, err := sqlrow.ScanCount(s.calls.QueryRowContext(ctx, "select "+sqlrow.CountColumns+" from executor_after where job = $1", uuid(id)))
	if errors.Is(err, sql.ErrNoRows) {
		err = durable.ErrNotFound
	}
	return c, err
}
