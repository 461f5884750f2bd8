package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store/transition"
)

// Change carries out an action on a job.
func (s *Store) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	left := false
	answer, err := call(ctx, s, func(tx querier, _ bool) (durable.Answer, error) {
		j, err := lock(ctx, tx, "id = $1", uuid(id))
		if err != nil || j == nil {
			return durable.NotFound, err
		}
		now, err := serverTime(ctx, tx)
		if err != nil {
			return durable.NotFound, err
		}
		answer := transition.Change(j, c, now)
		if answer == durable.TooLate {
			return answer, nil
		}
		if c.Op == durable.OpDelete {
			left, err = removeJob(ctx, tx, j)
			return answer, err
		}
		if c.Op == durable.OpRevive && j.HasParents {
			if err := revive(ctx, tx, j); err != nil {
				return answer, err
			}
		}
		if err := put(ctx, tx, j, now); err != nil || !j.HasChildren || !j.State.Done() {
			return answer, err
		}
		_, left, err = ended(ctx, tx, []durable.ID{id})
		return answer, err
	})
	if err == nil && left {
		s.catchUp(ctx, []durable.ID{id})
	}
	s.floors.reset()
	return answer, err
}

// Get returns a job.
func (s *Store) Get(ctx context.Context, id durable.ID) (durable.Job, error) {
	return one(sqlrow.Scan(s.calls.QueryRowContext(ctx, selectJob+"where id = $1", uuid(id))))
}

// Find returns the job with a key.
func (s *Store) Find(ctx context.Context, key string) (durable.Job, error) {
	return one(sqlrow.Scan(s.calls.QueryRowContext(ctx, selectJob+"where key = $1", key)))
}

func one(j durable.Job, err error) (durable.Job, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return durable.Job{}, durable.ErrNotFound
	}
	return j, err
}

// Runs returns a page of a job's history.
func (s *Store) Runs(ctx context.Context, id durable.ID, before int64, limit int) ([]durable.Run, error) {
	return sqlrow.ScanRuns(s.calls.QueryContext(ctx, "select "+sqlrow.RunColumns+` from executor_run
		where job = $1 and ($2::bigint = 0 or seq < $2) order by seq desc limit $3`, uuid(id), before, limit))
}

// Kinds returns the kinds that have waiting jobs, by one read of the index for each.
func (s *Store) Kinds(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.db.QueryContext(ctx, waitingKinds))
}

var waitingKinds = sqlrow.SQL(`with recursive k (kind) as (
		(select kind from executor_job where state = {Waiting} order by kind limit 1)
		union all
		select (select j.kind from executor_job j where j.state = {Waiting} and j.kind > k.kind order by j.kind limit 1) from k where k.kind is not null
	) select kind from k where kind is not null`)
