package executor

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

var (
	// Abort fails the submission with a [*RejectedError]. It is the default.
	Abort RejectPolicy = &policy{"Abort", (*Pool).abort}

	// CallerRuns runs the task in the goroutine that submits it, which slows submitters down to the pace of the pool.
	// The task counts neither against the limit nor against the rate of a share. Hooks.BeforeTask, Around and AfterTask
	// are not called; the error of a plain Runnable is logged. If the task has [Retry] and fails, it waits for its next
	// attempt in the pool. CallerRuns does what Abort does if the pool is shut down, and in a [Keyed], where tasks of a
	// key would run beside each other.
	CallerRuns RejectPolicy = &policy{"CallerRuns", (*Pool).callerRuns}

	// Discard drops the task. The submission succeeds, and the task's future fails with a
	// [*RejectedError].
	Discard RejectPolicy = &policy{"Discard", (*Pool).discard}

	// DiscardOldest drops the task that would run next, as Discard does, and admits the new
	// one in its place, in one step. If the pool is shut down, or has no task to drop,
	// DiscardOldest does what Abort does.
	DiscardOldest RejectPolicy = &policy{"DiscardOldest", (*Pool).discardOldest}

	// DropLowest drops the least urgent of the tasks that wait in the queue [BoundedPrioritized], and of those the
	// latest, and admits the new one in its place, in one step. The future of the dropped task fails with a
	// [*RejectedError]. If no waiting task is less urgent than the new task, or the pool is shut down, DropLowest does
	// what Abort does. With another queue it is an error of [New] and [Pool.Reconfigure].
	DropLowest RejectPolicy = &policy{"DropLowest", (*Pool).dropLowest}

	// Block waits until the pool has room, first come, first served. The wait ends, and the submission fails, when the
	// submitter's context ends or the pool is shut down. A task that submits to its own pool with this policy may wait
	// for itself.
	Block RejectPolicy = &policy{"Block", (*Pool).block}
)

// policy is a RejectPolicy of this package. As such it works on the pool's own
// work, so that a task that gets in after all is counted once.
type policy struct {
	name string

	// refuse handles u. counts is false if the pool has not refused it: a program has called the policy itself.
	refuse func(p *Pool, ctx context.Context, u work, why error, counts bool) error
}

func (r *policy) String() string { return "executor." + r.name }

// Reject is for a policy of the user's that leaves the decision about a task to a policy of
// this package, and for a program that calls it for a task of its own.
func (r *policy) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	u, _, err := pool.newWork(ctx, task) // refuse has detached it
	if err != nil {
		return err
	}
	d := pool.deciding.leave(task)
	why := ErrSaturated
	if pool.engine.Stage() != engine.Running {
		why = ErrShutdown
	}
	return r.refuse(pool, ctx, d.keyed(u), why, d != nil)
}

// refuse calls the policy for u, and completes its task if the policy fails.
func (p *Pool) refuse(ctx context.Context, u work, r RejectPolicy, why error) error {
	if own, ok := r.(*policy); ok {
		return own.refuse(p, ctx, u, why, true)
	}
	d := newDecision(u, why)
	p.deciding.Lock()
	p.deciding.all = append(p.deciding.all, d)
	p.deciding.Unlock()
	if t := u.taskCore(); t != nil {
		p.engine.Locked(t.Detach)
	}
	decided := false
	defer func() {
		if decided {
			return
		}
		if v := recover(); v != nil {
			d.why = abrupt(v).err
			p.decided(d)
			u.end(task.Failed, d.why)
			panic(v)
		}
	}()
	err := r.Reject(ctx, d.task, p)
	decided = true
	p.decided(d)
	switch {
	case err == nil:
		p.discardForgotten(u, why)
	case matches(err, ErrKept):
		if u.taskCore() != nil {
			watchForeign(ctx, u)
		}
		return nil
	default:
		u.end(task.Failed, err)
	}
	return err
}

// discardForgotten discards the task of u if the policy, which has returned nil, has not taken
// it on. Of a task without a future it can't be known.
func (p *Pool) discardForgotten(u work, why error) {
	t := u.taskCore()
	if _, plain := unwrapped(u).(*taskRunnable); t == nil || plain || t.Owner() != nil {
		return // in the last case a pool has it
	}
	if err := p.rejected(why); u.end(task.Failed, err) { // unless it has begun, or is done
		p.dropped(u, err)
	}
}

// decided counts a task as rejected after a policy of the user's.
func (p *Pool) decided(d *decision) {
	p.deciding.Lock()
	p.deciding.all = slices.DeleteFunc(p.deciding.all, func(of *decision) bool { return of == d })
	left := d.left
	p.deciding.Unlock()
	if !left {
		p.countRejected(d.why)
	}
}

func (p *Pool) countRejected(why error) {
	_, panicked := why.(*PanicError)
	out := engine.Expired
	switch {
	case why == ErrSaturated:
		out = engine.NoRoom
	case why == ErrShutdown:
		out = engine.Closed
	case panicked:
		out = engine.Panicked
	}
	p.engine.Reject(out)
	p.observed.Load().note(taskRejected)
}

func (p *Pool) rejected(why error) error { return &RejectedError{Executor: p.name, Reason: why} }

func (p *Pool) abort(_ context.Context, u work, why error, counts bool) error {
	if counts {
		p.countRejected(why)
	}
	err := p.rejected(why)
	u.end(task.Failed, err)
	return err
}

func (p *Pool) discard(_ context.Context, u work, why error, counts bool) error {
	if counts {
		p.countRejected(why)
	}
	err := p.rejected(why)
	defer p.dropped(u, err)
	u.end(task.Failed, err)
	return nil
}

func (p *Pool) callerRuns(ctx context.Context, u work, why error, counts bool) error {
	if p.engine.Stage() != engine.Running {
		return p.abort(ctx, u, ErrShutdown, counts)
	}
	if p.byKey {
		return p.abort(ctx, u, why, counts)
	}
	if counts {
		p.countRejected(why)
	}
	if t := u.taskCore(); t == nil {
		ctx, cancel := p.owner.WithCancel(context.Background())
		defer cancel(ErrReturned)
		p.runHere(ctx, u)
	} else if ctx, ok := t.BeginHere(); ok && p.runHere(ctx, u).is(runsAgain) {
		p.takeOn(u)
	}
	return nil
}

// takeOn has u, whose first attempt has failed here, wait for the next one among the tasks of the
// pool, for which there is always room.
func (p *Pool) takeOn(u work) {
	if !p.engine.SubmitAgain(u) {
		u.end(task.Canceled, canceled(ErrShutdown))
		return
	}
	p.waitsAgain(u)
	if t := u.taskCore(); t.State().Done() {
		p.unqueue(t)
	}
}

// runHere runs the body of u in the submitter's goroutine.
func (p *Pool) runHere(ctx context.Context, u work) ending {
	end := invokeHere(ctx, u)
	if end.err != nil {
		p.reportBody(ctx, u, p.info(0, u), end)
	}
	return end
}

func (p *Pool) discardOldest(ctx context.Context, u work, why error, _ bool) error {
	return p.replace(ctx, u, why, func(q engine.Queue) engine.Unit {
		if q, ok := q.(*engine.Keys); ok {
			return q.PopNext()
		}
		return q.Pop()
	})
}

func (p *Pool) dropLowest(ctx context.Context, u work, why error, _ bool) error {
	return p.replace(ctx, u, why, func(q engine.Queue) engine.Unit {
		if q, sheds := q.(engine.Shedding); sheds {
			return q.PopLowest(u)
		}
		return nil
	})
}

// replace admits u in the place of what evict has taken out of the queue.
func (p *Pool) replace(ctx context.Context, u work, why error, evict func(engine.Queue) engine.Unit) error {
	v, evicted := p.engine.SubmitReplacing(u, evict)
	if evicted != nil {
		p.observed.Load().note(taskRejected)
		defer p.evict(evicted.(work), why) // after u is looked after: its OnDone may panic
	}
	return p.finish(ctx, u, v)
}

// evict completes the task of u, which was taken out of the queue for another.
func (p *Pool) evict(u work, why error) {
	err := p.rejected(why)
	defer p.dropped(u, err)
	u.end(task.Failed, err)
}

// finish ends a submission whose admission was tried again.
func (p *Pool) finish(ctx context.Context, u work, v engine.Verdict) error {
	switch v {
	case engine.Taken:
		return nil
	case engine.Queued:
		if t := u.taskCore(); t != nil {
			p.afterQueued(ctx, u, t, t.IsToBeWatched())
		}
		return nil
	}
	return p.abort(ctx, u, reasonOf(v), true)
}

// BlockFor is [Block] with a limit of the wait: after d the submission fails with an error
// that matches [ErrSaturated]. If d is not positive, BlockFor does not wait. Unlike a deadline of
// the submitter's context, d does not bound the body.
func BlockFor(d time.Duration) RejectPolicy {
	return &policy{"BlockFor(" + d.String() + ")", func(p *Pool, ctx context.Context, u work, _ error, _ bool) error {
		patience := time.NewTimer(d)
		defer patience.Stop()
		return p.blockUntil(ctx, u, patience.C)
	}}
}

// block is the policy Block.
func (p *Pool) block(ctx context.Context, u work, _ error, _ bool) error {
	return p.blockUntil(ctx, u, nil)
}

// blockUntil waits for room until ctx ends or there is a value in over. If the caller is a task, it lends its place
// meanwhile; a task of p itself may wait for itself.
func (p *Pool) blockUntil(ctx context.Context, u work, over <-chan time.Time) error {
	waits := task.OwnerOf(ctx)
	lends := waits != nil && !waits.Within(&p.owner)
	var entered func()
	if m, ok := u.(*measured); ok {
		entered = func() { m.admitted = m.by.elapsed() }
	}
	v, waiter := p.engine.SubmitOrWait(u, entered, lends) // there may be room by now
	if v != engine.Saturated {
		return p.finish(ctx, u, v)
	}
	if lends {
		waits.Lend()
		defer waits.Reclaim()
	}
	late := false
	select {
	case v = <-waiter.Decided():
		return p.finish(ctx, u, v)
	case <-over:
		late = true
	case <-ctx.Done():
	}
	if !p.engine.GiveUp(waiter) {
		return p.finish(ctx, u, <-waiter.Decided()) // decided in the same moment, and that stands
	}
	if late {
		return p.abort(ctx, u, ErrSaturated, true)
	}
	return p.abort(ctx, u, task.ContextError(ctx), true)
}

// unwrapped returns the work that is measured, or has a key.
func unwrapped(u work) work {
	if m, ok := u.(*measured); ok {
		u = m.work
	}
	if k, ok := u.(*keyedWork); ok {
		u = k.work
	}
	return u
}

// reasonOf returns the reason of a rejection.
func reasonOf(v engine.Verdict) error {
	if v == engine.TooLate {
		return ErrShutdown
	}
	return ErrSaturated
}
