package executor

import (
	"context"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// This file is the way of a task into a pool:
//
//	Execute, Go, Submit   make the work of what was submitted
//	enter                 context ended: the task is canceled
//	  engine.Submit       the four steps
//	  no room, or shut    the rejection policy decides (reject.go)
//	afterQueued           from now on the end of its context removes the task
//
// User code, as the methods of the submitter's context, is called with no lock held.

// Execute submits task. It returns nil if the pool has accepted the task, or the rejection
// policy has handled it without an error. Otherwise it returns an error that matches
// [ErrRejected], or [ErrInvalid] for a nil task; the error of a [RejectFunc]; or that of ctx if
// ctx had ended already. Execute blocks only if the rejection policy does.
//
// ctx is the parent of the task's context: the body gets the values of ctx, and the context of the body ends when ctx
// does. A task that still waits when ctx ends is canceled and never runs. If the rejection policy waits, ctx bounds the
// wait. A task submitted with context.Background allocates nothing for its context; any other context costs two
// allocations.
//
// For a plain Runnable, a panic of its body, an error that it returns, and that it never ran are logged; Hooks.OnPanic,
// AfterTask and Dropped are called, too. A *Future carries them itself. Execute panics if ctx is nil.
//
// A [Task] is submitted once: Execute declines one that a pool has had, or that runs by hand, with an error that
// matches [ErrInvalid]. One that a [RejectFunc] gets may be submitted again. One that was completed by hand is
// accepted, and does not run.
//
// Execute declines a type of your own that embeds a *Task, with an error that matches [ErrInvalid]: the pool would take
// it for that Task, and never call its own Run.
func (p *Pool) Execute(ctx context.Context, task Runnable) error {
	r, err := runnable(task)
	if err != nil {
		return err
	}
	return p.submit(ctx, r)
}

// submit admits a task that runs once, as soon as it can.
func (p *Pool) submit(ctx context.Context, r Runnable) error {
	mustContext(ctx)
	p.mustBeMade()
	u, t, err := p.newWork(ctx, r)
	if err != nil {
		return err
	}
	return p.enter(ctx, u, t, false)
}

// Go submits fn as a task without a future; it is [Pool.Execute] for a function. Options
// name it, bound its time, set its priority, or retry it. Where no caller sees its error or
// its panic, the pool logs them; see [Hooks]. For a nil fn the error matches [ErrInvalid].
func (p *Pool) Go(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn != nil && len(opts) == 0 {
		mustContext(ctx)
		p.mustBeMade()
		if p.plain && task.IsBackground(ctx) {
			return p.enter(ctx, plainFunc(fn), nil, false)
		}
		return p.submit(ctx, Func(fn))
	}
	return p.goOn(ctx, p, fn, opts)
}

// goOn is Go on ex: p, or one of its keys.
func (p *Pool) goOn(ctx context.Context, ex Executor, fn func(context.Context) error, opts []Option) error {
	if fn == nil {
		return errNilTask
	}
	o, err := gather(oneRun, opts)
	if err != nil {
		return err
	}
	r := newTaskRunnable(Func(fn))
	adopt(&r.core, o)
	return ex.Execute(ctx, r)
}

// enter admits the work of t, which may be nil, submitted with ctx, or has the rejection
// policy decide. With forks its submitter is a task of the same pool that waits for it, or follows one of
// its group: for that there is room.
func (p *Pool) enter(ctx context.Context, u work, t *task.Task, forks bool) error {
	if o := p.observed.Load(); o != nil {
		u = o.admit(u)
	}
	watched := t != nil && t.IsToBeWatched()
	if watched {
		if err := task.IfEnded(ctx); err != nil {
			u.end(task.Canceled, canceled(err))
			return err
		}
	}
	if p.hooks.Dropped != nil {
		t.SetSubmitted(p.elapsed())
	}
	v := p.engine.Submit(u, false)
	if v == engine.TooLate && (forks || p.comesFromWithin(ctx, t)) {
		v = p.engine.Submit(u, true)
	}
	if v == engine.Saturated && forks && p.engine.SubmitBeyond(u) {
		v = engine.Queued
	}
	switch {
	case v == engine.Queued && t != nil:
		p.afterQueued(ctx, u, t, watched)
	case v == engine.TooLate, v == engine.Saturated:
		return p.refuse(ctx, u, *p.reject.Load(), reasonOf(v))
	}
	return nil
}

// comesFromWithin reports whether a task that is due now, and was submitted with ctx, is the
// work of a task that the pool runs: a pool that is shut down finishes what it has, and so takes
// what that forks. A task of a share, or of the pool that lends to one, is one of these.
func (p *Pool) comesFromWithin(ctx context.Context, t *task.Task) bool {
	if t == nil || planOf(t).isSeries() || p.timer != nil && t.Due() > p.elapsed() {
		return false
	}
	o := task.OwnerOf(ctx)
	return o != nil && ctx.Err() == nil && (o.Within(&p.owner) || p.owner.Within(o))
}
