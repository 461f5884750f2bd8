package postgres

import (
	"context"

	"github.com/executor-go/executor/durable/store"
)

// ClaimLimited is Claim, which keeps the rates of kinds, too.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.Claim(ctx, r)
}

// claimLimited is claimBounded, and keeps the rates of kinds: transition.Bucket and transition.Take for all jobs at
// once. Of a kind with a rate the jobs that are near are numbered in the order in which they are claimed. The bucket is
// full, before the nth takes its token, at base + (n-1) * every: base is the latest time, of those at which the ones
// before it begin, less a token for each that came before them; or when it was full, if that is later. The first that
// lacks a token ends it. The row of the kind, which is locked as for a limit, has when the bucket is full afterwards.
var claimLimited = claimJobs(`asked as (
		select * from unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
			with ordinality as a (kind, most, high, normal, low, global, every, burst, ord)
	), mine as materialized (
		select kind, turn, filled from executor_limit where kind in (select kind from asked where global > 0 or every > 0) for update skip locked
	), free as materialized (
		select a.kind, a.ord, a.high, a.normal, a.low, a.every, a.burst, case when a.global = 0 then a.most else least(a.most, a.global - (
				select count(*) from executor_node m join executor_job h on h.owner = m.id where h.state in {Held} and h.kind = a.kind)) end as most,
			case when m.filled > n.now + greatest($2::bigint, 60000000) + a.every * a.burst then n.now + a.every * (a.burst - 1) else m.filled end as filled
		from n, asked a left join mine m on m.kind = a.kind
		where a.global = 0 and a.every = 0 or exists (select from executor_limit seen where seen.kind = m.kind and seen.turn = m.turn)
	), looks as materialized (
		select p.priority, f.* from free f, pg_catalog.unnest({Priorities}) as p (priority) where f.most > 0
	), plenty as materialized (
		select j.id, j.due, k.priority, k.ord, k.kind
		from (select * from looks where most >= $4 and every = 0 order by priority desc, ord offset 0) k cross join lateral (`+lookJobs+`) j
		limit $4
	), bounded as materialized (
		select j.id, j.due, k.*, greatest(j.due, n.now) as begins, row_number() over (partition by k.kind order by k.priority desc, j.due) as nth
		from n, looks k cross join lateral (`+lookJobs+`) j
		where k.most < $4 or k.every > 0
	), paced as materialized (
		select *, greatest(filled, max(begins - (nth - 1) * every) over (partition by kind order by nth rows between unbounded preceding and 1 preceding)) as base
		from bounded where nth <= most
	), tokens as materialized (
		select *, greatest(base, begins - (nth - 1) * every) + nth * every as after,
			bool_and(every = 0 or begins >= base + (nth - burst) * every) over (partition by kind order by nth) as there
		from paced
	), pick as materialized (
		select id, kind, after from (
			select id, kind, null::bigint as after, due, priority, ord from plenty
			union all select id, kind, case when every > 0 then after end, due, priority, ord from tokens where there
		) x order by priority desc, ord, due limit $4
	), spent as materialized (
		select kind, max(after) as filled from pick where after is not null group by kind
	)`, `, turned as (
		update executor_limit l set turn = turn + 1, filled = coalesce((select s.filled from spent s where s.kind = l.kind), l.filled)
		where kind in (select kind from mine intersect select kind from u)
	)`, "(select count(*) from free) < (select count(*) from asked)",
	"exists (select from asked where (global > 0 or every > 0) and kind not in (select kind from executor_limit))",
	`coalesce((select min(coalesce(s.filled, t.filled) - (t.burst - 1) * t.every) from tokens t left join spent s on s.kind = t.kind where not t.there), 0)`)
