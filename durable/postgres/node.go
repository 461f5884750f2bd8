package postgres

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Now returns the server's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return serverTime(ctx, standard{s.calls})
}

// Join adds a node.
func (s *Store) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	return do(ctx, each(s.db), func(q querier) (time.Time, error) {
		return readTime(q.queryRow(ctx, joinNode, node, lease.Microseconds()))
	})
}

const joinNode = `with n as materialized (select ` + clock + ` as now)
	insert into executor_node (id, lease_until, lease, joined) select $1, n.now + $2, $2, n.now from n
	on conflict (id) do update set lease_until = excluded.lease_until, lease = excluded.lease, joined = excluded.joined
	returning lease_until - $2`

// heartbeat renews a lease, begins those of others anew or cuts them down after a jump of the clock, and looks for a
// job as lookJobs does. The sub-selects see the leases as they were before it. A row whose lease_until is 0 is a
// tombstone, see sqlrow.Bury. Of parents that are late a planner without statistics expects many: the order makes it use the
// index.
var heartbeat, heartbeatQueues = heartbeatOf(""), heartbeatOf(` or exists (
		select from pg_catalog.unnest($8::text[]) as k (kind), pg_catalog.unnest($9::text[]) as q (queue), pg_catalog.unnest({Priorities}) as p (priority), lateral (
			select from executor_job where state < {Claimed} and queue <> '' and queue = q.queue and kind = k.kind and priority = p.priority + {Queued}
				and due <= (select now + $4 from n) order by due limit 1) j)`)

// heartbeatOf returns the statement of a heartbeat that looks for a job in one more way. heartbeatQueues looks in
// queues, too.
func heartbeatOf(look string) string {
	return sqlrow.SQL(`with n as materialized (select ` + clock + ` as now),
	me as materialized (select lease_until < n.now as late from executor_node, n where id = $1 and lease_until > 0),
	renewed as (update executor_node set lease_until = n.now + $2, lease = $2 from n where id = $1 and lease_until > 0 returning drain),
	renewed_others as (
		update executor_node set lease_until = n.now + lease from n where id in (
			select x.id from executor_node x, n, me where x.id <> $1 and x.lease_until > 0 and x.lease > 0
				and (me.late and x.lease_until < n.now or x.lease_until > n.now + x.lease + 1000000)
			for update of x skip locked)
	)
	select n.now, exists (select from renewed), exists (select from renewed where drain),
		not exists (select from me where late) and exists (select from executor_node where id <> $1 and lease_until < n.now),
		exists (select from executor_job where state in {Held} and owner = $1 and pending = {PendingCancel}),
		exists (select from executor_pause),
		exists (select from (select from executor_parent where late order by child limit 1) l),
		exists (select from unnest($3::text[], $5::bigint[], $6::bigint[], $7::bigint[]) as k (kind, high, normal, low), pg_catalog.unnest({Priorities}) as p (priority), lateral (
			select from executor_job where state = {Waiting} and kind = k.kind and priority = p.priority
				and due <= (select now + $4 from n) and due >= (array[k.high, k.normal, k.low])[{High} - p.priority + 1] order by due limit 1) j)` + look + `
	from n`)
}

// Heartbeat renews a lease, frees the jobs of dead nodes, and looks for a job. Heartbeat is one statement, unless a
// node is dead, a kind is paused, a job is to be canceled, or the end of a parent has to be applied to a child.
func (s *Store) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w store.Watch) (store.HeartbeatResult, error) {
	p, err := do(ctx, each(s.db), func(q querier) (p pulse, err error) {
		kinds := w.Kinds
		if w.Elsewhere {
			kinds = nil
		}
		high, normal, low := s.floors.of(kinds)
		statement, args := heartbeat, []any{node, lease.Microseconds(), kinds, w.Ahead.Microseconds(), high, normal, low}
		if len(w.Queues) > 0 {
			statement, args = heartbeatQueues, append(args, w.Kinds, w.Queues)
		}
		var now int64
		err = q.queryRow(ctx, statement, args...).Scan(&now, &p.Alive, &p.Draining, &p.dead, &p.wanted, &p.paused, &p.late, &p.Due)
		p.Now = sqlrow.Time(now)
		return p, err
	})
	if err != nil {
		return store.HeartbeatResult{}, err
	}
	s.floors.heard(sqlrow.Micros(p.Now))
	fail := func(err error) (store.HeartbeatResult, error) {
		if p.Alive {
			err = &store.RenewedError{Now: p.Now, Err: err}
		}
		return store.HeartbeatResult{}, err
	}
	if p.dead || !p.Alive {
		r, err := do(ctx, together(s.db), func(tx querier) (reaped, error) { return reap(ctx, tx, node) })
		s.floors.reset()
		if err != nil {
			return fail(err)
		}
		p.Freed, p.Dead = r.freed, r.dead
	}
	if p.late {
		if err := s.tellAllLate(ctx); err != nil && code(err) != lockNotAvailable {
			return fail(err)
		}
	}
	if p.paused {
		if p.Paused, err = s.PausedKinds(ctx); err != nil {
			return fail(err)
		}
	}
	if p.wanted {
		jobs, err := sqlrow.ScanAll(s.db.QueryContext(ctx, selectToCancel, node))
		if err != nil {
			return fail(err)
		}
		for _, j := range jobs {
			p.Canceled = append(p.Canceled, store.Ref{ID: j.ID, Epoch: j.Epoch})
		}
	}
	return p.HeartbeatResult, nil
}

// pulse is what a heartbeat's statement answers.
type pulse struct {
	store.HeartbeatResult
	dead, wanted, paused, late bool // there is something of the sort
}

// selectToCancel selects what a node runs that is to be canceled.
var selectToCancel = sqlrow.SQL(selectJob + "where state in {Held} and owner = $1 and pending = {PendingCancel}")

// reapJobs, which has store.ReapDelay in it, frees what nodes hold that are not there any more: transition.Reap in
// one statement, however much it is, as it must be done well within the lease of the node that does it. A job that was
// changed since the statement has begun is left to the next heartbeat: what is decided here is decided by rows as they
// were then, which have their ctid as long as they are the newest.
var reapJobs = sqlrow.SQL(`with n as materialized (select ` + clock + ` as now),
	held as materialized (
		select j.id, j.ctid as place, j.epoch, j.owner, b.started, (b.job is not null)::int as begun, least(j.attempt, {MostSmall} - 1) + (b.job is not null)::int as attempt
		from executor_job j left join executor_begun b on b.job = j.id and b.epoch = j.epoch
		where state in {Held} and not exists (select from executor_node where id = j.owner)
		for update of j skip locked
	), o as materialized (
		select h.*, j.occurrence as run_occurrence, 1000000::bigint << least(greatest(h.attempt - 2, 0), 6) as least,
			((('x' || right(h.id::text, 8))::bit(32)::bigint + (h.epoch & 1023) * 2654435761) & 4294967295) >> 22 as mixed,
			begun = 1 and pending <> {PendingCancel} and case schedule when 'once' then h.attempt >= attempts and next_due = 0 else lost + 1 >= $1 end as dead
		from held h join executor_job j on j.id = h.id and j.ctid = h.place
	), u as (
		update executor_job j set
			state = case when o.dead then {Dead} when j.pending = {PendingCancel} and not (j.schedule = 'once' and j.next_due <> 0) then {Canceled} when j.pending = {PendingPause} then {Paused} else {Waiting} end,
			due = case when o.dead then j.due when j.next_due <> 0 then j.next_due
				when o.begun = 0 and o.attempt = 0 and j.occurrence > n.now and j.schedule = 'once' then greatest(j.due, j.occurrence)
				when o.begun = 0 then j.due
				when o.attempt < 2 then n.now else n.now + o.least + (o.least * o.mixed >> 10) end,
			occurrence = case when not o.dead and j.next_due <> 0 then j.next_due
				when o.begun = 0 and o.attempt = 0 and j.occurrence > n.now and j.schedule <> 'once' then least(j.due, j.occurrence)
				else j.occurrence end,
			attempt = case when not o.dead and j.next_due <> 0 then 0 else o.attempt end,
			pending = {PendingNone}, next_due = 0, owner = '', epoch = least(j.epoch + 1, {Most}),
			runs = least(j.runs + o.begun, {Most}), lost = least(j.lost + o.begun, {MostSmall}),
			suspect = j.suspect or j.state = {Granted},
			updated = case when not o.dead and j.schedule <> 'once' and j.pending <> {PendingCancel}
				and case when j.next_due <> 0 then j.next_due when o.begun = 0 then j.due else 0 end > n.now then greatest(j.updated, n.now) else n.now end,
			error = case o.begun when 1 then 'durable: node ' || o.owner || ' was lost' else j.error end, label = case o.begun when 1 then '' else j.label end
		from o, n where j.id = o.id
		returning o.*, j.runs, j.error, n.now, (j.family & {HasChildren}) <> 0 and j.state in {Over} as ended
	), added as (
		insert into executor_run (` + sqlrow.RunColumns + `)
		select id, runs, run_occurrence, attempt, epoch, owner, started, now, {RunLost}, error, '' from u where begun = 1
		on conflict do nothing
	) select count(*), coalesce(string_agg(id::text, ' ') filter (where dead), ''),
		coalesce(string_agg(id::text, ' ') filter (where ended), '') from u`)

// reaped is what reap has done.
type reaped struct {
	freed int
	dead  []durable.ID
}

// reap removes nodes whose lease is over, and frees what they held. It waits for no lock: a node that was stopped in
// the middle of a transaction must not stop those that free its jobs. Each statement has a snapshot of its own: the
// second sees what a node claimed up to the moment in which the first removed it.
func reap(ctx context.Context, tx querier, node string) (r reaped, err error) {
	if err := tx.exec(ctx, `delete from executor_node where id in (
		select id from executor_node where id <> $1 and lease_until < `+clock+` for update skip locked)`, node); err != nil {
		return r, err
	}
	var buried, parents string
	if err := tx.queryRow(ctx, reapJobs, durable.MaxLost).Scan(&r.freed, &buried, &parents); err != nil {
		return r, err
	}
	if err := tx.exec(ctx, sqlrow.Bury); err != nil { // those of which something could not be freed, as its row is locked
		return r, err
	}
	if r.dead, err = parseIDs(buried); err != nil || r.freed == 0 {
		return r, err
	}
	if err := endedText(ctx, tx, parents); err != nil {
		return r, err
	}
	return r, notifyNodes(ctx, tx)
}

// notifyNodes wakes the nodes when tx is committed.
func notifyNodes(ctx context.Context, q querier) error {
	return q.exec(ctx, "select "+notifyEarly)
}

// Leave removes a node.
func (s *Store) Leave(ctx context.Context, node string) error {
	_, err := do(ctx, together(s.db), func(tx querier) (left bool, err error) {
		// In this order: nothing can be claimed for the node in between.
		if err := tx.exec(ctx, "delete from executor_node where id = $1", node); err != nil {
			return false, err
		}
		left, err = release(ctx, tx, node, nil)
		s.floors.reset()
		if err == nil && left {
			err = tx.exec(ctx, sqlrow.Bury)
		}
		return left, err
	})
	return err
}

// underWay reports whether a statement of the node is under way, which holds its row until it is committed. Most are
// claims and inserts that the node has given up: the rows that they make the node's are in no snapshot yet. It is a
// statement of its own, and not a part of Release's transaction, since a heartbeat of the node waits for this lock;
// whatever was committed before it is in the snapshot of the next.
const underWay = `with me as materialized (select from executor_node where id = $1 for update skip locked)
	select exists (select from executor_node where id = $1) and not exists (select from me)`

// Release frees the jobs that a node holds, except keep.
func (s *Store) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	later := false
	if err := s.db.QueryRowContext(ctx, underWay, node).Scan(&later); err != nil {
		return false, err
	}
	left, err = do(ctx, together(s.db), func(tx querier) (bool, error) { return release(ctx, tx, node, keep) })
	s.floors.reset()
	return left || later, err
}

// releaseJobs is transition.Release in one statement.
var releaseJobs = sqlrow.SQL(`with n as materialized (select ` + clock + ` as now),
	o as materialized (
		select id from executor_job where state in {Held} and owner = $1 and not (id = any($2::uuid[])) for update skip locked
	), u as (
		update executor_job j set
			state = case when j.pending = {PendingCancel} and not (j.schedule = 'once' and j.next_due <> 0) then {Canceled}
				when j.pending = {PendingPause} then {Paused} else {Waiting} end,
			due = case when j.next_due <> 0 then j.next_due
				when j.attempt = 0 and j.occurrence > n.now and j.schedule = 'once' then greatest(j.due, j.occurrence) else j.due end,
			occurrence = case when j.next_due <> 0 then j.next_due
				when j.attempt = 0 and j.occurrence > n.now and j.schedule <> 'once' then least(j.due, j.occurrence)
				else j.occurrence end,
			attempt = case when j.next_due <> 0 then 0 else j.attempt end,
			pending = {PendingNone}, next_due = 0, owner = '', epoch = least(j.epoch + 1, {Most}),
			updated = case when j.schedule <> 'once' and j.pending <> {PendingCancel}
				and case when j.next_due <> 0 then j.next_due else j.due end > n.now then greatest(j.updated, n.now) else n.now end
		from o, n where j.id = o.id
		returning j.id, (j.family & {HasChildren}) <> 0 and j.state in {Over} as ended
	) select count(*), coalesce(string_agg(id::text, ' ') filter (where ended), '') from u`)

// holdsMore reports whether a node holds more than the jobs given.
var holdsMore = sqlrow.SQL("select exists (select from executor_job where state in {Held} and owner = $1 and not (id = any($2::uuid[])))")

func release(ctx context.Context, tx querier, node string, keep []durable.ID) (left bool, err error) {
	freed, parents := 0, ""
	if err := tx.queryRow(ctx, releaseJobs, node, uuids(keep)).Scan(&freed, &parents); err != nil {
		return false, err
	}
	if err := endedText(ctx, tx, parents); err != nil {
		return false, err
	}
	err = tx.queryRow(ctx, holdsMore, node, uuids(keep)).Scan(&left)
	if err == nil && freed > 0 {
		err = notifyNodes(ctx, tx)
	}
	return left, err
}
