package node

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/internal/storeclock"
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

	// These are guarded by n.mu.
	state        runState
	turn         int                     // goes up when a timer or task is set; those of earlier turns do nothing
	timer        *time.Timer             // to confirm, or to arm again
	decided      bool                    // the store has the occurrence that the run is for
	cancelWanted bool                    // there was a call to cancel the job
	cancel       context.CancelCauseFunc // of the handler's context, once begun
}

func (r *run) ref() store.Ref { return store.Ref{ID: r.job.ID, Epoch: r.job.Epoch} }

// timeLocked returns when the run may begin. That is Due, unless the occurrence was moved and the store's clock has
// been put back since. A run that was begun before, by a node that was lost, does not wait for its occurrence again.
func (r *run) timeLocked() time.Time {
	if r.job.State == store.Confirmed && r.job.Attempt == 0 {
		return timetable.Later(r.job.Due, r.job.Occurrence)
	}
	return r.job.Due
}

// arm sets what is next for a run that is claimed or armed: its confirmation a little before it is due, or the task
// that begins it when it is due. It is called without the lock, since a pool that is shut down completes the task at
// once.
//
// A run that no claim would give to this node, since the store's clock was put back, is given back: until its time it
// would have a place here, and in the limits of its kind, that others need.
func (r *run) arm() {
	n := r.n
	n.mu.Lock()
	if r.state != claimed && r.state != armed {
		n.mu.Unlock()
		return
	}
	left := n.clock.Until(r.timeLocked())
	if left > n.ahead() {
		r.giveBackLocked()
		n.mu.releaseFar = true
		n.mu.Unlock()
		n.Wake()
		return
	}
	r.turn++
	turn := r.turn
	if r.timer != nil {
		r.timer.Stop()
	}
	switch {
	case r.state == claimed:
		r.timer = time.AfterFunc(left-n.lead(), func() { r.confirm(turn) })
	case left > n.lead():
		// The store's clock was put back. A task in the pool would keep a shutdown of that waiting.
		r.timer = time.AfterFunc(left-n.lead(), r.arm)
	default:
		n.mu.Unlock()
		r.fire(turn, left)
		return
	}
	n.mu.Unlock()
}

// fire hands the run to the pool, to begin when it is due.
func (r *run) fire(turn int, left time.Duration) {
	n := r.n
	f := executor.SubmitAfter(n.values, n.cfg.Pool, left, executor.Func(func(ctx context.Context) error {
		return r.begin(ctx, turn)
	}).Call, executor.Named(r.kind.Name))
	f.OnDone(func() {
		if f.State() == executor.Succeeded {
			return
		}
		n.mu.Lock()
		refused := r.state == armed && r.turn == turn
		if refused {
			r.giveBackLocked()
		}
		n.mu.Unlock()
		if refused { // without the lock, since a log may be slow
			n.cfg.Log().Error("durable: the pool does not accept work; jobs are released", "error", f.Err())
		}
	})
}

// confirm asks the store whether the job is still this node's to begin.
func (r *run) confirm(turn int) {
	r.n.mu.Lock()
	ok := r.confirmLocked(turn)
	r.n.mu.Unlock()
	if ok {
		r.n.committer.confirm(r, time.Time{})
	}
}

// confirmed is called with the store's answer to a confirm, given at the time now.
func (r *run) confirmed(ok bool, occurrence, now time.Time) {
	n := r.n
	n.mu.Lock()
	if !ok {
		r.dropLocked()
	}
	if r.state == gone {
		n.mu.Unlock()
		return
	}
	r.confirmedLocked(occurrence, now)
	n.mu.Unlock()
	r.arm()
}

// begin runs the handler, on a worker of the pool, and hands the outcome over for the next group commit. It does not
// wait for that. The error is for the hooks and counters of the pool alone.
func (r *run) begin(ctx context.Context, turn int) (err error) {
	n := r.n
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.mu.Lock()
	if r.state == armed && n.leaseLeft() <= 0 {
		// A process that was suspended wakes with its lease long over.
		r.giveBackLocked()
	}
	if r.state == armed && r.turn == turn && r.missedTokenLocked() {
		r.giveBackLocked()
		n.mu.turn.seek(time.Now()) // it waits for another token
		n.mu.Unlock()
		n.Wake()
		return nil
	}
	if r.state != armed || r.turn != turn {
		n.mu.Unlock()
		return nil
	}
	if n.clock.Until(r.timeLocked()) > storeclock.Noise {
		// The store's clock was put back since the timer was set.
		n.mu.Unlock()
		r.arm()
		return nil
	}
	if !n.admitLocked(r) {
		n.mu.Unlock()
		return nil
	}
	r.beginLocked(cancel)
	n.bodies.Add(1)
	poll := n.mu.more && n.mu.inState[armed] <= n.mu.budget/2
	if r.cancelWanted {
		cancel(executor.ErrCanceled)
	}
	n.mu.Unlock()
	defer n.workerFreed()
	if poll {
		n.Wake()
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
	n.mu.Lock()
	if r.state == gone {
		n.mu.Unlock()
		return
	}
	r.postponeLocked()
	if !n.keepsLocked(&r.job) {
		r.giveBackLocked()
		n.mu.Unlock()
		n.Wake()
		return
	}
	n.mu.Unlock()
	n.committer.confirm(r, occurrence)
}

// commit hands the outcome over, also if the node was declared dead meanwhile: the store refuses it then.
func (r *run) commit(o *store.Outcome) {
	r.output.Load().Close()
	if !o.Unrecorded && r.n.cfg.History > 0 {
		o.Output = r.packed()
	}
	r.n.begins.ended(r)
	r.n.mu.Lock()
	if r.state == begun {
		r.moveLocked(committing)
	}
	r.n.endedLocked(r)
	r.n.mu.Unlock()
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
	n.mu.Lock()
	r.dropLocked()
	n.mu.Unlock()
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

// giveBackLocked drops the runs that wait and are such, to be released.
func (n *Node) giveBackLocked(such func(*run) bool) {
	for _, r := range n.mu.held {
		if r.state.waits() && such(r) {
			r.giveBackLocked()
		}
	}
}

func all(*run) bool { return true }

// cancelLocked cancels the contexts of all handlers.
func (n *Node) cancelLocked(cause error) {
	for _, r := range n.mu.held {
		if r.state == begun {
			r.cancel(cause)
		}
	}
}

// CancelRuns cancels the contexts of these runs, as their jobs are to be canceled.
func (n *Node) CancelRuns(refs []store.Ref) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ref := range refs {
		r := n.mu.held[ref.ID]
		if r == nil || r.job.Epoch != ref.Epoch || r.cancelWanted {
			continue
		}
		r.cancelWanted = true
		if r.state == begun {
			r.cancel(executor.ErrCanceled)
		}
	}
}

// rearm computes anew when the runs that wait begin, after a jump of the store's clock.
func (n *Node) rearm() {
	n.mu.Lock()
	var runs []*run
	for _, r := range n.mu.held {
		if r.state.waits() {
			runs = append(runs, r)
		}
	}
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
}
