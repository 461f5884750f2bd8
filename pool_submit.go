package executor

import (
	"context"

	"github.com/executor-go/executor/internal/ctxgroup"
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
// ctx is the parent of the task's context: the body gets its values, and is canceled with
// it. A task that still waits when ctx ends is canceled and never runs. If the rejection
// policy waits, ctx bounds the wait. context.Background costs nothing, another context two
// allocations. A nil ctx panics.
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

// runnable returns what is to be submitted for r, or an error if r is no task.
func runnable(r Runnable) (Runnable, error) {
	switch r := r.(type) {
	case Dropped:
		return r.submission(), nil
	case *taskRunnable: // of Go, as a RejectFunc gets it
		return r, nil
	}
	if f, ok := r.(Func); r == nil || ok && f == nil {
		return nil, errNilTask
	}
	if w, ok := r.(worker); ok && w.work() == nil {
		return nil, errNilTask
	}
	if w := workOf(r); w != nil && w.runnable() != r {
		return nil, invalid("task %T embeds a Task and would be taken for it; "+
			"submit the Task itself, or have it in a field with a name", r)
	}
	return r, nil
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

// newWork returns the work of a Runnable that is to run as soon as it can, and its task, if
// it has one. In a scheduled pool it has one, for its time.
func (p *Pool) newWork(ctx context.Context, r Runnable) (work, *task.Task, error) {
	due := int64(0)
	if p.timer != nil {
		due = p.elapsed()
	}
	u := workOf(r)
	switch {
	case u == nil && p.plain && task.IsBackground(ctx):
		if f, ok := r.(Func); ok {
			return plainFunc(f), nil, nil
		}
		return &plainRunnable{r}, nil, nil
	case u == nil:
		u = newTaskRunnable(r)
	}
	if !u.taskCore().Attach(&p.owner, ctx, due) {
		return nil, nil, invalid("%v was submitted before, or runs by hand; a task is submitted once: make another one", r)
	}
	return u, u.taskCore(), nil
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

// reasonOf returns the reason of a rejection.
func reasonOf(v engine.Verdict) error {
	if v == engine.TooLate {
		return ErrShutdown
	}
	return ErrSaturated
}

// afterQueued follows the admission of a task to the queue. From now on the end of the submitter's
// context removes the task, if that is watched. A task that was completed on its way into the queue
// is removed now.
func (p *Pool) afterQueued(ctx context.Context, u work, t *task.Task, watched bool) {
	switch {
	case t.State().Done():
		p.unqueue(t)
	case watched:
		if p.timer != nil {
			p.watchContext(ctx, u, p.contexts.Add)
		} else if ctx.Done() != nil {
			p.watching.Add(u)
		}
	}
}

// watchContext arranges for u, which is queued, to be canceled when ctx ends, by add, a method
// of p.contexts.
func (p *Pool) watchContext(ctx context.Context, u work, add func(*watch, <-chan struct{})) {
	if done := ctx.Done(); done != nil {
		m := p.contexts.NewMember(u, ctx)
		add(m, done)
		u.taskCore().RemoveWhenDone(m)
	}
}

type watch = ctxgroup.Member[work]

// watchSoon is watchContext for a task that was queued a moment ago, if it still waits, in a
// goroutine for such tasks: most do not.
func (p *Pool) watchSoon(u work) {
	if t := u.taskCore(); t.State() == task.Pending && t.BelongsTo(&p.owner) {
		p.watchContext(t.Context(), u, p.contexts.AddOrEnd)
	}
}

// cancelByContext cancels a task whose context has ended.
func cancelByContext(u work, ctx context.Context) {
	u.end(task.Canceled, canceled(task.ContextError(ctx)))
}
