package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// KeptSteps returns the steps and signals of a job.
func (s *Store) KeptSteps(ctx context.Context, id durable.ID) ([]durable.KeptStep, error) {
	return sqlrow.ScanSteps(s.calls.QueryContext(ctx, sqlrow.ReadSteps("$1"), uuid(id)))
}

// keepStep keeps a step. It locks the job's row to the commit: a node that takes the job over reads the steps after it,
// or this one is not kept. What is there already is written as it is, to be read though it may be newer than the
// statement.
var keepStep = sqlrow.SQL(`with j as materialized (
		select id from executor_job where id = $1 and epoch = $2 and state = {Granted} for share
	), gone as (
		delete from executor_step where job = $1 and occasion < $3 and exists (select from j)
	), kept as (
		insert into executor_step as s (job, occasion, signal, name, result, noted)
		select id, $3, $4, $5, $6::bytea, ` + clock + ` from j
		on conflict (job, occasion, signal, name) do update set noted = s.noted
		returning result
	) select (select count(*) from j), (select result from kept)`)

// KeepStep keeps a step of a run.
func (s *Store) KeepStep(ctx context.Context, of store.Ref, k durable.KeptStep) (result []byte, ok bool, err error) {
	type answer struct {
		result  []byte
		granted int
	}
	a, err := do(ctx, each(s.calls), func(q querier) (a answer, err error) {
		err = q.queryRow(ctx, keepStep, uuid(of.ID), of.Epoch, sqlrow.Micros(k.Occasion), k.Signal, k.Name,
			k.Result).Scan(&a.granted, &a.result)
		return a, err
	})
	return a.result, a.granted > 0, err
}

const (
	readResult = "select result from executor_step where job = $1 and occasion = $2 and signal and name = $3"
	putSignal  = `with gone as (delete from executor_step where job = $1 and occasion < $2) insert into executor_step as s (job, occasion, signal, name, result, noted)
		values ($1, $2, true, $3, $4::bytea, ` + clock + `)
		on conflict (job, occasion, signal, name) do update set result = excluded.result`
)

// Signal keeps a signal.
func (s *Store) Signal(ctx context.Context, id durable.ID, name string, payload []byte) (durable.Answer, error) {
	answer, err := call(ctx, s, func(tx querier, _ bool) (durable.Answer, error) {
		j, err := lock(ctx, tx, "id = $1", uuid(id))
		switch {
		case err != nil || j == nil:
			return durable.NotFound, err
		case j.State.Done():
			return durable.TooLate, nil
		}
		occasion := sqlrow.Micros(j.Occasion())
		var there []byte
		err = tx.queryRow(ctx, readResult, uuid(id), occasion, name).Scan(&there)
		waited := err == nil && there == nil
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return durable.NotFound, err
		case there != nil && !bytes.Equal(there, payload):
			return durable.TooLate, nil
		case there != nil:
			return durable.Applied, tx.exec(ctx, follow)
		}
		if err := tx.exec(ctx, putSignal, uuid(id), occasion, name, payload); err != nil || !waited {
			return durable.Applied, err
		}
		now, err := serverTime(ctx, tx)
		if err != nil {
			return durable.NotFound, err
		}
		if transition.Wake(j, now) {
			err = put(ctx, tx, j, now)
		}
		return durable.Applied, err
	})
	s.floors.reset()
	return answer, err
}

// signals reports whether one of the runs waits for signals. Their outcomes and signaled must be one transaction: a
// signal that comes before it is seen by the latter, and one that comes after it finds the job waiting.
func signals(outcomes []durable.Outcome) bool {
	return slices.ContainsFunc(outcomes, func(o durable.Outcome) bool { return len(o.Signals) > 0 })
}

// wakeJobs is transition.Wake in one statement, for signals that have come.
var wakeJobs = sqlrow.SQL(`with n as materialized (select ` + clock + ` as now), u as (
		update executor_job set due = n.now, updated = n.now
		from unnest($1::uuid[], $2::bigint[], $3::text[]) as r (job, ref_epoch, name), n
		where id = r.job and epoch = r.ref_epoch and state in {Idle} and due > n.now and exists (select from executor_step s
			where s.job = id and s.occasion = ` + sqlrow.Occasion + ` and s.signal and s.name = r.name and s.result is not null)
		returning id
	) select count(*) from u`)

// signaled makes the jobs due, of those whose outcomes are done just now, for which signals have come that their runs
// wait for.
func signaled(ctx context.Context, q querier, outcomes []durable.Outcome, done []bool) error {
	var ids []pgtype.UUID
	var epochs []int64
	var names []string
	for i := range outcomes {
		o := &outcomes[i]
		if !done[i] {
			continue
		}
		for _, name := range o.Signals {
			ids, epochs, names = append(ids, uuid(o.ID)), append(epochs, o.Epoch), append(names, name)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	due := 0
	if err := q.queryRow(ctx, wakeJobs, ids, epochs, names).Scan(&due); err != nil || due == 0 {
		return err
	}
	return notifyNodes(ctx, q)
}
