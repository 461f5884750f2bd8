package durable

import (
	"context"
	"database/sql"
	"errors"

	"github.com/executor-go/executor/durable/internal/timetable"
)

// transact returns the store if it can work in transactions, and tx is one.
func (j *Jobs) transact(tx Tx) (TxStore, error) {
	store, ok := j.cfg.Store.(TxStore)
	if !ok {
		return nil, invalid("store %T has no transactions", j.cfg.Store)
	}
	if tx == nil || tx == Tx((*sql.Tx)(nil)) {
		return nil, invalid("transaction: it must not be nil")
	}
	if j.cfg.Hooks.Call != nil {
		return timedTx{store, j}, nil
	}
	return store, nil
}

// CompleteTx commits the success of the run that ctx belongs to as a part of the handler's own transaction: what the
// handler did in the database and the end of its run are one, so that the effect is there exactly once. After it the
// handler commits tx and returns.
//
// If tx is not committed, the run ends as the handler returns, as always. If it is, the run was a success, and what the
// handler returns has no effect: neither an error nor executor.Stop, nor a result. So result is that of the job. It is
// to be of the result's type in Handle, which CompleteTx does not check: Await fails if it can't be read as one.
//
// Until tx ends, a call that changes the job, such as Cancel or Pause, waits for it: one in the same goroutine would
// wait for itself.
//
// ErrRefused means that the run is no longer this node's, or was completed before: the handler must roll tx back.
func CompleteTx(ctx context.Context, tx Tx, result any) error {
	mustContext(ctx)
	c, ok := ctx.Value(currentKey{}).(current)
	if !ok {
		return invalid("context: it must be that of a handler")
	}
	store, err := c.n.jobs.transact(tx)
	if err != nil {
		return err
	}
	data, err := encode("result", result, MaxResult)
	if err != nil {
		return err
	}
	// The outcome of this very run may have been committed before, by a transaction whose commit seemed to fail. Commit
	// would take that for a repetition; here there is an effect that would be there twice.
	switch job, err := store.GetTx(ctx, tx, c.job.ID); {
	case errors.Is(err, ErrNotFound):
		return ErrRefused
	case err != nil:
		return failed("complete", err)
	case !job.State.Granted() || job.Epoch != c.job.Epoch:
		return ErrRefused
	}
	tt, err := timetable.Parse(c.job.Schedule, c.n.jobs.cfg.Triggers)
	if err != nil {
		return err
	}
	c.inTx.Store(true)
	o := c.ending(RunSucceeded, c.started, nil)
	o.Result = data
	if o = c.follow(tt, o); c.n.jobs.cfg.History > 0 {
		o.Output = c.packed()
	}
	settled, err := store.CompleteTx(ctx, tx,
		CommitRequest{Node: c.n.name(), Outcomes: []Outcome{o}, History: c.n.jobs.cfg.History})
	if err != nil {
		return failed("complete", err)
	}
	if !settled.Committed[0] {
		return ErrRefused
	}
	c.completed.Store(true)
	return nil
}
