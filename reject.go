package executor

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/task"
)

// RejectPolicy handles the tasks that a pool can't take, because it is shut down or has
// neither room in its queue nor a worker to spare. It is called once for a task, by the
// goroutine that submits it, with no lock held.
//
// The policies of this package are [Abort], [CallerRuns], [Discard], [DiscardOldest],
// [DropLowest], [Block] and [BlockFor]; [RejectFunc] makes one of a function.
type RejectPolicy interface {
	// Reject handles a task, which is passed as it was submitted. A task of Go with options
	// is a Runnable that keeps them: its timeout wherever it runs, its name and priority in
	// a pool. If Reject returns an error, the submission and the task's future fail with
	// it. If it returns nil, it must have run the task, completed it, or passed it to
	// another executor. If it panics, so does the submission, and the future fails with a
	// *PanicError.
	Reject(ctx context.Context, task Runnable, pool *Pool) error
}

// RejectFunc is a function as a RejectPolicy. It may leave the decision to a policy of this
// package, by calling its Reject for the same pool; the task is then counted once, as that
// policy decides. It may submit the task by Execute to another pool, or again to this one;
// this pool then counts it as rejected. Either way the context that it passes becomes the
// parent of the task's context, so one that ends when the function returns ends the task as
// well. To bound the wait alone, use [BlockFor]. A nil RejectFunc is an error of [New] and
// [Pool.Reconfigure].
type RejectFunc func(ctx context.Context, task Runnable, pool *Pool) error

// Reject calls f.
func (f RejectFunc) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	return f(ctx, task, pool)
}

var (
	// Abort fails the submission with a [*RejectedError]. It is the default.
	Abort RejectPolicy = &policy{"Abort", (*Pool).abort}

	// CallerRuns runs the task in the goroutine that submits it, which slows submitters
	// down to the pace of the pool. Hooks.BeforeTask, Around and AfterTask are not called;
	// the error of a plain Runnable is logged. If the pool is shut down, it does what Abort
	// does.
	CallerRuns RejectPolicy = &policy{"CallerRuns", (*Pool).callerRuns}

	// Discard drops the task. The submission succeeds, and the task's future fails with a
	// [*RejectedError].
	Discard RejectPolicy = &policy{"Discard", (*Pool).discard}

	// DiscardOldest drops the task that would run next, as Discard does, and admits the new
	// one in its place, in one step. If the pool is shut down, or has no task to drop, it
	// does what Abort does.
	DiscardOldest RejectPolicy = &policy{"DiscardOldest", (*Pool).discardOldest}

	// DropLowest drops the least urgent of the tasks that wait in the queue
	// [BoundedPrioritized], and of those the latest, and admits the new one in its place,
	// in one step. The future of what is dropped fails with a [*RejectedError]. If the new
	// task is not more urgent than one that waits, or the pool is shut down, it does what
	// Abort does. With another queue it is an error of [New] and [Pool.Reconfigure].
	DropLowest RejectPolicy = &policy{"DropLowest", (*Pool).dropLowest}

	// Block waits until the pool has room, first come, first served. The wait ends, and
	// the submission fails, when the submitter's context ends or the pool is shut down. A
	// task that submits to its own pool may wait for itself.
	Block RejectPolicy = &policy{"Block", (*Pool).block}
)

// policy is a RejectPolicy of this package. As such it works on the pool's own
// entry, so that a task that gets in after all is counted once.
type policy struct {
	name   string
	refuse func(p *Pool, ctx context.Context, e entry, why error) error
}

func (r *policy) String() string { return "executor." + r.name }

// Reject is for a policy of the user's that leaves the decision about a task to a policy of
// this package.
func (r *policy) Reject(ctx context.Context, task Runnable, pool *Pool) error {
	e, _ := pool.newEntry(ctx, task) // refuse has detached it
	why := ErrSaturated
	pool.mu.Lock()
	for _, d := range pool.mu.decisions {
		if !d.left && sameRunnable(d.task, task) {
			d.left = true
			break
		}
	}
	if pool.mu.stage != StageRunning {
		why = ErrShutdown
	}
	pool.mu.Unlock()
	return r.refuse(pool, ctx, e, why)
}

// decision is a task that a policy of the user's decides about. It is counted as rejected
// when the policy has returned, unless it was left to a policy of this package, which
// counts it.
type decision struct {
	task Runnable
	why  error
	left bool
}

// sameRunnable reports whether a and b are the same object. Of two functions it may take
// one for the other.
func sameRunnable(a, b Runnable) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Type() != y.Type():
		return false
	case x.Kind() == reflect.Func:
		return x.Pointer() == y.Pointer()
	}
	return !x.Comparable() || a == b
}

// refuse calls the policy for e, and completes its task if the policy fails.
func (p *Pool) refuse(ctx context.Context, e entry, r RejectPolicy, why error) error {
	if own, ok := r.(*policy); ok {
		return own.refuse(p, ctx, e, why)
	}
	d := &decision{task: e.runnable(), why: why}
	p.mu.Lock()
	p.mu.decisions = append(p.mu.decisions, d)
	if t := e.task(); t != nil {
		t.Detach()
	}
	p.mu.Unlock()
	decided := false
	defer repanic(&decided, func(err error) {
		d.why = err
		p.decided(d)
		e.end(task.Failed, err)
	})
	err := r.Reject(ctx, d.task, p)
	decided = true
	p.decided(d)
	if err != nil {
		e.end(task.Failed, err)
	}
	return err
}

// decided counts a task as rejected after a policy of the user's.
func (p *Pool) decided(d *decision) {
	p.mu.Lock()
	p.mu.decisions = slices.DeleteFunc(p.mu.decisions, func(of *decision) bool { return of == d })
	if !d.left {
		p.countRejectedLocked(d.why)
	}
	p.mu.Unlock()
}

func (p *Pool) countRejected(why error) {
	p.mu.Lock()
	p.countRejectedLocked(why)
	p.mu.Unlock()
}

func (p *Pool) countRejectedLocked(why error) {
	p.mu.gate.submitted++
	p.mu.ended[rejectedTask]++
	p.mu.rejections.count(why)
	p.observed.Load().note(taskRejected)
}

// rejections is Stats.Rejections.
type rejections struct{ Saturated, Shutdown, Expired, Evicted, Panicked int64 }

// count counts a task that was rejected with that error.
func (r *rejections) count(why error) {
	_, panicked := why.(*PanicError)
	switch {
	case why == ErrSaturated:
		r.Saturated++
	case why == ErrShutdown:
		r.Shutdown++
	case panicked || why == ErrGoexit:
		r.Panicked++
	default:
		r.Expired++
	}
}

func (p *Pool) rejected(why error) error { return &RejectedError{Executor: p.name, Reason: why} }

func (p *Pool) abort(_ context.Context, e entry, why error) error {
	p.countRejected(why)
	err := p.rejected(why)
	e.end(task.Failed, err)
	return err
}

func (p *Pool) discard(_ context.Context, e entry, why error) error {
	p.countRejected(why)
	err := p.rejected(why)
	defer p.dropped(e, err)
	e.end(task.Failed, err)
	return nil
}

func (p *Pool) callerRuns(ctx context.Context, e entry, why error) error {
	if p.stage() != StageRunning {
		return p.abort(ctx, e, ErrShutdown)
	}
	p.countRejected(why)
	if tt, ok := e.typed(); !ok {
		ctx, cancel := p.owner.WithCancel(context.Background())
		defer cancel(ErrReturned)
		p.runHere(ctx, e)
	} else if ctx, ok := p.beginHere(tt); ok {
		p.runHere(ctx, e)
	}
	return nil
}

// beginHere is task.Begin in the submitter's goroutine, as beginByHand.
func (p *Pool) beginHere(tt typedTask) (ctx context.Context, ok bool) {
	returned := false
	defer repanic(&returned, tt.fail)
	ctx, ok = tt.taskCore().Begin(task.Once)
	returned = true
	return ctx, ok
}

// runHere runs the body of e in the submitter's goroutine.
func (p *Pool) runHere(ctx context.Context, e entry) {
	if end := e.invoke(ctx); end.err != nil {
		p.reportBody(ctx, e, p.info(nil, e), end)
	}
}

func (p *Pool) discardOldest(ctx context.Context, e entry, why error) error {
	return p.replace(ctx, e, why, backlog.pop)
}

func (p *Pool) dropLowest(ctx context.Context, e entry, why error) error {
	return p.replace(ctx, e, why, func(q backlog) (lowest entry, ok bool) {
		if q, bounded := q.(*shedding); bounded {
			return q.popLowest(e)
		}
		return entry{}, false
	})
}

// replace admits e in the place of the entry that evict has taken out of the queue.
func (p *Pool) replace(ctx context.Context, e entry, why error, evict func(backlog) (entry, bool)) error {
	p.mu.Lock()
	var evicted entry
	w, verdict := p.admitLocked(e, e.task())
	if verdict == saturated {
		var ok bool
		if evicted, ok = evict(p.mu.queue); ok {
			p.mu.ended[rejectedTask]++
			p.mu.rejections.Evicted++
			p.observed.Load().note(taskRejected)
			w, verdict = p.admitLocked(e, e.task())
		}
	}
	p.mu.Unlock()
	if w != nil {
		p.launch(w)
	}
	defer p.evict(evicted, why) // after e is looked after: its OnDone may not return
	return p.finish(ctx, e, verdict)
}

// evict completes the task of e, which was taken out of the queue for another.
func (p *Pool) evict(e entry, why error) {
	if e.run != nil {
		err := p.rejected(why)
		defer p.dropped(e, err)
		e.end(task.Failed, err)
	}
}

// finish ends a submission whose admission was tried again.
func (p *Pool) finish(ctx context.Context, e entry, v verdict) error {
	switch v {
	case taken:
		return nil
	case queued:
		p.afterQueued(ctx, e, e.task())
		return nil
	}
	return p.abort(ctx, e, v.reason())
}

// BlockFor is [Block] with a limit of the wait: after d the submission fails with an error
// that matches [ErrSaturated]. If d is not positive, it does not wait. Unlike a deadline of
// the submitter's context, d does not bound the body.
func BlockFor(d time.Duration) RejectPolicy {
	return &policy{"BlockFor(" + d.String() + ")", func(p *Pool, ctx context.Context, e entry, _ error) error {
		patience := time.NewTimer(d)
		defer patience.Stop()
		return p.blockUntil(ctx, e, patience.C)
	}}
}

// blocked is a submitter that waits for room. It is in the pool's list until its fate
// is decided. The pool's lock guards it.
type blocked struct {
	entry   entry
	waiting bool         // it is in the list
	decided chan verdict // has room for the one that it gets; nil for a turn of a share
}

// block is the policy Block. The Done method of the context is called before e waits for
// room, and its Err method after e has stopped waiting. So if one of them panics, e was not
// admitted.
func (p *Pool) block(ctx context.Context, e entry, _ error) error {
	return p.blockUntil(ctx, e, nil)
}

// blockUntil waits for room until ctx ends or there is a value in over.
func (p *Pool) blockUntil(ctx context.Context, e entry, over <-chan time.Time) error {
	done := callUser(p, e, ctx.Done)
	p.mu.Lock()
	w, v := p.admitLocked(e, e.task()) // there may be room by now
	var n *list.Node[*blocked]
	if v == saturated {
		n = &list.Node[*blocked]{Value: &blocked{entry: e, waiting: true, decided: make(chan verdict, 1)}}
		p.mu.blocked.PushBack(n)
		p.mu.nBlocked++
	}
	p.mu.Unlock()
	if w != nil {
		p.launch(w)
	}
	if n == nil {
		return p.finish(ctx, e, v)
	}
	b := n.Value

	late := false
	select {
	case v = <-b.decided:
		return p.finish(ctx, e, v)
	case <-over:
		late = true
	case <-done:
	}
	p.mu.Lock()
	if !b.waiting {
		p.mu.Unlock()
		return p.finish(ctx, e, <-b.decided) // decided in the same moment, and that stands
	}
	p.mu.blocked.Remove(n)
	p.mu.nBlocked--
	p.mu.Unlock()
	if late {
		return p.abort(ctx, e, ErrSaturated)
	}
	return p.abort(ctx, e, callUser(p, e, func() error { return task.ContextError(ctx) }))
}

// unblockLocked admits submitters that wait, as long as there is room. It is called
// whenever there may be more room than before. So no later submitter finds room while
// others wait.
func (p *Pool) unblockLocked() (fresh []*worker) {
	for n := p.mu.blocked.First(); n != nil; n = p.mu.blocked.First() {
		e := n.Value.entry
		w, v := p.admitLocked(e, e.task())
		if v == saturated {
			break
		}
		p.decideLocked(n, v)
		if w != nil {
			fresh = append(fresh, w)
		}
	}
	return fresh
}

// turnAwayLocked refuses all submitters that wait. The turns of shares stay as long as
// tasks still run.
func (p *Pool) turnAwayLocked() {
	var next *list.Node[*blocked]
	for n := p.mu.blocked.First(); n != nil; n = next {
		next = n.Next()
		if !n.Value.entry.isTurn() || p.mu.stage >= StageStop {
			p.decideLocked(n, tooLate)
		}
	}
}

func (p *Pool) decideLocked(n *list.Node[*blocked], v verdict) {
	p.mu.blocked.Remove(n)
	p.mu.nBlocked--
	n.Value.waiting = false
	if n.Value.decided != nil {
		n.Value.decided <- v
	}
}
