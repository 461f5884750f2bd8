package task

import (
	"context"
	"time"
)

// lazyContext is a task as the context of its body. Most bodies never look at their
// context. So the cancelable context behind it is made at the first look, and a task
// that does not look costs no allocation beyond itself.
//
// It is used for tasks that run once; others have a runContext.
type lazyContext Task

var _ context.Context = (*lazyContext)(nil)

func (c *lazyContext) task() *Task { return (*Task)(c) }

// Deadline returns that of the parent: a task with a timeout has no lazyContext.
func (c *lazyContext) Deadline() (time.Time, bool) { return c.task().Context().Deadline() }

func (c *lazyContext) Done() <-chan struct{} { return c.task().behind(nil).Done() }

func (c *lazyContext) Err() error { return c.task().behind(nil).Err() }

func (c *lazyContext) Value(key any) any { return c.task().value(nil, key) }

func (c *lazyContext) String() string { return "executor.taskContext" }

// Ended reports whether a context has ended. It makes no context for a body that has not looked at
// its own.
func Ended(ctx context.Context) bool {
	switch c := ctx.(type) {
	case *lazyContext:
		return c.task().ended(nil)
	case *runContext:
		return c.task.ended(c)
	case *PlainContext:
		return c.ended()
	case *labeled:
		return Ended(c.Context)
	}
	return ctx.Err() != nil
}

// WithLabels returns the context of a body, in which package pprof finds the labels of another
// context, which has nothing else. So a [pprof.Do] in the body leaves the goroutine with them.
func WithLabels(body, labels context.Context) context.Context { return &labeled{body, labels} }

type labeled struct {
	context.Context
	labels context.Context
}

func (c *labeled) Value(key any) any {
	if v := c.labels.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// runContext is the context of one run of a body that runs repeatedly. One that is kept from an
// earlier run does not follow a later one. The context behind it is made at the first look, too.
type runContext struct {
	task *Task
	due  time.Time
	ctx  context.Context // the context behind; under the task's lock
}

var _ context.Context = (*runContext)(nil)

func (c *runContext) Deadline() (time.Time, bool) { return c.task.Context().Deadline() }
func (c *runContext) Done() <-chan struct{}       { return c.task.behind(c).Done() }
func (c *runContext) Err() error                  { return c.task.behind(c).Err() }
func (c *runContext) Value(key any) any           { return c.task.value(c, key) }
func (c *runContext) String() string              { return "executor.taskContext" }

// What follows is for both: run is the run of a body that runs repeatedly, nil for the only one.

// value returns the value of the context of a run: that of the parent where it can. Package
// context finds the canceler of a parent, and its cause, by a key of type *int, for which only
// the context behind has a value.
func (t *Task) value(run *runContext, key any) any {
	switch key.(type) {
	case *int:
		return t.behind(run).Value(key)
	case dueKey:
		return t.dueIn(run)
	case ownerKey:
		if !t.has(byHand) {
			return t.Owner()
		} // else its goroutine is that of the parent
	}
	return t.Context().Value(key)
}

// dueIn returns when the body was due for a run.
func (t *Task) dueIn(run *runContext) time.Time {
	if run != nil {
		return run.due
	}
	return t.DueTime()
}

// made returns where the context behind that of a run is, once it was made. The caller holds the
// lock.
func (t *Task) made(run *runContext) *context.Context {
	if run != nil {
		return &run.ctx
	}
	return &t.cold().run
}

// isOver reports whether the body has returned from a run. The caller holds the lock.
func (t *Task) isOver(bits uint32, run *runContext) bool {
	return bits&inBody == 0 || run != nil && t.cold().now != run
}

// behind returns the context behind that of a run, made at the first call.
func (t *Task) behind(run *runContext) context.Context {
	bits := t.word.lock()
	ctx, owner := *t.made(run), t.links.Load().owner
	t.word.unlock(bits)
	if ctx != nil {
		return ctx
	}
	ctx, cancel := t.derive(owner, t.dueIn(run)) // calls the parent, hence no lock
	bits = t.word.lock()
	if first := *t.made(run); first != nil {
		t.word.unlock(bits)
		cancel(nil)
		return first
	}
	*t.made(run) = ctx
	var end error
	switch c := t.cold(); {
	case t.isOver(bits, run):
		end = ErrReturned
	case c.cause != nil:
		end = c.cause
	default:
		c.cancel = cancel
	}
	t.word.unlock(bits)
	if end != nil {
		cancel(end)
	}
	return ctx
}

// ended reports whether the context of a run has ended, or would be made ended.
func (t *Task) ended(run *runContext) bool {
	bits := t.word.lock()
	l := t.links.Load()
	owner, over := l.owner, t.isOver(bits, run)
	var ctx context.Context
	if c := l.cold; c != nil {
		ctx, over = *t.made(run), over || c.cause != nil
	}
	t.word.unlock(bits)
	switch {
	case ctx != nil:
		return ctx.Err() != nil
	case over || t.Context().Err() != nil:
		return true
	}
	return owner != nil && owner.ctx.Err() != nil
}

// derive returns a context with the values and the deadline of the task's context, for a body that
// was due then, which ends with that, with the owner's, and by the timeout.
func (t *Task) derive(o *Owner, due time.Time) (context.Context, context.CancelCauseFunc) {
	timeout := t.Options().Timeout
	ctx, cancel := o.WithCancel(withDue(t.Context(), due))
	if timeout <= 0 {
		return ctx, cancel
	}
	limited, stop := Limit(ctx, timeout)
	return limited, func(cause error) {
		cancel(cause)
		stop()
	}
}

// Limit returns ctx with a timeout, with an error that matches ErrTimeout as the cause; 0 is
// none.
func Limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, &timeoutError{timeout})
}

// WithCancel returns a context with the values and the deadline of parent, which ends
// with it and with the owner's. A nil owner has none.
func (o *Owner) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	if o == nil {
		return context.WithCancelCause(parent)
	}
	if parent.Done() == nil {
		return context.WithCancelCause(o.Lasting(parent))
	}
	if OwnerOf(parent) != o {
		parent = context.WithValue(parent, ownerKey{}, o)
	}
	ctx, cancel := context.WithCancelCause(parent)
	if o.ctx.Err() != nil {
		cancel(context.Cause(o.ctx)) // the AfterFunc would do it some time later
	}
	stop := context.AfterFunc(o.ctx, func() { cancel(context.Cause(o.ctx)) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// Lasting returns a context with the values of parent, which has no Done channel, that
// ends with the owner's. Many tasks may share it.
func (o *Owner) Lasting(parent context.Context) context.Context {
	if IsBackground(parent) {
		return o.ctx
	}
	return &joined{o.ctx, parent}
}

// joined ends with one context, and has the values of another that never ends.
type joined struct {
	context.Context
	values context.Context
}

// Deadline is none: a context without a Done channel has none either.
func (j *joined) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value asks the owner's context first, which has no values of the user's. A parent
// that hides the Done channel of a context inside would otherwise answer for that
// when package context asks what has ended this one.
func (j *joined) Value(key any) any {
	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.values.Value(key)
}

type ownerKey struct{}

// OwnerOf returns the owner of the task whose body ctx was given to, nil if there is none. If the body has submitted
// another task with ctx, the context of that one is its own owner's. A body that is run by hand has the owner of the
// task that runs it.
func OwnerOf(ctx context.Context) *Owner {
	o, _ := ctx.Value(ownerKey{}).(*Owner)
	return o
}

type dueKey struct{}

// Due returns when the body that ctx was given to was due, zero if it has no schedule.
func Due(ctx context.Context) time.Time {
	due, _ := ctx.Value(dueKey{}).(time.Time)
	return due
}

// withDue returns parent with the due time of this body, and without that of another
// body that it was given to.
func withDue(parent context.Context, due time.Time) context.Context {
	if due.IsZero() && Due(parent).IsZero() {
		return parent
	}
	return context.WithValue(parent, dueKey{}, due)
}
