package postgres

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// lookJobs reads the index once. lookQueue does so for the jobs of the queue that is that argument.
const lookJobs = `
			select id, due from executor_job
			where state = {Waiting} and kind = k.kind and priority = k.priority
				and due <= (select now + $2 from n) and due >= (array[k.high, k.normal, k.low])[{High} - k.priority + 1] and exists (select from node)
			order by due limit k.most for update skip locked
		`

func lookQueue(place string) string {
	return `
			select id, due from executor_job
			where state < {Claimed} and queue <> '' and queue = ` + place + `::text and kind = k.kind and priority = k.priority + {Queued}
				and due <= (select now + $2 from n) and exists (select from node)
			order by due limit k.most for update skip locked
		`
}

// A claiming is the statements of Claim, or of ClaimQueue.
type claiming struct{ plenty, bounded, limited string }

var (
	claimDefault = claiming{claimPlenty(lookJobs), claimBounded(lookJobs), claimLimited(lookJobs)}
	claimQueued  = claiming{claimPlenty(lookQueue("$10")), claimBounded(lookQueue("$11")), claimLimited(lookQueue("$14"))}
)

// These read the index once for each priority and kind, the most urgent first, and stop when they have enough. The lock
// on the node's row is for the same reason as in insertJobs. Kinds with a limit below that of the whole claim are read
// in all priorities, as what one has counts against the next; what is too much is left.
//
// A kind with a limit for all nodes is claimed by one node at a time, which has counted what all hold. Its row in
// executor_limit is the lock, which no node waits for, and turn goes up with each claim: if the row that is locked has
// another turn than the snapshot shows, a node has claimed since the snapshot was taken, so that the count is too old.
// That makes it one statement, which a node that is stopped can't leave half done.
func claimBounded(look string) string {
	return claimJobs(`asked as (
			select * from unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
				with ordinality as a (kind, most, high, normal, low, global, ord)
		), mine as materialized (
			select kind, turn from executor_limit where kind in (select kind from asked where global > 0) for update skip locked
		), free as materialized (
			select a.kind, a.ord, a.high, a.normal, a.low, case when a.global = 0 then a.most else least(a.most, a.global - (
				select count(*) from executor_node m join executor_job h on h.owner = m.id where h.state in {Held} and h.kind = a.kind)) end as most
			from asked a where a.global = 0
				or exists (select from mine join executor_limit seen on seen.kind = mine.kind and seen.turn = mine.turn where mine.kind = a.kind)
		), looks as materialized (
			select p.priority, f.kind, f.most, f.high, f.normal, f.low, f.ord from free f, pg_catalog.unnest({Priorities}) as p (priority) where f.most > 0
		), plenty as materialized (
			select j.id, j.due, k.priority, k.ord
			from (select * from looks where most >= $4 order by priority desc, ord offset 0) k cross join lateral (`+look+`) j
			limit (select $4::bigint)
		), bounded as materialized (
			select j.id, j.due, k.priority, k.ord, k.most, row_number() over (partition by k.kind order by k.priority desc, j.due) as place
			from looks k cross join lateral (`+look+`) j
			where k.most < $4
		), pick as materialized (
			select id from (
				select id, due, priority, ord from plenty union all select id, due, priority, ord from bounded where place <= most
			) x order by priority desc, ord, due limit (select $4::bigint)
		)`, `, turned as (
			update executor_limit set turn = turn + 1 where kind in (select kind from mine intersect select kind from u)
		)`, "(select count(*) from free) < (select count(*) from asked)",
		"exists (select from asked where global > 0 and kind not in (select kind from executor_limit))", "0")
}

// claimPlenty is claimBounded for kinds without a limit.
//
// The limit, and the list of the kinds, are sub-selects, which the planner does not look into. It would believe that a
// plan for their values is better by far than one for any, the more so the more jobs wait, and make one for each claim.
// That takes longer than the claim.
func claimPlenty(look string) string {
	return claimJobs(`pick as materialized (
			select j.id
			from (
				select p.priority, k.kind, k.most, k.high, k.normal, k.low, k.ord
				from unnest((select $5::text[]), $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[]) with ordinality as k (kind, most, high, normal, low, ord), pg_catalog.unnest({Priorities}) as p (priority)
				order by p.priority desc, k.ord offset 0
			) k cross join lateral (`+look+`) j
			limit (select $4::bigint)
		)`, "", "false", "false", "0")
}

// takes is the condition that the node $1 takes jobs.
const takes = "id = $1 and lease_until > 0 and not drain"

// These are what the last row of a claim says, as a sum.
const (
	claimBusy = 1 << iota // another node is claiming of a kind, or somebody has locked the row of the node
	claimLost             // a row of executor_limit was lost
	claimMore             // there may be more
)

// claimJobs returns the statement that claims what pick has picked. Its answer is a row for each job, and a last one
// with an empty ID, in the columns of Anchor the time, of Due how long the look took, of Epoch when a token is
// there, and of Runs the sum of what else there is to say: these are there also if there is no job, and are of the
// snapshot that the claim was made in.
func claimJobs(pick, turned, busy, lost, next string) string {
	return sqlrow.SQL(`with node as materialized (
			select id from executor_node where ` + takes + ` for key share skip locked
		), n as materialized (
			select ` + clock + ` as now
		), ` + pick + `, u as (
			update executor_job j set
				state = case when j.due <= n.now + $3 then {Granted} else {Claimed} end,
				owner = $1, epoch = least(j.epoch + 1, {Most}), updated = n.now
			from pick, n where j.id = pick.id
			returning j.*
		)` + turned + ` select ` + sqlrow.Claimed + ` from u
		union all
		select ` + sqlrow.Note("'00000000-0000-0000-0000-000000000000'::uuid", "n.now",
		"case when exists (select from node) then "+clock+" - n.now else -1 end", next,
		fmt.Sprintf("(%s)::int * %d + (%s)::int * %d + ((select count(*) from pick) >= $4)::int * %d",
			busy+" or not exists (select from node) and exists (select from executor_node where "+takes+")", claimBusy, lost, claimLost, claimMore)) + ` from n`)
}

// Claim gives waiting jobs to a node.
func (s *Store) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.claim(ctx, "", r)
}

func (s *Store) claim(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	kinds, most, global := make([]string, len(r.Kinds)), make([]int64, len(r.Kinds)), make([]int64, len(r.Kinds))
	every, burst, per := make([]int64, len(r.Kinds)), make([]int64, len(r.Kinds)), make([]int64, len(r.Kinds))
	bounded, limited := false, false
	for i, k := range r.Kinds {
		bounded = bounded || k.Max < r.Limit || k.Global > 0
		limited = limited || k.Limited()
		kinds[i], most[i], global[i] = k.Kind, int64(k.Max), int64(k.Global)
		every[i], burst[i] = k.Rate.Every.Microseconds(), int64(k.Rate.Burst)
		per[i] = int64(k.PerPartition)
		if k.Global > 0 {
			if err := s.lockable(ctx, k.Kind); err != nil {
				return store.ClaimResult{}, err
			}
		}
	}
	high, normal, low := s.floors.of(kinds)
	of := claimDefault
	if queue != "" {
		of = claimQueued
	}
	statement, args := of.plenty, []any{r.Node, r.Ahead.Microseconds(), r.Lead.Microseconds(), r.Limit, kinds, most,
		high, normal, low}
	switch {
	case limited:
		statement, args = of.limited, append(args, global, every, burst, per)
	case bounded:
		statement, args = of.bounded, append(args, global)
	}
	if queue != "" {
		args = append(args, queue)
	}
	took := int64(-1)
	c, err := do(ctx, s.direct, func(q querier) (c store.ClaimResult, err error) {
		rows, err := q.query(ctx, statement, args...)
		err = sqlrow.ScanClaimed(rows, err, func(j *durable.Job) {
			if j.ID != (durable.ID{}) {
				c.Jobs = append(c.Jobs, *j)
				return
			}
			c.Now, took, c.Next = j.Anchor, sqlrow.Micros(j.Due), sqlrow.Time(j.Epoch)
			c.Busy, c.More = j.Runs&claimBusy != 0, j.Runs&claimMore != 0
			if j.Runs&claimLost != 0 {
				s.limits.Clear() // the next claim makes them again: as it is busy, it comes soon
			}
		})
		return c, err
	})
	if err != nil {
		return c, err
	}
	for i := range c.Jobs {
		sqlrow.Complete(&c.Jobs[i], &r, c.Now)
	}
	s.floors.heard(c.Now.UnixMicro())
	if took >= 0 && queue == "" { // the node takes jobs; floors are of the default queue
		s.floors.claimed(r, high, normal, low, c, c.Now.UnixMicro(), took)
	}
	return c, nil
}

// lockable makes sure that the kind has a row in executor_limit. The store remembers that, until a claim finds that the
// row was lost, as at a failover to a server that does not have the newest commits.
func (s *Store) lockable(ctx context.Context, kind string) error {
	if _, ok := s.limits.Load(kind); ok {
		return nil
	}
	err := exec(ctx, each(s.db), "insert into executor_limit (kind, turn) values ($1, 0) on conflict do nothing", kind)
	if err == nil {
		s.limits.Store(kind, true)
	}
	return err
}
