package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A Handling is what the context of a handler carries: the run, for the handler.
type Handling struct {
	run     *run
	started storeclock.Start // of the handler
}

type handlingKey struct{}

// Of returns the Handling of a handler's context. It reports false if ctx is none.
func Of(ctx context.Context) (Handling, bool) {
	h, ok := ctx.Value(handlingKey{}).(Handling)
	return h, ok
}

// Job returns the job as it was when the run began.
func (h Handling) Job() store.Job { return h.run.job }

// Progress notes how far the run has come.
func (h Handling) Progress(done, total int64, note string) {
	h.run.progress.Store(&store.RunProgress{Job: h.run.job.ID, Epoch: h.run.job.Epoch, Done: done, Total: total, Note: note,
		At: h.run.n.clock.Now().Truncate(time.Microsecond)})
}

// Graph returns what the store knows of parents and children.
func (h Handling) Graph() store.Graph { return h.run.n.cfg.Parts.Graph }

// Decode reads into v what is stored of a job of that kind. what says what it is.
func (h Handling) Decode(kind, what string, stored []byte, v any) error {
	return h.run.n.cfg.Decode(kind, what, stored, v)
}

// SetLabel sets the label of the run.
func (h Handling) SetLabel(label string) { h.run.label.Store(&label) }

// Output returns the writer for what the run says.
func (h Handling) Output() io.Writer {
	r := h.run
	if r.n.cfg.Output == 0 {
		return io.Discard
	}
	if o := r.output.Load(); o != nil {
		return o
	}
	r.output.CompareAndSwap(nil, output.NewBuffer(r.n.cfg.Output))
	return r.output.Load()
}

// LeftOutBefore returns what durable.LeftOutBefore does.
func (h Handling) LeftOutBefore() LeftOut { return h.run.before() }

// LeftOutDuring returns what durable.LeftOutDuring does.
func (h Handling) LeftOutDuring() LeftOut {
	if h.run.during == nil {
		return LeftOut{}
	}
	return h.run.during().LeftOut
}

// Transact returns the store if it can work in transactions, and tx is one.
func (h Handling) Transact(tx store.Tx) (store.TxStore, error) { return h.run.n.cfg.Transact(tx) }

// CompleteTx commits the success of the run as a part of tx, in which in works. The error is ErrRefused if the run is
// no longer this node's, or was completed before.
func (h Handling) CompleteTx(ctx context.Context, in store.TxStore, tx store.Tx, result []byte) error {
	opCtx, cancel := h.run.n.opContext(ctx)
	defer cancel()
	err := h.completeTx(opCtx, in, tx, result)
	if err != nil && err != ErrRefused && opCtx.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the database has not answered within the lease of %v: %w", h.run.n.cfg.Lease, err)
	}
	return err
}

func (h Handling) completeTx(ctx context.Context, in store.TxStore, tx store.Tx, result []byte) error {
	r := h.run
	// The outcome of this very run may have been committed before, by a transaction whose commit seemed to fail. Commit
	// would take that for a repetition; here there is an effect that would be there twice.
	switch job, err := in.GetTx(ctx, tx, r.job.ID); {
	case errors.Is(err, store.ErrNotFound):
		return ErrRefused
	case err != nil:
		return err
	case !job.State.Granted() || job.Epoch != r.job.Epoch:
		return ErrRefused
	}
	tt, err := timetable.Parse(r.job.Schedule, r.n.cfg.Triggers)
	if err != nil {
		return err
	}
	r.inTx.Store(true)
	o := r.ending(store.RunSucceeded, h.started, nil)
	o.Result = result
	if o = r.follow(tt, o); r.n.cfg.History > 0 {
		o.Output = r.packed()
	}
	settled, err := in.CompleteTx(ctx, tx,
		store.CommitRequest{Node: r.n.name(), Outcomes: []store.Outcome{o}, History: r.n.cfg.History})
	if err != nil {
		return err
	}
	if !settled.Committed[0] {
		return ErrRefused
	}
	r.completed.Store(&o)
	return nil
}

// packed returns the output of the run as the store keeps it, nil if there is none.
func (r *run) packed() []byte {
	if o := r.output.Load().Snapshot(); o.Written > 0 {
		return output.Pack(o)
	}
	return nil
}

// settled calls Config.Settled, if it is set, for an outcome that the store has answered for.
func (r *run) settled(o *store.Outcome, committed bool) {
	if r.n.cfg.Settled == nil {
		return
	}
	shown := *o
	shown.Run.Job, shown.Run.Epoch, shown.Run.Node = r.job.ID, r.job.Epoch, r.job.Owner
	if !o.Unrecorded && r.n.cfg.History > 0 {
		shown.Run.Seq = r.job.Runs + 1
	}
	r.n.cfg.Settled(r.job, shown, committed)
}
