package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store/transition"
)

// Change carries out an action on a job.
func (s *Store) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	answers, err := s.ChangeEach(ctx, []durable.ID{id}, c)
	if err != nil {
		return durable.NotFound, err
	}
	return answers[0], nil
}

// ChangeEach carries out an action on several jobs, in one transaction.
func (s *Store) ChangeEach(ctx context.Context, ids []durable.ID, c durable.Change) ([]durable.Answer, error) {
	var of *changing
	answers, err := call(ctx, s, func(tx querier, _ bool) ([]durable.Answer, error) {
		of = &changing{querier: tx, change: c}
		return of.each(ctx, ids)
	})
	if err == nil && len(of.left) > 0 {
		s.catchUp(ctx, of.left)
	}
	s.floors.reset()
	return answers, err
}

// changing is a Change of several jobs in a transaction.
type changing struct {
	querier
	change  durable.Change
	now     time.Time
	changed []*durable.Job // those that are to be written
	ended   []durable.ID   // those of them that have children
	left    []durable.ID   // those of which a child could not be told
}

// changeFew is how many jobs, with their payloads, are read at once.
const changeFew = 100

// lockJobs locks jobs in the order in which insertAll does.
const lockJobs = "select id from executor_job where id = any($1::uuid[]) order by key, id for update"

func (ch *changing) each(ctx context.Context, ids []durable.ID) ([]durable.Answer, error) {
	if _, err := sqlrow.ScanIDs(ch.query(ctx, lockJobs, uuids(ids))); err != nil {
		return nil, err
	}
	var err error
	if ch.now, err = serverTime(ctx, ch); err != nil {
		return nil, err
	}
	answers := make([]durable.Answer, 0, len(ids))
	for some := range slices.Chunk(ids, changeFew) {
		jobs, err := sqlrow.ScanAll(ch.query(ctx, selectJob+"where id = any($1::uuid[])", uuids(some)))
		if err != nil {
			return nil, err
		}
		there := make(map[durable.ID]*durable.Job, len(jobs))
		for i := range jobs {
			there[jobs[i].ID] = &jobs[i]
		}
		for _, id := range some {
			answer := durable.NotFound
			if j := there[id]; j != nil {
				if answer, err = ch.one(ctx, j); err != nil {
					return nil, err
				}
			}
			answers = append(answers, answer)
		}
		if err := ch.flush(ctx); err != nil {
			return nil, err
		}
	}
	_, left, err := ended(ctx, ch, ch.ended)
	if left {
		ch.left = append(ch.left, ch.ended...)
	}
	return answers, err
}

// one changes a job, which flush is to write.
func (ch *changing) one(ctx context.Context, j *durable.Job) (durable.Answer, error) {
	answer := transition.Change(j, ch.change, ch.now)
	switch {
	case answer == durable.TooLate:
		return answer, nil
	case ch.change.Op == durable.OpDelete:
		left, err := removeJob(ctx, ch, j)
		if left {
			ch.left = append(ch.left, j.ID)
		}
		return answer, err
	case ch.change.Op == durable.OpRevive && j.HasParents:
		if err := ch.flush(ctx); err != nil { // its parents may be among these
			return answer, err
		}
		if err := revive(ctx, ch, j); err != nil {
			return answer, err
		}
	}
	ch.changed = append(ch.changed, j)
	if j.HasChildren && j.State.Done() {
		ch.ended = append(ch.ended, j.ID)
	}
	return answer, nil
}

// flush writes what was changed.
func (ch *changing) flush(ctx context.Context) error {
	if len(ch.changed) == 0 {
		return nil
	}
	changed := ch.changed
	ch.changed = nil
	return putAll(ctx, ch, changed, ch.now)
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
