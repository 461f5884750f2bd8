package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// insertJobs adds jobs: transition.New in one statement, which returns what only the server can know, and leaves the
// rest to transition.New itself. If $18 is true, it is in a caller's transaction, whose commit, which may be late,
// notifies the nodes. The lock on the node's row lasts to the commit, so that the node can't be declared dead, and its
// jobs be freed without these. If $17 is true, it waits for no key for longer than a moment. insertTagged is for jobs
// of which some have tags.
var insertJobs, insertTagged = insertStatement(untagged), insertStatement(tagged)

func insertStatement(with tagging) string {
	return sqlrow.SQL(`with node as materialized (
		select id from executor_node where ` + takes + ` for key share skip locked
	), n as materialized (
		select ` + clock + ` as now, (select id from node) as node, case when $17::boolean then ` + hasty + ` end as patience,
			` + promised + ` as commits
	), v as (
		select u.*, n.now, case when u.due = 0 then n.now + u.delay else u.due end as first, coalesce(n.node, '') as node
		from n, unnest($5::uuid[], $6::text[], $7::text[], $8::bytea[], $9::smallint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::integer[], $15::bigint[], $19::text[], $20::text[], $21::text[]` + with.array + `)
			with ordinality as u (id, key, kind, payload, priority, schedule, missed, due, delay, attempts, timeout, meta, part, queue` + with.name + `, ord)
	), w as (
		select *, node <> '' and first <= now + $2 and sum((first <= now + $2)::int) over (order by ord) <= $4 as held, first <= now + $3 as near from v
	), ins as (
		insert into executor_job (` + sqlrow.Columns + `)
		select id, nullif(key, ''), kind, payload, priority, schedule, missed, first, first, first, 0,
			case when not held then {Waiting} when near then {Granted} else {Claimed} end, {PendingNone}, held::int, case when held then node else '' end,
			0, attempts, timeout, 0, 0, '', null, now, now, false, meta, '', ` + with.column + `, part, 0, queue
		from w order by ord
		on conflict do nothing
		returning id, due, state` + with.returned + `
	), ` + with.rows + `notified as materialized (
		select ` + notifyEarly + ` from n where $18::boolean and exists (select from ins where state = {Waiting} and due <= n.now + $16)
	)
	select ins.id, ins.due, ins.state <> {Waiting}, n.now, (select count(*) from notified) from n, ins`)
}

// Insert adds jobs, mostly by one statement. It uses a transaction if some jobs exist already, may take a key from a
// job that has ended, have parents, or if several jobs have keys.
//
// If an open transaction has taken a key, the insert of that key waits for the transaction, without a lock on the row
// of the node, and on a connection that no other call needs. The same holds if an open transaction has locked the row
// of an existing job.
func (s *Store) Insert(ctx context.Context, jobs []durable.NewJob,
	p store.Placement) ([]durable.InsertResult, error) {
	keyed := slices.ContainsFunc(jobs, func(j durable.NewJob) bool { return j.Key != "" })
	reusing := slices.ContainsFunc(jobs, func(j durable.NewJob) bool { return j.ReuseKey || len(j.Among) > 0 })
	begun := time.Now()
	var placed []durable.InsertResult
	if slices.ContainsFunc(jobs, grafted) {
		reusing, p = true, store.Placement{} // a transaction; what waits for others is left to a claim
	}
	if !reusing && (!keyed || len(jobs) == 1) {
		var err error
		placed, err = do(ctx, each(s.calls), func(q querier) ([]durable.InsertResult, error) {
			return insert(ctx, q, jobs, p, keyed, false)
		})
		if err == nil && !slices.ContainsFunc(placed, absent) {
			s.lowerTo(placed)
			s.added(placed, begun)
			return placed, nil
		}
		if err != nil && code(err) != lockNotAvailable {
			return nil, explain(err, s.config.User)
		}
	}
	var conflict *conflictError
	placed, err := again(func(freed bool) ([]durable.InsertResult, error) {
		return call(ctx, s, func(tx querier, waits bool) ([]durable.InsertResult, error) {
			if waits || len(jobs) > 1 {
				p = store.Placement{} // see insertJobs: it would keep a node alive, or what it has from being freed
			}
			return insertAll(ctx, tx, jobs, placed, p, false, freed)
		})
	})
	if errors.As(err, &conflict) {
		return conflict.results, nil
	}
	s.lowerTo(placed)
	s.added(placed, begun)
	return placed, err
}

// absent reports whether a job was not added, and so may be there already.
func absent(p durable.InsertResult) bool { return p.Now.IsZero() }

// lowerTo lowers the floors to the jobs that were due already.
func (s *Store) lowerTo(placed []durable.InsertResult) {
	for i := range placed {
		if p := &placed[i]; p.State == durable.Waiting && p.Due.Before(p.Now) {
			s.floors.lower(p.Due)
		}
	}
}

// freeKeys takes the keys that are to be reused from jobs that are over. No other transaction can have one of them
// before this one has ended. Those of schedules are among them only if found is true, as few of them can be had.
func freeKeys(ctx context.Context, tx querier, jobs []durable.NewJob, found bool) error {
	var ids []pgtype.UUID
	var keys []string
	var among []int32
	var within []int64
	var periodic []bool
	for i := range jobs {
		if j := &jobs[i]; j.ReuseKey || len(j.Among) > 0 || found && j.Periodic() {
			ids, keys = append(ids, uuid(j.ID)), append(keys, j.Key)
			among, within = append(among, statesOf(j)), append(within, j.Within.Microseconds())
			periodic = append(periodic, j.Periodic())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return tx.exec(ctx, unkeyJobs, ids, keys, among, within, periodic)
}

// statesOf returns the states in which a job keeps the key that j is to have, a bit for each as the rows have them.
func statesOf(j *durable.NewJob) (bits int32) {
	states := j.Among
	switch {
	case len(states) > 0:
	case !j.ReuseKey:
		return -1
	default:
		states = []durable.State{durable.Waiting, durable.Claimed, durable.Running, durable.Paused}
	}
	for _, s := range states {
		if s <= durable.Paused { // others are among these in rows
			bits |= 1 << s
		}
	}
	return bits
}

// unkeyJobs is transition.Reuses in one statement: it takes the keys from jobs, except from those that an earlier call
// added with the same IDs.
// It locks them in the order of their keys, as insertAll does.
var unkeyJobs = sqlrow.SQL(`update executor_job set key = null where id = any(array(select j.id from executor_job j, unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::boolean[]) as n (id, key, among, within, periodic)
		where j.key = n.key and (j.schedule = 'once' or j.state in {Over}) and ((n.among >> j.state::integer) & 1 = 0 or n.within > 0 and j.state in {Over} and j.updated + n.within <= ` + clock + `
			or n.periodic and j.state in {Over} and (j.family & {IsAbsent}) <> 0)
			and not exists (select from executor_job where id = n.id) order by j.key for update of j))`)

// insert adds the jobs that are not there; those that are, are absent in its results. If tx is set, q is a caller's
// transaction.
func insert(ctx context.Context, q querier, jobs []durable.NewJob, p store.Placement,
	hurry, tx bool) ([]durable.InsertResult, error) {
	n := len(jobs)
	var (
		ids                            = make([]pgtype.UUID, n)
		keys, kinds, schedules, misses = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		metas, parts, queues           = make([]string, n), make([]string, n), make([]string, n)
		payloads                       = make([][]byte, n)
		priorities                     = make([]int16, n)
		dues, delays, timeouts         = make([]int64, n), make([]int64, n), make([]int64, n)
		attempts                       = make([]int32, n)
		index                          = make(map[durable.ID]int, n)
		placed                         = make([]durable.InsertResult, n)
	)
	for i, j := range jobs {
		index[j.ID] = i
		ids[i], keys[i], kinds[i], schedules[i], misses[i] = uuid(j.ID), j.Key, j.Kind, j.Schedule, j.Missed
		payloads[i], priorities[i], attempts[i] = append([]byte{}, j.Payload...), int16(sqlrow.Priority(j.Priority, j.Queue)), int32(j.Attempts)
		dues[i], delays[i], timeouts[i] = sqlrow.Micros(j.Due), j.Delay.Microseconds(), j.Timeout.Microseconds()
		metas[i], parts[i], queues[i] = sqlrow.Meta(j.Meta), j.Partition, j.Queue
	}
	statement, args := insertJobs, []any{p.Node, p.Ahead.Microseconds(), p.Lead.Microseconds(), p.Limit,
		ids, keys, kinds, payloads, priorities, schedules, misses, dues, delays, attempts, timeouts, near, hurry, tx,
		metas, parts, queues}
	if tags := tagsOf(jobs); tags != nil {
		statement, args = insertTagged, append(args, tags)
	}
	rows, err := q.query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id []byte
		var due, now, notified int64
		var held bool
		if err := rows.Scan(&id, &due, &held, &now, &notified); err != nil {
			return nil, err
		}
		known, err := sqlrow.ID(id)
		if err != nil {
			return nil, err
		}
		i := index[known]
		n := jobs[i]
		n.Due = sqlrow.Time(due)
		j := transition.New(n, p, held, sqlrow.Time(now))
		placed[i] = durable.InsertResult{Job: j, Changed: true, Held: held, Now: sqlrow.Time(now)}
	}
	return placed, rows.Err()
}

var selectJob = "select " + sqlrow.Read + " from executor_job "

// lock reads and locks one job. It returns nil if there is none.
func lock(ctx context.Context, tx querier, where string, arg any) (*durable.Job, error) {
	return get(ctx, tx, where+" for update", arg)
}

// get reads one job. It returns nil if there is none.
func get(ctx context.Context, tx querier, where string, arg any) (*durable.Job, error) {
	j, err := sqlrow.Scan(tx.queryRow(ctx, selectJob+"where "+where, arg))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &j, err
}

// updateJob writes all columns of a job, and takes it out of line: a claim puts it there again, at its new time.
var updateJob = func() string {
	var b strings.Builder
	for i, name := range sqlrow.Names[1:] {
		fmt.Fprintf(&b, ", %s = $%d", name, i+2)
	}
	return "update executor_job set lined = -1" + b.String() + " where id = $1"
}()

// put writes a job that is there already, and notifies the nodes if they have to do something about it soon.
func put(ctx context.Context, tx querier, j *durable.Job, now time.Time) error {
	err := tx.exec(ctx, updateJob, sqlrow.Values(j, uuid(j.ID))...)
	if err == nil && due(j, now) {
		err = notifyNodes(ctx, tx)
	}
	return err
}

func serverTime(ctx context.Context, q querier) (time.Time, error) {
	return readTime(q.queryRow(ctx, "select "+clock))
}

func readTime(row sqlrow.Scanner) (time.Time, error) {
	var now int64
	if err := row.Scan(&now); err != nil {
		return time.Time{}, err
	}
	return sqlrow.Time(now), nil
}
