package durable

import (
	"context"
	"database/sql"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// transact returns the store if it can work in transactions, and tx is one.
func (j *Jobs) transact(tx Tx) (store.TxStore, error) {
	if j.parts.Tx == nil {
		return nil, invalid("store %T has no transactions", j.cfg.Store)
	}
	if tx == nil || tx == Tx((*sql.Tx)(nil)) {
		return nil, invalid("transaction: it must not be nil")
	}
	return j.parts.Tx, nil
}

// CompleteTx records the success of the run that ctx belongs to in the handler's own transaction: what the handler did
// in the database and the end of its run are committed together, so the effect happens exactly once. After CompleteTx
// the handler commits tx and returns.
//
// If tx is not committed, the run ends with what the handler returns, as always. If tx is committed, the run has
// succeeded, and what the handler returns has no effect: an error, executor.ErrStop or a result. result becomes the result
// of the job. It must have the result type of [Handle], which CompleteTx does not check: with another type, Await
// fails.
//
// Until tx ends, a call that changes the job, such as Cancel or Pause, waits for tx. So do not make such a call in the
// goroutine that is to commit tx: it would wait for ever.
//
// CompleteTx ends with an error when ctx ends, or when the database has not answered for as long as Config.Lease, as on
// a connection that has fallen silent. The handler must roll tx back.
//
// ErrRefused means that the run is no longer this node's, or was completed before: the handler must roll tx back.
func CompleteTx(ctx context.Context, tx Tx, result any) error {
	mustContext(ctx)
	h, ok := node.Of(ctx)
	if !ok {
		return invalid("context: it must be that of a handler")
	}
	in, err := h.Transact(tx)
	if err != nil {
		return err
	}
	data, err := h.Kind().Encode("result", result, MaxResult)
	if err != nil {
		return err
	}
	if err := h.CompleteTx(ctx, in, tx, data); err != ErrRefused {
		return failed("complete", err)
	}
	return ErrRefused
}

// lacks returns the error of a call that asks for what the store does not have, the part of package store with that
// name.
func (j *Jobs) lacks(call, part string) error {
	return invalid("%s: the store, a %T, does not have the methods of store.%s", call, j.cfg.Store, part)
}
