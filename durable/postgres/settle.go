package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/row"
)

// Settle confirms claims and commits outcomes.
func (s *Store) Settle(ctx context.Context, b durable.Batch) (durable.Settled, error) {
	return settle(ctx, s.db, b)
}

// SettleTx settles in the caller's transaction.
func (s *Store) SettleTx(ctx context.Context, tx *sql.Tx, b durable.Batch) (durable.Settled, error) {
	return settle(ctx, tx, b)
}

func settle(ctx context.Context, q querier, b durable.Batch) (durable.Settled, error) {
	var a durable.Settled
	var err error
	now := int64(0)
	if len(b.Confirms) > 0 {
		if a.Confirmed, err = confirm(ctx, q, b.Confirms, &now); err != nil {
			return a, err
		}
	}
	if len(b.Outcomes) > 0 {
		if a.Committed, err = commit(ctx, q, b, &now); err != nil {
			return a, err
		}
	}
	a.Now = row.Time(now)
	return a, nil
}

// confirm makes claims run. Each element of the answer is for one of refs.
func confirm(ctx context.Context, q querier, refs []durable.Ref, now *int64) ([]bool, error) {
	ids, epochs := make([]pgtype.UUID, len(refs)), make([]int64, len(refs))
	for i, ref := range refs {
		ids[i], epochs[i] = uuid(ref.ID), ref.Epoch
	}
	return answers(len(refs), now)(q.QueryContext(ctx, `with n as materialized (select `+clock+` as now),
		r as (select * from unnest($1::uuid[], $2::bigint[]) with ordinality as r (id, epoch, ord)),
		u as (
			update executor_job j set attempt = j.attempt + (j.state = 1)::int, state = 2, updated = n.now
			from r, n where j.id = r.id and j.epoch = r.epoch and j.state in (1, 2)
			returning r.ord
		) select u.ord, n.now from n left join u on true`, ids, epochs))
}

// answers reads rows of a place, counted from 1, and the time.
func answers(n int, now *int64) func(*sql.Rows, error) ([]bool, error) {
	return func(rows *sql.Rows, err error) ([]bool, error) {
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		yes := make([]bool, n)
		for rows.Next() {
			var ord sql.NullInt64
			if err := rows.Scan(&ord, now); err != nil {
				return nil, err
			}
			if ord.Valid {
				yes[ord.Int64-1] = true
			}
		}
		return yes, rows.Err()
	}
}

// commitRuns ends runs: rules.Settle in one statement, and the history with it.
const commitRuns = `with n as materialized (select ` + clock + ` as now),
	o as (
		select * from unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[], $8::bytea[], $9::boolean[],
			$10::bigint[], $11::integer[], $12::bigint[], $13::bigint[], $14::smallint[])
		with ordinality as o (job, epoch, state, due, occurrence, attempt, error, result, recorded, run_occurrence, run_attempt, started, finished, verdict, ord)
	), u as (
		update executor_job j set
			state = case when o.state <> 0 or j.wish = 0 then o.state when j.wish = 1 then 5 else 6 end,
			due = case when o.state = 0 and j.next_due <> 0 then j.next_due else o.due end,
			occurrence = case when o.state = 0 and j.next_due <> 0 then j.next_due else o.occurrence end,
			attempt = case when o.state = 0 and j.next_due <> 0 then 0 else o.attempt end,
			wish = 0, next_due = 0, owner = '', error = o.error, result = coalesce(o.result, j.result),
			runs = j.runs + o.recorded::int, updated = n.now
		from o, n where j.id = o.job and j.epoch = o.epoch and j.state = 2
		returning j.runs, o.*
	), added as (
		insert into executor_run (` + row.RunColumns + `)
		select job, runs, run_occurrence, run_attempt, epoch, $15, started, finished, verdict, error from u
		where recorded and $16 > 0
	), removed as (
		delete from executor_run r using u where u.runs > $16 and r.job = u.job and r.seq <= u.runs - $16 and u.recorded
	) select u.ord, n.now from n left join u on true`

// commit commits outcomes. Each element of the answer is for one of them.
func commit(ctx context.Context, q querier, b durable.Batch, now *int64) ([]bool, error) {
	n := len(b.Outcomes)
	var (
		ids                                                = make([]pgtype.UUID, n)
		epochs, dues, occurrences, runs, started, finished = make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		states, verdicts                                   = make([]int16, n), make([]int16, n)
		attempts, runAttempts                              = make([]int32, n), make([]int32, n)
		errs                                               = make([]string, n)
		results                                            = make([][]byte, n)
		recorded                                           = make([]bool, n)
	)
	for i, o := range b.Outcomes {
		ids[i], epochs[i], states[i], attempts[i] = uuid(o.ID), o.Epoch, int16(o.State), int32(o.Attempt)
		dues[i], occurrences[i], errs[i], results[i], recorded[i] = row.Micros(o.Due), row.Micros(o.Occurrence), o.Error, o.Result, !o.Unrecorded
		runs[i], runAttempts[i], verdicts[i] = row.Micros(o.Run.Occurrence), int32(o.Run.Attempt), int16(o.Run.Verdict)
		started[i], finished[i] = row.Micros(o.Run.Started), row.Micros(o.Run.Finished)
	}
	yes, err := answers(n, now)(q.QueryContext(ctx, commitRuns, ids, epochs, states, dues, occurrences, attempts, errs, results, recorded,
		runs, runAttempts, started, finished, verdicts, b.Node, b.History))
	if err != nil {
		return nil, err
	}
	return yes, earlier(ctx, q, ids, epochs, yes)
}

// earlier answers for those outcomes that were committed by an earlier call whose
// answer was lost: all else that ends a run makes the epoch go up. It is a
// statement of its own for the sake of a snapshot of its own.
func earlier(ctx context.Context, q querier, ids []pgtype.UUID, epochs []int64, yes []bool) error {
	all := true
	for _, y := range yes {
		all = all && y
	}
	if all {
		return nil
	}
	var now int64
	before, err := answers(len(yes), &now)(q.QueryContext(ctx, `select r.ord, 0
		from unnest($1::uuid[], $2::bigint[]) with ordinality as r (id, epoch, ord)
		join executor_job j on j.id = r.id and j.epoch = r.epoch and j.state <> 2`, ids, epochs))
	if err != nil {
		return err
	}
	for i := range yes {
		yes[i] = yes[i] || before[i]
	}
	return nil
}

// pruneLimit is the most rows of each sort that one call of Prune removes.
const pruneLimit = 5000

// Prune removes what has been kept for long enough.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (int, error) {
	removed := 0
	for state, keep := range map[durable.State]int64{
		durable.Succeeded: r.Succeeded.Microseconds(), durable.Dead: r.Dead.Microseconds(), durable.Canceled: r.Dead.Microseconds(),
	} {
		if r.Succeeded == 0 && state == durable.Succeeded || r.Dead == 0 && state != durable.Succeeded {
			continue // for ever
		}
		n, err := count(s.db.ExecContext(ctx, `with gone as (
			delete from executor_job where id in (
				select id from executor_job where state = $1 and updated < `+clock+` - $2::bigint limit $3 for update skip locked)
			returning id
		) delete from executor_run where job in (select id from gone)`, int64(state), keep, pruneLimit))
		if err != nil {
			return removed, err
		}
		removed += n
	}
	if r.History == 0 {
		return removed, nil
	}
	n, err := count(s.db.ExecContext(ctx, `delete from executor_run where (job, seq) in (
		select job, seq from executor_run where finished < `+clock+` - $1::bigint limit $2)`, r.History.Microseconds(), pruneLimit))
	return removed + n, err
}

func count(r sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}
