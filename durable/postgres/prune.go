package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// pruneLimit is the most jobs of a state that a statement of Prune looks at, and the most runs of each verdict that one
// removes. pruneLooks is how many statements look for jobs of a state, while there is none to remove.
const pruneLimit, pruneLooks = 5000, 10

// pruneJobs returns the statement that looks at jobs of a state, and removes those for which no child waits, nor runs.
// It returns how many jobs and runs it has removed, how many jobs it has looked at, and of those that stay the last
// Updated, and how many have that.
//
// The planner can't estimate how few are that old: without the order it expects a third of the table and reads it from
// its beginning, in vain to its end. And it sees that the index has a state only if that is in the statement. A job that
// was changed since the statement has begun, as one that got a child, has another ctid than is seen here, and is left.
// What belongs to those that are gone is looked up by lists of them: of a table without statistics the planner would
// rather read all.
func pruneJobs(state durable.State) string {
	return fmt.Sprintf(`with seen as materialized (
		select ctid, id, updated, family from executor_job where state = %d and updated >= $3 and updated < `+clock+` - $1::bigint
			order by updated offset $4 limit $2
	), old as materialized (
		select ctid from executor_job where ctid = any(array(select ctid from seen s where `+notAwaited+`)) for update skip locked
	), gone as (
		delete from executor_job where ctid = any(array(select ctid from old)) returning id, tags, family, updated
	), `+untagGone+`, runs as (
		delete from executor_run where job = any(array(select id from gone)) returning job
	), steps as (
		delete from executor_step where job = any(array(select id from gone))
	), parents as (
		delete from executor_parent where child = any(array(select id from gone where family <> 0))
	), after as (
		delete from executor_after where job = any(array(select id from gone where family <> 0))
	), left_alone as (
		select id, updated from seen except select id, updated from gone
	), furthest as (
		select max(updated) as updated from left_alone
	) select (select count(*) from gone) + (select count(*) from runs), (select count(*) from seen), coalesce(f.updated, 0),
		(select count(*) from left_alone l where l.updated = f.updated) from furthest f`, state)
}

// notAwaited is the condition that no child of the job s waits for it, or runs, nor has it more children than a prune
// looks at. It is no "not exists", which the planner may turn into one look at all children there are; nor is it a join,
// which may begin with all jobs that are not over.
var notAwaited = sqlrow.SQL(fmt.Sprintf(`((s.family & {HasChildren}) = 0 or
	coalesce((select false from executor_parent p where p.parent = s.id limit 1 offset %[1]d), true) and coalesce((
	select false from (select child from executor_parent p where p.parent = s.id limit %[1]d) p cross join lateral (
		select from executor_job c where c.id = p.child and c.state not in {Over} offset 0) c limit 1), true))`, sqlrow.FamilyMost))

// Prune removes jobs and runs whose retention has ended.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (removed int, err error) {
	s.pruned.Lock()
	defer s.pruned.Unlock()
	for _, table := range sqlrow.Notes {
		if err := s.forget(ctx, table); err != nil {
			return 0, err
		}
	}
	if err := s.reline(ctx); err != nil {
		return 0, err
	}
	if err := s.tellAllLate(ctx); err != nil {
		return 0, err
	}
	for state, keep := range sqlrow.Kept(r) {
		for range pruneLooks {
			n, more, err := s.pruneJobs(ctx, state, keep)
			if err != nil {
				return removed, err
			}
			if removed += n; n > 0 || !more {
				break
			}
		}
	}
	if r.History == 0 {
		return removed, nil
	}
	n, err := do(ctx, each(s.db), func(q querier) (n int, err error) {
		err = q.queryRow(ctx, pruneRuns, r.History.Microseconds(), pruneLimit, verdicts()).Scan(&n)
		return n, err
	})
	return removed + n, err
}

// pruneJobs looks at jobs of a state from where the last call has ended, and removes those that were kept for so long
// and are not to stay. It returns how many jobs and runs it has removed, and whether there is more to look at.
func (s *Store) pruneJobs(ctx context.Context, state durable.State, keep time.Duration) (removed int, more bool, err error) {
	type pruned struct {
		removed, seen int
		updated       int64
		stay          int
	}
	place := s.pruned.Jobs[state]
	p, err := do(ctx, each(s.db), func(q querier) (p pruned, err error) {
		err = q.queryRow(ctx, pruneJobs(state), keep.Microseconds(), pruneLimit, place.From(), place.Skip).
			Scan(&p.removed, &p.seen, &p.updated, &p.stay)
		return p, err
	})
	if err != nil {
		return 0, false, err
	}
	if more = p.seen == pruneLimit; !more {
		place = sqlrow.Place{} // the next call begins anew
	} else if p.stay > 0 {
		place.Leave(p.updated, p.stay)
	}
	s.pruned.Jobs[state] = place
	return p.removed, more, nil
}

// forget looks at what is noted of runs behind a job, and forgets those that are over: the node that had them was lost,
// or has not said so.
func (s *Store) forget(ctx context.Context, table string) error {
	from, last := s.pruned.Notes[table], sqlrow.LastID
	ids, err := sqlrow.ScanIDs(s.db.QueryContext(ctx, sqlrow.LastNote(table, "$1", pruneLimit), uuid(from)))
	if err != nil {
		return err
	}
	for _, id := range ids {
		last = id
	}
	if err := exec(ctx, each(s.db), sqlrow.ForgetNotes(table, "$1", "$2"), uuid(from), uuid(last)); err != nil {
		return err
	}
	if s.pruned.Notes[table] = last; len(ids) == 0 {
		delete(s.pruned.Notes, table) // the next call begins anew
	}
	return nil
}

// pruneRuns removes runs from the history, by the index of the latest. It reads the index for each verdict by itself,
// and fetches what it has found by its place in the table, whatever the planner expects to find.
const pruneRuns = `with old as materialized (
		select r.ctid from pg_catalog.unnest($3::smallint[]) as v (verdict), lateral (
			select ctid from executor_run where verdict = v.verdict and finished < ` + clock + ` - $1::bigint
			order by finished limit $2 for update skip locked
		) r
	), gone as (
		delete from executor_run where ctid = any(array(select ctid from old)) returning job
	) select count(*) from gone`

// verdicts returns the numbers of all verdicts.
func verdicts() (all []int16) {
	for _, v := range store.Verdicts() {
		all = append(all, int16(v))
	}
	return all
}
