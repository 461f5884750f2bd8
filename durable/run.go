package durable

import (
	"context"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
)

// A run is one holding of a job by this node, from the claim to the commit of its
// outcome:
//
//	claimed -> confirmed -> begun -> settled
//
// One that makes up for occurrences that were missed may turn out, when it is
// begun, to be for another occurrence than the store has. Then it is put off,
// until it is confirmed with that one: whoever has to begin it again, because this
// node was lost, begins the same.
//
// It may be dropped on the way, because it is another's or is given back. What
// was under way for it then finds it dropped, and does nothing.
type run struct {
	n    *node
	kind *kind
	job  Job
	// since is when this node got it, on the store's clock.
	since time.Time
	// completed says that its handler called CompleteTx: if that was committed, the
	// job may be in its next run before this one's outcome is asked about.
	completed atomic.Bool
	// before and during are set before the handler is called; during is nil unless the policy is SkipOverlap. See
	// LeftOutBefore and LeftOutDuring.
	before func() LeftOut
	during func() overlap

	// These are guarded by n.mu.
	begun, dropped bool
	asked          bool                    // a confirm is under way; its answer arms the run
	decided        bool                    // the store has the occurrence that the run is for
	wantCancel     bool                    // somebody asked for the job to be canceled
	cancel         context.CancelCauseFunc // of the handler's context, once begun
	armed          int                     // goes up when a timer or task is set; older ones do nothing
	timer          *time.Timer             // to confirm, or to arm again
}

func (r *run) ref() Ref { return Ref{r.job.ID, r.job.Epoch} }

// countLocked gives the count that a run is part of until it has begun.
func (r *run) countLocked() *int {
	switch {
	case r.job.State == Claimed:
		return &r.n.mu.ahead
	case r.asked:
		return &r.n.mu.postponed
	}
	return &r.n.mu.due
}

// hold takes jobs that the database has given to this node under that name.
func (n *node) hold(name string, jobs []Job) {
	n.mu.Lock()
	runs := n.holdLocked(name, jobs)
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
}

// holdLocked is hold, but for the arming of the runs that it gives.
func (n *node) holdLocked(name string, jobs []Job) []*run {
	runs := make([]*run, 0, len(jobs))
	now := n.clock.now()
	for i := range jobs {
		if n.mu.name != name || n.mu.fenced || n.mu.draining {
			n.mu.releasesDue++
			break
		}
		if n.mu.paused[jobs[i].Kind] { // since they were asked for
			n.mu.releasesDue++
			continue
		}
		r := &run{n: n, job: jobs[i], kind: n.jobs.kind(jobs[i].Kind), since: now}
		if old := n.mu.held[r.job.ID]; old != nil {
			if old.job.Epoch >= r.job.Epoch {
				continue // the answer was overtaken: it was freed since, and is this node's again
			}
			n.dropLocked(old) // its epoch is over
		}
		n.mu.held[r.job.ID] = r
		*r.countLocked()++
		n.mu.perKind[r.job.Kind]++
		runs = append(runs, r)
	}
	return runs
}

// arm sets what is next for a run that has not begun: its confirmation a little
// before it is due, or the task that begins it when it is due. It is called
// without the lock, since a pool that is shut down completes the task at once.
//
// What no claim would give to this node, since the store's clock was put back, is
// given back: until its time it would have a place here, and in the limits of its
// kind, that others need.
func (r *run) arm() {
	n := r.n
	n.mu.Lock()
	if r.dropped || r.begun || r.asked {
		n.mu.Unlock()
		return
	}
	left := n.clock.until(r.timeLocked())
	if left > n.ahead() {
		n.dropLocked(r)
		n.mu.releasesDue++
		n.mu.Unlock()
		n.wake()
		return
	}
	r.armed++
	turn := r.armed
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.job.State == Claimed {
		r.timer = time.AfterFunc(left-confirmLead, func() { r.confirm(turn) })
		n.mu.Unlock()
		return
	}
	if left > confirmLead {
		// The store's clock was put back. A pool that is closed waits for what it has.
		r.timer = time.AfterFunc(left-confirmLead, r.arm)
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	r.fire(turn, left)
}

// timeLocked gives when the run may begin. Due alone says so, unless the
// occurrence was moved and the store's clock has been put back since. One that
// was begun before, by a node that was lost, does not wait for it again.
func (r *run) timeLocked() time.Time {
	if r.job.State == Running && r.job.Attempt <= 1 {
		return maxTime(r.job.Due, r.job.Occurrence)
	}
	return r.job.Due
}

// fire gives the run to the pool, to begin when it is due.
func (r *run) fire(turn int, left time.Duration) {
	n := r.n
	f := executor.Schedule(n.values, n.pool, left, executor.Callable(func(ctx context.Context) error {
		return r.begin(ctx, turn)
	}), executor.Named(r.kind.name))
	f.OnDone(func() {
		if f.State() == executor.Succeeded {
			return
		}
		n.mu.Lock()
		given := !r.begun && !r.dropped && r.armed == turn
		if given {
			n.dropLocked(r)
			n.mu.releasesDue++
		}
		n.mu.Unlock()
		if given { // without the lock, since a log may be slow
			n.jobs.log().Error("durable: the pool does not take work; jobs are given back", "error", f.Err())
		}
	})
}

// confirm asks the database whether the job is still this node's to begin.
func (r *run) confirm(turn int) {
	r.n.mu.Lock()
	current := !r.dropped && !r.asked && r.armed == turn
	if current {
		r.asked = true
	}
	r.n.mu.Unlock()
	if current {
		r.n.committer.confirm(r, time.Time{})
	}
}

// postpone takes back that the run was begun, and asks the database to have it
// stand for that occurrence. The worker does not wait for the answer: it may be
// long in coming, if somebody has locked the job's row.
func (r *run) postpone(occurrence time.Time) {
	n := r.n
	n.mu.Lock()
	if r.dropped {
		n.mu.Unlock()
		return
	}
	r.begun, r.cancel, r.asked = false, nil, true
	n.mu.begun--
	*r.countLocked()++
	if n.mu.fenced || n.mu.draining || n.mu.paused[r.job.Kind] {
		n.dropLocked(r) // as all else was that had not begun
		n.mu.releasesDue++
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	n.committer.confirm(r, occurrence)
}

// confirmed is called with the answer, which the store gave at the time now.
func (r *run) confirmed(ok bool, occurrence, now time.Time) {
	n := r.n
	n.mu.Lock()
	if !ok {
		n.dropLocked(r)
	}
	if r.dropped {
		n.mu.Unlock()
		return
	}
	*r.countLocked()--
	r.asked = false
	r.job.Updated = now
	if r.job.State == Claimed {
		r.job.State = Running
		r.job.Attempt++
	}
	if !occurrence.IsZero() {
		r.job.Occurrence, r.decided = occurrence, true
	}
	*r.countLocked()++
	n.mu.Unlock()
	r.arm()
}

// begin runs the handler, on a worker of the pool, and hands the outcome over
// for the next group commit. It does not wait for that. The error is for the
// hooks and counters of the pool, and no one else.
func (r *run) begin(ctx context.Context, turn int) (err error) {
	n := r.n
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.mu.Lock()
	if !r.dropped && !r.begun && n.leaseLeft() <= 0 {
		// A process that was stopped wakes with its lease long over.
		n.dropLocked(r)
		n.mu.releasesDue++
	}
	if r.dropped || r.begun || r.armed != turn {
		n.mu.Unlock()
		return nil
	}
	if n.clock.until(r.timeLocked()) > clockNoise {
		// The store's clock was put back since the timer was set.
		n.mu.Unlock()
		r.arm()
		return nil
	}
	*r.countLocked()--
	r.begun, r.cancel = true, cancel
	n.mu.begun++
	n.mu.lastBegun = time.Now()
	n.bodies.Add(1)
	look := n.mu.more && n.mu.due <= n.mu.budget/2
	if r.wantCancel {
		cancel(executor.ErrCanceled)
	}
	n.mu.Unlock()
	defer n.workerFreed()
	if look {
		n.wake()
	}
	var o *Outcome
	var moved time.Time
	defer func() {
		if !moved.IsZero() {
			r.postpone(moved)
			return
		}
		if o == nil { // a trigger panicked, or called runtime.Goexit
			o = new(r.conclude(ctx, timetable{}, nil, executor.ErrGoexit, n.clock.start()))
		}
		n.committer.outcome(r, *o)
	}()
	o, moved, err = r.perform(ctx, func(e Outcome) { o = &e })
	return err
}

// workerFreed notes that a worker that had a run is free.
func (n *node) workerFreed() {
	n.mu.Lock()
	stalled := n.mu.stalled
	n.mu.stalled = false
	n.mu.Unlock()
	if stalled {
		n.wake()
	}
	n.bodies.Done()
}

// settled is called when the database has answered: the outcome is committed, or
// refused because the run was no longer this node's.
func (r *run) settled(o *Outcome, ok bool) {
	n := r.n
	if !ok && !r.completed.Load() {
		n.jobs.logOf(&r.job).Warn("durable: the outcome of a run was refused, since it was no longer this node's", "epoch", r.job.Epoch)
	}
	n.mu.Lock()
	n.dropLocked(r)
	n.mu.Unlock()
	n.jobs.notify(r.job.ID)
	if r.kind.limit > 0 || r.kind.global > 0 || ok && o.State == Waiting && n.clock.until(o.Due) < n.ahead() {
		n.wake() // there is room for another one, or the next occurrence is near
	}
}

// dropLocked forgets a run. What the database thinks of it is another matter.
func (n *node) dropLocked(r *run) {
	if r.dropped {
		return
	}
	r.dropped = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if !r.begun {
		*r.countLocked()--
	}
	if n.mu.perKind[r.job.Kind]--; n.mu.perKind[r.job.Kind] == 0 {
		delete(n.mu.perKind, r.job.Kind)
	}
	if n.mu.held[r.job.ID] == r {
		delete(n.mu.held, r.job.ID)
	}
	n.checkEmptyLocked()
}

// dropWaitingLocked gives up the runs that have not begun and are such. Poll releases
// them in the database.
func (n *node) dropWaitingLocked(such func(*run) bool) {
	for _, r := range n.mu.held {
		if !r.begun && such(r) {
			n.dropLocked(r)
			n.mu.releasesDue++
		}
	}
}

func all(*run) bool { return true }

// cancelLocked cancels the contexts of all handlers.
func (n *node) cancelLocked(cause error) {
	for _, r := range n.mu.held {
		if r.begun {
			r.cancel(cause)
		}
	}
}

// cancelWanted cancels the contexts of the runs that somebody wants canceled.
func (n *node) cancelWanted(refs []Ref) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ref := range refs {
		r := n.mu.held[ref.ID]
		if r == nil || r.job.Epoch != ref.Epoch || r.wantCancel {
			continue
		}
		r.wantCancel = true
		if r.begun {
			r.cancel(executor.ErrCanceled)
		}
	}
}

// rekey computes anew when to begin, after a jump of the store's clock.
func (n *node) rekey() {
	n.mu.Lock()
	var runs []*run
	for _, r := range n.mu.held {
		if !r.begun {
			runs = append(runs, r)
		}
	}
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
}
