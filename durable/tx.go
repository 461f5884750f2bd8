package durable

import (
	"context"
	"database/sql"
	"fmt"
)

// CompleteTx commits the success of the run that ctx belongs to as a part of the
// handler's own transaction: what the handler did in the database and the end of
// its run are one, so that the effect is there exactly once, whatever dies. After
// it the handler commits tx and returns. If tx is not committed, the run ends as
// the handler says, as always.
//
// ErrRefused says that the run is no longer this node's: the handler must roll tx
// back.
func CompleteTx(ctx context.Context, tx *sql.Tx, result any) error {
	c, ok := ctx.Value(currentKey{}).(current)
	if !ok {
		return invalid("context: it must be that of a handler")
	}
	store, ok := c.n.jobs.store.(TxStore)
	if !ok {
		return invalid("store %T has no transactions", c.n.jobs.store)
	}
	data, err := encode("result", result, MaxResult)
	if err != nil {
		return err
	}
	tt, err := parseTimetable(c.job.Schedule, c.n.jobs.cfg.Triggers)
	if err != nil {
		return err
	}
	o := c.ending(RunSucceeded, c.since, nil)
	o.Result = data
	o = c.follow(tt, o)
	settled, err := store.SettleTx(ctx, tx, Batch{Node: c.n.name(), Outcomes: []Outcome{o}, History: c.n.jobs.cfg.History})
	if err != nil {
		return fmt.Errorf("durable: complete: %w", err)
	}
	if !settled.Committed[0] {
		return ErrRefused
	}
	return nil
}
