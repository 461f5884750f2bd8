package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// KeptSteps returns the steps and signals of a job.
func (s *Store) KeptSteps(ctx context.Context, id durable.ID) ([]durable.KeptStep, error) {
	return sqlrow.ScanSteps(s.read.QueryContext(ctx, sqlrow.ReadSteps("?"), id[:]))
}

// grantedJob selects a job that its node may run.
var grantedJob = sqlrow.SQL("select count(*) from executor_job where id = ? and epoch = ? and state = {Granted}")

const (
	removeSteps = "delete from executor_step where job = ?"
	forgetSteps = "delete from executor_step where job = ? and occasion < ?"
	keepStep    = `insert into executor_step (job, occasion, signal, name, result, noted) values (?, ?, ?, ?, ?, ?) on conflict do nothing`
	readResult  = "select result from executor_step where job = ? and occasion = ? and signal = ? and name = ?"
)

// KeepStep keeps a step of a run.
func (s *Store) KeepStep(ctx context.Context, of store.Ref, k durable.KeptStep) (result []byte, ok bool, err error) {
	type answer struct {
		result []byte
		ok     bool
	}
	a, err := do(ctx, s.writer, func(q *querier) (a answer, err error) {
		granted := 0
		if err := q.row(grantedJob, []any{of.ID[:], of.Epoch}, &granted); err != nil || granted == 0 {
			return a, err
		}
		if _, err := q.exec(forgetSteps, of.ID[:], micros(k.Occasion)); err != nil {
			return a, err
		}
		if _, err := q.exec(keepStep, of.ID[:], micros(k.Occasion), k.Signal, k.Name, k.Result, micros(now())); err != nil {
			return a, err
		}
		a.ok = true
		return a, q.row(readResult, []any{of.ID[:], micros(k.Occasion), k.Signal, k.Name}, &a.result)
	})
	return a.result, a.ok, err
}

// Signal keeps a signal.
func (s *Store) Signal(ctx context.Context, id durable.ID, name string, payload []byte) (durable.Answer, error) {
	return do(ctx, s.writer, func(q *querier) (durable.Answer, error) {
		j, err := q.get("where id = ?", id[:])
		switch {
		case err != nil || j == nil:
			return durable.NotFound, err
		case j.State.Done():
			return durable.TooLate, nil
		}
		var there []byte
		err = q.row(readResult, []any{id[:], micros(j.Occasion()), true, name}, &there)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			if _, err = q.exec(forgetSteps, id[:], micros(j.Occasion())); err != nil {
				return durable.NotFound, err
			}
			_, err = q.exec(keepStep, id[:], micros(j.Occasion()), true, name, payload, micros(now()))
			return durable.Applied, err
		case err != nil:
			return durable.NotFound, err
		case there != nil && !bytes.Equal(there, payload):
			return durable.TooLate, nil
		case there != nil:
			return durable.Applied, nil
		}
		_, err = q.exec("update executor_step set result = ? where job = ? and occasion = ? and signal = 1 and name = ?",
			payload, id[:], micros(j.Occasion()), name)
		if err != nil {
			return durable.NotFound, err
		}
		if transition.Wake(j, now()) {
			err = q.put(j)
		}
		return durable.Applied, err
	})
}

// wakeJob is transition.Wake as a statement, for a signal that has come.
var wakeJob = sqlrow.SQL(`update executor_job set due = ?1, updated = ?1
	where id = ?2 and epoch = ?3 and state in {Idle} and due > ?1 and exists (select 1 from executor_step s
		where s.job = ?2 and s.occasion = ` + sqlrow.Occasion + ` and s.signal = 1 and s.name = ?4 and s.result is not null)`)

// signaled makes a job due for which a signal has come that its run waits for.
func (q *querier) signaled(o *durable.Outcome, now int64) error {
	for _, name := range o.Signals {
		if _, err := q.exec(wakeJob, now, o.ID[:], o.Epoch, name); err != nil {
			return err
		}
	}
	return nil
}
