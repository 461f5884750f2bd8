package executor

import (
	"context"
	"time"
)

// RejectPolicy decides about a task that a pool can't take, because it is shut
// down or because it has neither room in its queue nor a worker to spare. It is
// asked once a task, by the goroutine that submits, with no lock held.
//
// The policies of this package are [Abort], [CallerRuns], [Discard],
// [DiscardOldest], [Block] and [BlockFor]; [RejectFunc] makes one of a function.
// Java: RejectedExecutionHandler.
type RejectPolicy interface {
	// Reject gets the task as it was submitted, with its context but without the
	// options of Go, and the pool. If it returns an error, the submission fails
	// with it and so does the task's future. If it returns nil, it has dealt with
	// the task: by running it, or giving it to some other executor, or completing
	// it. If it panics, so does the submission, and the future fails with a
	// *PanicError.
	Reject(ctx context.Context, task Runnable, pool *Pool) error
}

// RejectFunc is a function as a RejectPolicy. It may leave the decision to a
// policy of this package, by its Reject, for the pool that it was given: that
// one has counted the task as rejected, and counts it again. To another pool, or
// to this one anew, it gives the task by Execute. Either way the context that it
// passes on becomes the parent of the task's: one that ends when the function
// returns ends the task as well. To bound the wait alone there is [BlockFor]. No
// pool takes a nil function.
type RejectFunc func(ctx context.Context, task Runnable, pool *Pool) error

// Reject calls f.
func (f RejectFunc) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	return f(ctx, task, pool)
}

var (
	// Abort fails the submission with a [*RejectedError]. It is the default.
	// Java: AbortPolicy.
	Abort RejectPolicy = &policy{"Abort", (*Pool).abort}

	// CallerRuns runs the task in the goroutine that submits it, which slows
	// submitters down to what the pool can do. Hooks.BeforeTask and AfterTask are
	// not called, so that the error of a plain Runnable is logged. A pool that is
	// shut down aborts. Java: CallerRunsPolicy, which drops the task silently then.
	CallerRuns RejectPolicy = &policy{"CallerRuns", (*Pool).callerRuns}

	// Discard drops the task. The submission succeeds, and the task's future
	// fails with a [*RejectedError]. Java: DiscardPolicy, which leaves the
	// future pending for ever.
	Discard RejectPolicy = &policy{"Discard", (*Pool).discard}

	// DiscardOldest drops the task that would run next, as Discard does, and
	// admits the new one in its place, in one step. A pool that is shut down,
	// or has no task to drop, aborts. Java: DiscardOldestPolicy.
	DiscardOldest RejectPolicy = &policy{"DiscardOldest", (*Pool).discardOldest}

	// Block waits until the pool has room, first come, first served. It gives
	// up, and the submission fails, when the submitter's context ends or the
	// pool is shut down. A task that submits to its own pool may wait for
	// itself. Java has no counterpart.
	Block RejectPolicy = &policy{"Block", (*Pool).block}
)

// policy is a RejectPolicy of this package. As such it works on the pool's own
// entry, so that a task that gets in after all is counted once.
type policy struct {
	name   string
	refuse func(p *Pool, ctx context.Context, e entry, why error) error
}

func (r *policy) String() string { return "executor." + r.name }

// Reject serves policies of users that leave the decision to one of ours, for a
// task that the pool has given them to decide about.
func (r *policy) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	e, _ := pool.bind(ctx, task) // refuse detached it
	why := ErrSaturated
	pool.mu.Lock()
	pool.mu.gate.submitted-- // refuse has counted it, and so will the policy or the admission
	pool.mu.ended[rejectedTask]--
	if pool.mu.stage != StageRunning {
		why = ErrShutdown
	}
	pool.mu.Unlock()
	return r.refuse(pool, ctx, e, why)
}

// refuse has the policy decide about e, and completes its task if that fails.
func (p *Pool) refuse(ctx context.Context, e entry, r RejectPolicy, why error) error {
	if own, ok := r.(*policy); ok {
		return own.refuse(p, ctx, e, why)
	}
	p.mu.Lock()
	p.mu.gate.submitted++
	p.mu.ended[rejectedTask]++
	if t := e.task(); t != nil {
		t.detach() // which the pool's lock is for
	}
	p.mu.Unlock()
	decided := false
	defer passOn(&decided, func(err error) { e.end(Failed, err) })
	err := r.Reject(ctx, e.origin(), p)
	decided = true
	if err != nil {
		e.end(Failed, err)
	}
	return err
}

func (p *Pool) countRejected() {
	p.mu.Lock()
	p.mu.gate.submitted++
	p.mu.ended[rejectedTask]++
	p.mu.Unlock()
}

func (p *Pool) rejected(why error) error { return &RejectedError{Executor: p.name, Reason: why} }

func (p *Pool) abort(_ context.Context, e entry, why error) error {
	p.countRejected()
	err := p.rejected(why)
	e.end(Failed, err)
	return err
}

func (p *Pool) discard(_ context.Context, e entry, why error) error {
	p.countRejected()
	e.end(Failed, p.rejected(why))
	return nil
}

func (p *Pool) callerRuns(ctx context.Context, e entry, why error) error {
	if p.Stage() != StageRunning {
		return p.abort(ctx, e, ErrShutdown)
	}
	p.countRejected()
	if t := e.task(); t == nil {
		ctx, cancel := within(p, withDue(ctx, time.Time{}))
		defer cancel(ErrReturned)
		p.runHere(ctx, e)
	} else if ctx, ok := t.beginHere(p, ctx, false); ok {
		p.runHere(ctx, e)
	}
	return nil
}

// runHere runs the body of e in the submitter's goroutine.
func (p *Pool) runHere(ctx context.Context, e entry) {
	if end := e.invoke(ctx); end.err != nil {
		p.reportBody(ctx, e, p.info(nil, e), end, false)
	}
}

func (p *Pool) discardOldest(ctx context.Context, e entry, why error) error {
	p.mu.Lock()
	var oldest entry
	w, verdict := p.admitLocked(e, e.task())
	if verdict == saturated {
		var ok bool
		if oldest, ok = p.mu.queue.pop(instant{}); ok {
			p.mu.ended[rejectedTask]++
			w, verdict = p.admitLocked(e, e.task())
		}
	}
	p.mu.Unlock()
	if w != nil {
		go p.work(w)
	}
	defer oldest.end(Failed, p.rejected(why)) // after e is looked after: its OnDone may not return
	return p.settled(ctx, e, verdict)
}

// settled ends a submission after a second attempt.
func (p *Pool) settled(ctx context.Context, e entry, v verdict) error {
	switch v {
	case taken:
		return nil
	case queued:
		p.attend(ctx, e, e.task())
		return nil
	}
	return p.abort(ctx, e, v.reason())
}
