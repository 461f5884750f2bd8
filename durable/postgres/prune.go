package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// pruneLimit is the most jobs of each state that one call of Prune removes.
const pruneLimit = 5000

// pruneJobs returns the statement that removes jobs of a state. The planner can't estimate how few are that old:
// without the order it expects a third of the table and reads it from its beginning, in vain to its end. And it sees
// that the index has a state only if that is in the statement.
func pruneJobs(state durable.State) string {
	return fmt.Sprintf(`with gone as (
		delete from executor_job where id in (
			select id from executor_job where state = %d and updated < `+clock+` - $1::bigint
				and `+notAwaited+` order by updated limit $2 for update skip locked)
		returning id, tags, family
	), `+untagGone+`, runs as (
		delete from executor_run where job in (select id from gone) returning job
	), steps as (
		delete from executor_step where job in (select id from gone)
	), parents as (
		delete from executor_parent where child in (select id from gone where family <> 0)
	), after as (
		delete from executor_after where job in (select id from gone where family <> 0)
	) select (select count(*) from gone) + (select count(*) from runs)`, state)
}

// notAwaited is the condition that no child of a job in executor_job waits for it, or runs. It is no "not exists",
// which the planner may turn into one look at all children there are.
var notAwaited = sqlrow.SQL(`((family & {HasChildren}) = 0 or coalesce((
	select false from executor_parent p join executor_job c on c.id = p.child where p.parent = executor_job.id and c.state not in {Over} limit 1), true))`)

// forgetBegun forgets runs that are over: the node that had them was lost, or has not said so.
var forgetBegun = sqlrow.SQL(`delete from executor_begun where not exists (
	select from executor_job j where j.id = executor_begun.job and j.epoch = executor_begun.epoch and j.state = {Granted})`)

// Prune removes jobs and runs that were kept for long enough.
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
	n, err := s.pruneRuns(ctx, r.History)
	return removed + n, err
}

// pruneRuns removes runs from the history. It reads the next pruneLook of them, in the order of their jobs, and begins
// anew at the end: there is no index of when they finished, which would be one more to write to for each run, and
// reading all of them each time would mostly be in vain.
func (s *Store) pruneRuns(ctx context.Context, keep time.Duration) (int, error) {
	s.pruned.Lock()
	defer s.pruned.Unlock()
	type pruned struct {
		looked, gone int
		job          pgtype.UUID
		seq          sql.NullInt64
	}
	p, err := do(ctx, each(s.db), func(q querier) (p pruned, err error) {
		err = q.queryRow(ctx, pruneRuns, uuid(s.pruned.job), s.pruned.seq, keep.Microseconds(),
			pruneLook).Scan(&p.looked, &p.gone, &p.job, &p.seq)
		return p, err
	})
	if err != nil {
		return 0, err
	}
	s.pruned.job, s.pruned.seq = p.job.Bytes, p.seq.Int64
	if p.looked < pruneLook {
		s.pruned.job, s.pruned.seq = durable.ID{}, 0
	}
	return p.gone, nil
}

// pruneLook is how many runs of the history one call of Prune reads.
const pruneLook = 10_000

// The planner expects some of what is read to be old; by its place in the table it is fetched without reading the
// others whatever is expected.
const pruneRuns = `with look as materialized (
		select ctid, job, seq, finished from executor_run where (job, seq) > ($1::uuid, $2::bigint) order by job, seq limit $4
	), old as materialized (
		select ctid from executor_run where ctid = any(array(select ctid from look where finished < ` + clock + ` - $3::bigint)) for update skip locked
	), gone as (
		delete from executor_run where ctid = any(array(select ctid from old)) returning job
	)
	select (select count(*) from look), (select count(*) from gone), last.job, last.seq
	from (select 1) x left join lateral (select job, seq from look order by job desc, seq desc limit 1) last on true`
