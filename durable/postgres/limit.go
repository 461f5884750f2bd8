package postgres

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Partitions. A claim must not look at all jobs that wait for one partition, nor at all partitions of which none may be
// claimed. So executor_part has a row for each partition, and priority, that has jobs which wait: its place in line, a
// time before which nothing of it is near. A claim reads the partitions in that order, past those that have as many
// jobs held as they may, which are no more than there are jobs held; and of each the few jobs that it may claim, by an
// index. Those that had a turn get the time of the claim as their next place, or that at which their next job is due.
//
// Those who add jobs, and end runs, do not write to executor_part, where they would wait for each other. What has begun
// to wait is in a small index of its own, and a claim puts that in line first. All that is counted are the jobs that
// are held. Whoever writes to executor_part has the lock on the kind's row in executor_limit, and increments its turn,
// so that no claim goes by a line that is older.

// lineJobs puts jobs in line, if some are not. A job that waits anew has another epoch than before, as each claim of it
// and whatever takes it from a node increment it; and one that is changed while it waits is taken out of line.
var lineJobs = sqlrow.SQL(`with n as materialized (select ` + clock + ` as now),
	mine as materialized (
		select kind from executor_limit l where kind = any($1::text[]) and exists (
			select from executor_job where state < {Claimed} and part <> '' and lined <> epoch and kind = l.kind) for update skip locked
	), fresh as materialized (
		select j.id from mine cross join lateral (
			select id from executor_job where state < {Claimed} and part <> '' and lined <> epoch and kind = mine.kind limit $2 for update skip locked) j
	), u as (
		update executor_job j set lined = j.epoch from fresh where j.id = fresh.id returning j.kind, j.priority, j.part, j.due
	), lines as (
		insert into executor_part (kind, priority, part, line)
		select kind, priority, part, greatest(min(due), (select now from n)) from u group by kind, priority, part
		on conflict (kind, priority, part) do update set line = least(executor_part.line, excluded.line)
	), turned as (
		update executor_limit set turn = turn + 1 where kind in (select kind from u)
	) select count(*) from u`)

// lineFew is how many jobs are put in line at once, and lineMost how many by a claim.
const lineFew, lineMost = 2000, 10_000

// line puts jobs of kinds in line. It reports whether there may be more than it takes at once.
func (s *Store) line(ctx context.Context, kinds []string) (more bool, err error) {
	for range lineMost / lineFew {
		n, err := do(ctx, s.direct, func(q querier) (n int, err error) {
			err = q.queryRow(ctx, lineJobs, kinds, lineFew).Scan(&n)
			return n, err
		})
		if err != nil || n < lineFew {
			return false, err
		}
	}
	return true, nil
}

// relineMost is how many partitions one call of Prune looks at.
const relineMost = 1000

// relineJobs takes a job of each partition out of line that has no place by which its jobs would be found: somebody has
// changed the tables by hand, or a program that does not know of partitions has changed the jobs. A claim puts it in
// line again, and the partition with it. It looks at so many partitions after one, in the order of their names, by the
// first job of each, and returns the last if there were as many. It has no "not exists", which the planner may turn into
// one look at all places there are.
var relineJobs = sqlrow.SQL(`with recursive n as materialized (select ` + clock + ` as now),
	look as (
		(select id, kind, part, priority, due, 1 as ord from executor_job
			where state < {Claimed} and part <> '' and (kind, part, priority) > ($1::text, $2::text, $3::smallint)
			order by kind, part, priority, due limit 1)
		union all
		select j.id, j.kind, j.part, j.priority, j.due, look.ord + 1 from look cross join lateral (
			select id, kind, part, priority, due from executor_job
			where state < {Claimed} and part <> '' and (kind, part, priority) > (look.kind, look.part, look.priority)
			order by kind, part, priority, due limit 1) j
		where look.ord < $4
	), lost as materialized (
		select id from executor_job where id = any(array(
			select l.id from look l, n where coalesce((select false from executor_part p
				where p.kind = l.kind and p.priority = l.priority and p.part = l.part and p.line <= greatest(l.due, n.now) limit 1), true))) for update skip locked
	), u as (
		update executor_job set lined = -1 where id in (select id from lost)
	) select coalesce(max(kind), ''), coalesce(max(part), ''), coalesce(max(priority), 0) from look where ord = $4`)

// A partName names a partition with jobs of a priority that wait.
type partName struct {
	kind, part string
	priority   int16
}

// reline runs relineJobs, and goes on where the last call has ended.
func (s *Store) reline(ctx context.Context) error {
	last, err := do(ctx, each(s.db), func(q querier) (last partName, err error) {
		after := s.pruned.parts
		err = q.queryRow(ctx, relineJobs, after.kind, after.part, after.priority, relineMost).Scan(&last.kind, &last.part, &last.priority)
		return last, err
	})
	if err == nil {
		s.pruned.parts = last
	}
	return err
}

// ClaimLimited is Claim, and heeds the rates and partition limits of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.claimLimited(ctx, "", r)
}

func (s *Store) claimLimited(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	var parted []string
	for _, k := range r.Kinds {
		if k.Limited() {
			if err := s.lockable(ctx, k.Kind); err != nil {
				return store.ClaimResult{}, err
			}
		}
		if k.PerPartition > 0 {
			parted = append(parted, k.Kind)
		}
	}
	more := false
	if len(parted) > 0 {
		var err error
		if more, err = s.line(ctx, parted); err != nil {
			return store.ClaimResult{}, err
		}
	}
	c, err := s.claim(ctx, queue, r)
	if err == nil && more {
		c.Next = c.Now
	}
	return c, err
}

// claimLimited is claimBounded, and keeps the limits of kinds.
//
// Rates: transition.Bucket and transition.Take for all jobs at once. Of a kind with a rate the jobs that are near are
// numbered in the order in which they are claimed. The bucket is full, before the nth takes its token, at base + (n-1)
// * every: base is the latest time, of those at which the ones before it begin, less a token for each that came before
// them; or when it was full, if that is later. The first that lacks a token ends it. The row of the kind, which is
// locked as for a limit, has when the bucket is full afterwards.
//
// Partitions: lines are those that come first, ofparts what is near of each, seen whether something was and is claimed,
// and visited when the next of those is due that had their turn or have nothing near. What may be many is looked up in
// an object, or by a hashed subquery in a list of columns: without statistics the planner takes it for few, and would
// compare each with each.
func claimLimited(look string) string {
	return claimJobs(fmt.Sprintf(`asked as (
		select * from unnest((select $5::text[]), $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
			with ordinality as a (kind, most, high, normal, low, global, every, burst, per, ord)
	), mine as materialized (
		select kind, turn, filled from executor_limit where kind in (select kind from asked where global > 0 or every > 0 or per > 0) for update skip locked
	), free as materialized (
		select a.kind, a.ord, a.high, a.normal, a.low, a.every, a.burst, a.per, case when a.global = 0 then a.most else least(a.most, a.global - (
				select count(*) from executor_node m join executor_job h on h.owner = m.id where h.state in {Held} and h.kind = a.kind)) end as most,
			case when m.filled > n.now + greatest($2::bigint, 60000000) + a.every * a.burst then n.now + a.every * (a.burst - 1) else m.filled end as filled
		from n, asked a left join mine m on m.kind = a.kind
		where a.global = 0 and a.every = 0 and a.per = 0
			or exists (select from executor_limit seen where seen.kind = m.kind and seen.turn = m.turn)
	), looks as materialized (
		select p.priority, f.* from free f, pg_catalog.unnest({Priorities}) as p (priority) where f.most > 0
	), held as materialized (
		select kind, pg_catalog.jsonb_object_agg(part, jobs) as jobs from (
			select f.kind, h.part, count(*) as jobs from free f join executor_node m on f.per > 0 join executor_job h on h.owner = m.id
			where h.state in {Held} and h.kind = f.kind and h.part <> '' group by f.kind, h.part) x group by kind
	), lines as materialized (
		select k.*, p.part, p.line, p.space, row_number() over () as place from looks k left join held h on h.kind = k.kind cross join lateral (
			select p.part, p.line, k.per - coalesce((h.jobs ->> p.part)::bigint, 0) as space from executor_part p
			where p.kind = k.kind and p.priority = k.priority and p.line <= (select now + $2 from n) and coalesce((h.jobs ->> p.part)::bigint, 0) < k.per
			order by p.line, p.part limit k.most + %[2]d
		) p where k.per > 0 and exists (select from node)
	), ofparts as materialized (
		select j.id, j.due, k.*, row_number() over (partition by k.kind, k.part order by k.priority desc, j.due) as nth
		from lines k cross join lateral (
			select id, due from executor_job
			where state < {Claimed} and kind = k.kind and part = k.part and part <> '' and priority = k.priority and due <= (select now + $2 from n)
			order by due limit least(k.space, k.most) for update skip locked
		) j
	), loose as materialized (
		select j.id, j.due, k.* from looks k cross join lateral (
			select id, due from executor_job where state = {Waiting} and id in (
				select id from (
					select id, part from executor_job where state = {Waiting} and kind = k.kind and priority = k.priority and due <= (select now + $2 from n)
					order by due limit k.most + %[1]d
				) w where part = ''
			) order by due limit k.most for update skip locked
		) j where k.per > 0 and exists (select from node)
	), plenty as materialized (
		select j.id, j.due, k.priority, k.ord, k.kind
		from (select * from looks where most >= $4 and every = 0 and per = 0 order by priority desc, ord offset 0) k cross join lateral (`+look+`) j
		limit (select $4::bigint)
	), bounded as materialized (
		select j.id, j.due, k.*
		from looks k cross join lateral (`+look+`) j
		where k.per = 0 and (k.most < $4 or k.every > 0)
	), near as materialized (
		select id, kind, priority, ord, most, every, burst, filled, due, 1 as turn, due as line, '' collate "C" as part, null::bigint as place from bounded
		union all select id, kind, priority, ord, most, every, burst, filled, due, 1, due, '', null from loose
		union all select id, kind, priority, ord, most, every, burst, filled, due, nth, line, part, place from ofparts where nth <= space
	), numbered as materialized (
		select *, greatest(due, now) as begins, row_number() over (partition by kind order by priority desc, turn, line, part, due) as nth from near, n
	), paced as materialized (
		select *, greatest(filled, max(begins - (nth - 1) * every) over (partition by kind order by nth rows between unbounded preceding and 1 preceding)) as base
		from numbered where nth <= most
	), tokens as materialized (
		select *, greatest(base, begins - (nth - 1) * every) + nth * every as after,
			bool_and(every = 0 or begins >= base + (nth - burst) * every) over (partition by kind order by nth) as there
		from paced
	), pick as materialized (
		select id, kind, after, place from (
			select id, kind, null::bigint as after, 0 as nth, due, priority, ord, null::bigint as place from plenty
			union all select id, kind, case when every > 0 then after end, nth, due, priority, ord, place from tokens where there
		) x order by priority desc, ord, nth, due limit (select $4::bigint)
	), spent as materialized (
		select kind, max(after) as filled from pick where after is not null group by kind
	), seen as materialized (
		select kind, priority, part, place in (select place from ofparts) as near, place in (select place from pick where place is not null) as given from lines
	), visited as materialized (
		select k.kind, k.priority, k.part, k.near, (
			select j.due from executor_job j where j.state < {Claimed} and j.kind = k.kind and j.part = k.part and j.part <> '' and j.priority = k.priority
				and j.id not in (select id from pick) order by j.due limit 1) as due
		from seen k where k.given or not k.near
	)`, looseFew, partsFew), `, turned as (
		update executor_limit l set turn = turn + 1, filled = coalesce((select s.filled from spent s where s.kind = l.kind), l.filled)
		where kind in (select kind from mine intersect (select kind from u union select kind from visited))
	), emptied as (
		delete from executor_part p using visited v where p.kind = v.kind and p.priority = v.priority and p.part = v.part and v.due is null
	), moved as (
		update executor_part p set line = greatest(v.due, n.now) from visited v, n
		where p.kind = v.kind and p.priority = v.priority and p.part = v.part and v.due is not null
	)`, "(select count(*) from free) < (select count(*) from asked)",
		"exists (select from asked where (global > 0 or every > 0 or per > 0) and kind not in (select kind from executor_limit))",
		fmt.Sprintf(`case when (select count(*) from visited) >= %d and exists (select from visited where not near and (due is null or due > n.now + $2)) then n.now
		else coalesce((select min(coalesce(s.filled, t.filled) - (t.burst - 1) * t.every) from tokens t left join spent s on s.kind = t.kind where not t.there), 0) end`,
			partsFew))
}

// looseFew is past how many jobs a claim looks for those without a partition; partsFew is how many partitions it looks
// at for nothing.
const looseFew, partsFew = 100, 20
