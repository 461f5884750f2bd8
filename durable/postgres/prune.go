package postgres

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// pruneLimit is the most jobs of each state, and runs of each verdict, that one call of Prune removes.
const pruneLimit = 5000

// pruneJobs returns the statement that removes jobs of a state. The planner can't estimate how few are that old:
// without the order it expects a third of the table and reads it from its beginning, in vain to its end. And it sees
// that the index has a state only if that is in the statement. A job that was changed since the statement has begun, as
// one that got a child, has another ctid than is seen here, and is left. What belongs to those that are gone is looked up
// by lists of them: of a table without statistics the planner would rather read all.
func pruneJobs(state durable.State) string {
	return fmt.Sprintf(`with old as materialized (
		select ctid from executor_job where state = %d and updated < `+clock+` - $1::bigint
			and `+notAwaited+` order by updated limit $2 for update skip locked
	), gone as (
		delete from executor_job where ctid = any(array(select ctid from old)) returning id, tags, family
	), `+untagGone+`, runs as (
		delete from executor_run where job = any(array(select id from gone)) returning job
	), steps as (
		delete from executor_step where job = any(array(select id from gone))
	), parents as (
		delete from executor_parent where child = any(array(select id from gone where family <> 0))
	), after as (
		delete from executor_after where job = any(array(select id from gone where family <> 0))
	) select (select count(*) from gone) + (select count(*) from runs)`, state)
}

// notAwaited is the condition that no child of a job in executor_job waits for it, or runs. It is no "not exists",
// which the planner may turn into one look at all children there are; nor is it a join, which may begin with all jobs
// that are not over.
var notAwaited = sqlrow.SQL(`((family & {HasChildren}) = 0 or coalesce((
	select false from executor_parent p cross join lateral (
		select from executor_job c where c.id = p.child and c.state not in {Over} offset 0) c where p.parent = executor_job.id limit 1), true))`)

// forgetBegun forgets runs that are over: the node that had them was lost, or has not said so.
var forgetBegun = sqlrow.SQL(`delete from executor_begun where not exists (
	select from executor_job j where j.id = executor_begun.job and j.epoch = executor_begun.epoch and j.state = {Granted})`)

// Prune removes jobs and runs whose retention has ended.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (int, error) {
	for _, forget := range []string{forgetBegun, sqlrow.ForgetProgress} {
		if err := exec(ctx, each(s.db), forget); err != nil {
			return 0, err
		}
	}
	if err := s.reline(ctx); err != nil {
		return 0, err
	}
	if err := s.tellAllLate(ctx); err != nil {
		return 0, err
	}
	removed := 0
	for state, keep := range sqlrow.Kept(r) {
		n, err := do(ctx, each(s.db), func(q querier) (n int, err error) {
			err = q.queryRow(ctx, pruneJobs(state), keep.Microseconds(), pruneLimit).Scan(&n)
			return n, err
		})
		if err != nil {
			return removed, err
		}
		removed += n
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
