package executor

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/executor-go/executor/internal/task"
)

// This file is what a task does that waits for others. Each wait helps, and then offers:
//
//	helps   runs in its own goroutine what it may run and no worker has begun: Future.help,
//	        siblings.help of a Group, helpWith of Map, collector.run of Any and Completed
//	offers  its worker, as long as it waits, to what has the others: offerWorker; also one that
//	        waits for room: blockUntil
//
// What may run later is helped then, and the worker is offered in between: helper. A caller that is no task
// does neither: it would break the limit of the pool, and the order of one with a single worker.

// ownerOf returns the owner of the tasks of ex, nil if ex is not of this package.
func ownerOf(ex Executor) *task.Owner {
	switch p := ex.(type) {
	case *Pool:
		return &p.owner
	case *ScheduledPool:
		return &p.owner
	case *keyExecutor:
		return &p.pool.owner
	}
	return nil
}

// runsOn reports whether ctx is that of a task which may run other tasks of o. The task may have
// ended, and ctx with it.
func runsOn(ctx context.Context, o *task.Owner) bool {
	return o != nil && !o.Keyed && task.OwnerOf(ctx).Within(o)
}

// isDue reports whether t waits, and its time has come.
func isDue(t *task.Task) bool { return t.State() == task.Pending && time.Until(t.DueTime()) <= 0 }

// ofOwnPool reports whether t has no key, and was submitted by a task of the pool that t is in, or
// of a share of it.
func ofOwnPool(t *task.Task) bool { return runsOn(t.Context(), t.Owner()) }

// endsWith reports whether t was submitted with ctx, or with more values: so t ends when the caller
// is to end.
func endsWith(t *task.Task, ctx context.Context) bool {
	return t.HasContext() && ctx.Done() != nil && ctx.Done() == t.Context().Done()
}

// offerWorker offers the worker of the caller, which is about to wait for tasks of these owners, if
// ctx is that of a task, until the function that it returns is called; see [task.Owner.Offer].
func offerWorker(ctx context.Context, to ...*task.Owner) (waited func()) {
	owner := task.WorkerOwnerOf(ctx)
	if owner == nil {
		return func() {}
	}
	if len(to) == 1 {
		return owner.Offer(to[0])
	}
	var withdraw []func()
	for _, o := range to {
		withdraw = append(withdraw, owner.Offer(o))
	}
	return func() {
		for _, f := range withdraw {
			f()
		}
	}
}

func nothing() {}

// help runs the task, if no worker has begun it, for a caller that is about to wait, or offers
// the caller's worker for the time of the wait, until the function that it returns is called.
func (f *Future[T]) help(ctx context.Context) (waited func()) {
	t, waits := &f.core, task.OwnerOf(ctx)
	switch {
	case waits == nil:
		return nothing
	case !ofOwnPool(t) || isTimed(t) || t.State() != task.Pending && retryOf(t) == nil:
	case endsWith(t, ctx):
		f.helpNow(ctx)
	case waits.Within(t.Owner()):
		if f.helpBeside(ctx) {
			return nothing
		}
	}
	if t.State().Done() {
		return nothing
	}
	return offerWorker(ctx, t.Owner())
}

// helpNow runs the task for a caller that waits until ctx ends, when it is due: all its attempts that no
// worker begins, if it has Retry.
func (f *Future[T]) helpNow(ctx context.Context) {
	if isDue(&f.core) && retryOf(&f.core) == nil {
		runByHand(ctx, f, task.AnyTime)
		return
	}
	helpWhenDue(ctx, []body{f}, false, nil, f.core.Owner())
}

// helpBeside has another goroutine run the task for a caller whose wait, bounded by ctx, has a limit
// that the task has not. The caller does nothing meanwhile, so that the pool runs no more than
// before. If it waits no longer, what has begun goes on beside it, and the pool waits for that at its end. helpBeside
// reports false if a worker has begun the task.
func (f *Future[T]) helpBeside(ctx context.Context) (helps bool) {
	owner := f.core.Owner()
	if owner == nil || !owner.Hold() {
		return false
	}
	defer func() {
		if !helps {
			owner.Unhold()
		}
	}()
	help := func() { f.helpNow(ctx) }
	if isDue(&f.core) && retryOf(&f.core) == nil {
		run, begins := beginByHand(f, ctx, task.AnyTime)
		if !begins {
			return false
		}
		help = func() { byHand(run, f) }
	}
	go func() {
		defer owner.Unhold()
		help()
	}()
	return true
}

// helpWhenDue runs tasks, and each attempt of those with Retry, when they are due and no worker has begun them, for a
// caller of their own pool that is about to wait for them: all workers may wait as it does. may says whether the
// caller may run a task; nil is for all. helpWhenDue returns when all are done, when the first is, if that is
// enough, or when ctx has ended.
func helpWhenDue(ctx context.Context, all []body, first bool, may func(*task.Task) bool, to ...*task.Owner) {
	h := newHelper(ctx, may, to)
	defer h.end()
	for _, b := range all {
		h.add(b)
	}
	for {
		done, next := h.run(first)
		if first && done || len(h.all) == 0 || !h.await(next, ctx.Done()) {
			return
		}
	}
}

// helper runs tasks in the goroutine of a caller that waits for them, at their times.
type helper struct {
	ctx  context.Context // of the caller
	may  func(*task.Task) bool
	to   []*task.Owner // of the tasks
	all  []helped      // those that are not done
	more chan struct{} // has a token when there may be something to run, or to return for
}

// helped is a task of a helper.
type helped struct {
	body
	forget func() // has the helper hear no more of it
}

func newHelper(ctx context.Context, may func(*task.Task) bool, to []*task.Owner) *helper {
	return &helper{ctx: ctx, may: may, to: to, more: make(chan struct{}, 1)}
}

// add adds a task.
func (h *helper) add(b body) {
	t := b.taskCore()
	forgetAttempts := nothing
	if r := retryOf(t); r != nil {
		forgetAttempts = r.notifies(h.more)
	}
	c := t.OnDone(func() { signal(h.more) })
	h.all = append(h.all, helped{b, func() {
		forgetAttempts()
		if c != nil {
			t.RemoveCallback(c)
		}
	}})
}

// end ends the help.
func (h *helper) end() {
	for _, b := range h.all {
		b.forget()
	}
}

// run runs each task that is due, but none after the first that is done if that is enough. It reports whether one is
// done, and returns the time until another task is due.
func (h *helper) run(first bool) (done bool, next time.Duration) {
	next = math.MaxInt64
	for _, b := range h.all {
		t := b.taskCore()
		if t.State() == task.Pending { // and so its time is set
			if wait := time.Until(t.DueTime()); wait > 0 {
				next = min(next, wait)
			} else if h.may == nil || h.may(t) {
				runByHand(h.ctx, b, task.WhenDue)
				next = 0
			}
		}
		if done = done || t.State().Done(); done && first {
			break
		}
	}
	h.all = slices.DeleteFunc(h.all, func(b helped) bool {
		over := b.taskCore().State().Done()
		if over {
			done = true // maybe since it was looked at above
			b.forget()
		}
		return over
	})
	return done, next
}

// await waits until there may be something to run, or to return for. Meanwhile the worker of the caller is offered. It
// reports false if there is a value in ended.
func (h *helper) await(next time.Duration, ended <-chan struct{}) bool {
	defer offerWorker(h.ctx, h.to...)()
	var due <-chan time.Time // nil while nothing waits for its time
	if next < math.MaxInt64 {
		due = time.After(next)
	}
	select {
	case <-due:
	case <-h.more:
	case <-ended:
		return false
	}
	return true
}
