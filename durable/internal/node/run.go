package node

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A run is one holding of a job by this node, from the claim to the store's answer to its outcome. See runState.
type run struct {
	n    *Node
	kind *Kind
	job  store.Job
	// since is when this node got it, on the store's clock.
	since time.Time

	// completed is the outcome with which its handler has called CompleteTx; nil before. If that was committed, it is the
	// outcome of the run, whatever the handler returns, and the job may be in its next run before the store is asked.
	completed atomic.Pointer[store.Outcome]
	// inTx is set when CompleteTx has locked its row, in a transaction of its handler.
	inTx atomic.Bool
	// times are those of its schedule, once they are read.
	times timetable.Timetable
	// before and during are set before the handler is called; during is nil unless the policy is SkipOverlap. See
	// LeftOutBefore and LeftOutDuring.
	before func() LeftOut
	during func() overlap
	// progress and output are what its handler has noted and written; nil before.
	progress atomic.Pointer[store.RunProgress]
	output   atomic.Pointer[output.Buffer]
	// label is what its handler has set last; nil before.
	label atomic.Pointer[string]
	// noted is set when the store has, or will have, that it has begun.
	noted atomic.Bool
	// steps are what its handler knows of them.
	steps steps
	// last is the outcome of the run while its trigger is asked for the next time; nil before.
	last *store.Outcome

	// These are the ledger's, as are the changes of job.
	state        runState
	turn         int                     // goes up when a timer or task is set; those of earlier turns do nothing
	timer        *time.Timer             // to confirm, or to arm again
	decided      bool                    // the store has the occurrence that the run is for
	cancelWanted bool                    // there was a call to cancel the job
	cancel       context.CancelCauseFunc // of the handler's context, once begun
}

func (r *run) ref() store.Ref { return store.Ref{ID: r.job.ID, Epoch: r.job.Epoch} }

// arm sets what is next for a run that is claimed or armed, see ledger.arm. It is called without a lock, since a pool
// that is shut down completes the task at once.
func (r *run) arm() {
	n := r.n
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
		n.ledger.setTimer(r, turn, time.AfterFunc(after, r.arm))
	case submit:
		r.fire(turn, after)
	}
}

// fire hands the run to the pool, to begin when it is due.
func (r *run) fire(turn int, left time.Duration) {
	n := r.n
	f := executor.SubmitAfter(n.values, n.cfg.Pool, left, executor.Func(func(ctx context.Context) error {
		return r.begin(ctx, turn)
	}).Call, executor.Named(r.kind.Name))
	f.OnDone(func() {
		if f.State() != executor.Succeeded && n.ledger.refused(r, turn) {
			n.cfg.Log().Error("durable: the pool does not accept work; jobs are released", "error", f.Err())
		}
	})
}

// confirmed is called with the store's answer to a confirm, given at the time now.
func (r *run) confirmed(ok bool, occurrence, now time.Time) {
	if r.n.ledger.confirmed(r, ok, occurrence, now) {
		r.arm()
	}
}

// begin runs the handler, on a worker of the pool, and hands the outcome over for the next group commit. It does not
// wait for that. The error is for the hooks and counters of the pool alone.
func (r *run) begin(ctx context.Context, turn int) (err error) {
	n := r.n
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	may, poll, canceled := n.ledger.begin(r, turn, cancel, n.clock.Now())
	if poll {
		n.Wake()
	}
	switch may {
	case tooEarly:
		r.arm()
		return nil
	case admitted:
		defer n.workerFreed()
	default:
		return nil
	}
	if canceled {
		cancel(executor.ErrCanceled)
	}
	var o *store.Outcome
	var moved time.Time
	defer func() {
		if !moved.IsZero() {
			r.postpone(moved)
			return
		}
		if o == nil { // a trigger panicked, or called runtime.Goexit
			err = executor.ErrGoexit
			if v := recover(); v != nil {
				err = &executor.PanicError{Value: v, Stack: debug.Stack()}
			}
			o = new(r.withoutNext(err))
		}
		r.commit(o)
	}()
	o, moved, err = r.perform(ctx, func(e store.Outcome) { o = &e })
	return err
}

// postpone takes back that the run was begun, and asks the store to have that occurrence for it; or gives it back, as
// all that had not begun was. The worker does not wait for the answer, which takes long if a transaction has locked the
// job's row.
func (r *run) postpone(occurrence time.Time) {
	n := r.n
	n.begins.ended(r)
	switch ask, back := n.ledger.postpone(r); {
	case ask:
		n.committer.confirm(r, occurrence)
	case back:
		n.Wake()
	}
}

// commit hands the outcome over, also if the node was declared dead meanwhile: the store refuses it then.
func (r *run) commit(o *store.Outcome) {
	r.output.Load().Close()
	if !o.Unrecorded && r.n.cfg.History > 0 {
		o.Output = r.packed()
	}
	r.n.begins.ended(r)
	r.n.ledger.ended(r)
	r.n.committer.outcome(r, o)
}

// committed is called with the store's answer: the outcome is committed, maybe before this commit, or refused because the
// run was no longer this node's.
func (r *run) committed(o *store.Outcome, ok, before bool) {
	n := r.n
	if done := r.completed.Load(); done != nil && (before || !ok) {
		o, ok = done, true
	}
	if !ok {
		n.logOf(&r.job).Warn("durable: the outcome of a run was refused, because another node may have the job", "epoch", r.job.Epoch)
	}
	n.ledger.drop(r)
	n.begins.forget(r)
	if ok {
		r.reviewLate(o)
	}
	n.cfg.Changed(r.job.ID)
	r.settled(o, ok)
	if r.kind.bounded() || ok && o.State == store.Waiting && n.clock.Until(o.Due) < n.ahead() {
		n.Wake() // there is room for another one, or the next occurrence is near
	}
}

// CancelRuns cancels the contexts of these runs, as their jobs are to be canceled.
func (n *Node) CancelRuns(refs []store.Ref) {
	n.ledger.cancelWanted(refs).cancel(executor.ErrCanceled)
}

// rearm computes anew when the runs that wait begin, after a jump of the store's clock.
func (n *Node) rearm() {
	for _, r := range n.ledger.waiting() {
		r.arm()
	}
}
