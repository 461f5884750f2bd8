package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/executor-go/executor/durable/store"
)

// Transact returns the store if it can work in transactions, and tx is one.
func (h *Handling) Transact(tx store.Tx) (store.TxStore, error) { return h.env.Transact(tx) }

// CompleteTx commits the success of the run as a part of tx, in which in works. The error is ErrRefused if the run is
// no longer this node's, or was completed before.
func (h *Handling) CompleteTx(ctx context.Context, in store.TxStore, tx store.Tx, result []byte) error {
	opCtx, cancel := h.env.opContext(ctx)
	defer cancel()
	err := h.completeTx(opCtx, in, tx, result)
	if err != nil && err != ErrRefused && opCtx.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the database has not answered within the lease of %v: %w", h.env.Lease, err)
	}
	return err
}

func (h *Handling) completeTx(ctx context.Context, in store.TxStore, tx store.Tx, result []byte) error {
	// The outcome of this very run may have been committed before, by a transaction whose commit seemed to fail. Commit
	// would take that for a repetition; here there is an effect that would be there twice.
	switch job, err := in.GetTx(ctx, tx, h.job.ID); {
	case errors.Is(err, store.ErrNotFound):
		return ErrRefused
	case err != nil:
		return err
	case !job.State.Granted() || job.Epoch != h.job.Epoch:
		return ErrRefused
	}
	h.inTx.Store(true)
	o := h.ending(store.RunSucceeded, nil)
	o.Result = result
	if o = h.follow(o); h.env.History > 0 {
		o.Output = h.packed()
	}
	settled, err := in.CompleteTx(ctx, tx,
		store.CommitRequest{Node: h.job.Owner, Outcomes: []store.Outcome{o}, History: h.env.History})
	if err != nil {
		return err
	}
	if !settled.Committed[0] {
		return ErrRefused
	}
	h.completed.Store(&o)
	return nil
}

// settled returns what became of the run, after the store's answer to its outcome: committed, maybe before this commit,
// or refused.
func (h *Handling) settled(o *store.Outcome, ok, before bool) (*store.Outcome, bool) {
	if done := h.completed.Load(); done != nil && (before || !ok) {
		return done, true
	}
	return o, ok
}
