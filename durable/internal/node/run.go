package node

import (
	"context"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// arm sets what is next for a run that is claimed or armed, see ledger.arm. It is called without a lock, since a pool
// that is shut down completes the task at once.
func (n *Node) arm(r *run) {
	switch what, after, turn := n.ledger.arm(r, n.clock.Now(), n.ahead(), n.lead()); what {
	case beReleased:
		n.Wake()
	case confirmLater:
		n.ledger.setTimer(r, turn, time.AfterFunc(after, func() {
			if n.ledger.confirm(r, turn) {
				n.committer.confirm(r, time.Time{})
			}
		}))
	case armLater:
		n.ledger.setTimer(r, turn, time.AfterFunc(after, func() { n.arm(r) }))
	case submit:
		n.fire(r, turn, after)
	}
}

// fire hands the run to the pool, to begin when it is due.
func (n *Node) fire(r *run, turn int, left time.Duration) {
	f := executor.SubmitAfter(n.values, n.cfg.Pool, left, executor.Func(func(ctx context.Context) error {
		return n.begin(ctx, r, turn)
	}).Call, executor.Named(r.kind.Name))
	f.OnDone(func() {
		if f.State() != executor.Succeeded && n.ledger.refused(r, turn) {
			n.cfg.Log().Error("durable: the pool does not accept work; jobs are released", "error", f.Err())
		}
	})
}

// confirmed is called with the store's answer to a confirm, given at the time now.
func (n *Node) confirmed(r *run, ok bool, occurrence, now time.Time) {
	if n.ledger.confirmed(r, ok, occurrence, now) {
		n.arm(r)
	}
}

// begin has the job handled, on a worker of the pool, and hands the outcome over for the next group commit. It does not
// wait for that. The error is for the hooks and counters of the pool alone.
func (n *Node) begin(ctx context.Context, r *run, turn int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	may, poll, canceled := n.ledger.begin(r, turn, cancel, n.clock.Now())
	if poll {
		n.Wake()
	}
	switch may {
	case tooEarly:
		n.arm(r)
		return nil
	case admitted:
		defer n.workerFreed()
	default:
		return nil
	}
	if canceled {
		cancel(executor.ErrCanceled)
	}
	h := &Handling{env: &n.env, holder: holding{n, r}, kind: r.kind, decided: r.decided, job: r.job}
	r.handling.Store(h)
	return h.handle(ctx, func(o *store.Outcome, occurrence time.Time) {
		n.begins.ended(r)
		if o == nil {
			n.postpone(r, occurrence)
			return
		}
		n.ledger.ended(r) // also if the node was declared dead meanwhile: the store refuses the outcome then
		n.committer.outcome(r, o)
	})
}

// workerFreed is called when a worker has ended a run.
func (n *Node) workerFreed() {
	if n.ledger.workerFreed() {
		n.Wake()
	}
	n.ledger.bodies.Done()
}

// A holding is that of a run whose job is handled.
type holding struct {
	n *Node
	r *run
}

func (h holding) canceled() bool { return h.n.ledger.canceled(h.r) }

// calling notes that the handler is about to be called.
//
// If a node was lost that may have called the handler, the store has to know of the begin before: a handler that kills
// its process at once would otherwise never use up its attempts. The worker waits for the answer.
func (h holding) calling(ctx context.Context, at storeclock.Start) error {
	n, r := h.n, h.r
	switch {
	case !n.ledger.calling(r, at.At.Truncate(time.Microsecond)):
		return errNotKept
	case !r.job.Suspect:
		n.begins.add(r, at)
		return nil
	}
	r.noted.Store(true)
	noted := make(chan struct{})
	n.committer.add(entry{run: r, begun: r.job.Started, noted: noted})
	select {
	case <-noted:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if at := timetable.Later(r.job.Due, r.job.Occurrence); r.job.Attempt <= 1 && n.clock.Until(at) > storeclock.Noise {
		return errEarly
	}
	if !n.ledger.keeps(r) {
		return errNotKept
	}
	return nil
}

// postpone takes back that the run was begun, and asks the store to have that occurrence for it; or gives it back, as
// all that had not begun was. The worker does not wait for the answer, which takes long if a transaction has locked the
// job's row.
func (n *Node) postpone(r *run, occurrence time.Time) {
	switch ask, back := n.ledger.postpone(r); {
	case ask:
		n.committer.confirm(r, occurrence)
	case back:
		n.Wake()
	}
}

// committed is called with the store's answer: the outcome is committed, maybe before this commit, or refused because the
// run was no longer this node's.
func (n *Node) committed(r *run, o *store.Outcome, ok, before bool) {
	h := r.handling.Load()
	if o, ok = h.settled(o, ok, before); !ok {
		n.cfg.logOf(&r.job).Warn("durable: the outcome of a run was refused, because another node may have the job", "epoch", r.job.Epoch)
	}
	n.ledger.drop(r)
	n.begins.forget(r)
	if ok && h.foundAhead(o) {
		n.reviews.add(late{r.job.ID, o.Due, o.Run.Finished})
	}
	n.cfg.Changed(r.job.ID)
	n.tell(h, o, ok)
	if r.kind.bounded() || ok && o.State == store.Waiting && n.clock.Until(o.Due) < n.ahead() {
		n.Wake() // there is room for another one, or the next occurrence is near
	}
}

// tell calls Config.Settled, if it is set, for an outcome that the store has answered for.
func (n *Node) tell(h *Handling, o *store.Outcome, committed bool) {
	if n.cfg.Settled == nil {
		return
	}
	shown := *o
	shown.Run.Job, shown.Run.Epoch, shown.Run.Node = h.job.ID, h.job.Epoch, h.job.Owner
	if !o.Unrecorded && n.cfg.History > 0 {
		shown.Run.Seq = h.job.Runs + 1
	}
	n.cfg.Settled(h.job, shown, committed)
}

// passAlone is called by the timer of the ledger's solitude.
func (n *Node) passAlone() {
	arm, open := n.ledger.pass()
	for _, r := range arm {
		n.arm(r)
	}
	if open {
		n.Wake()
	}
}

// CancelRuns cancels the contexts of these runs, as their jobs are to be canceled.
func (n *Node) CancelRuns(refs []store.Ref) {
	n.ledger.cancelWanted(refs).cancel(executor.ErrCanceled)
}
