package executor

import (
	"context"
	"reflect"
	"time"
)

// taskContext is a task seen as the context of its body. Most bodies never look
// at their context, so the cancelable context behind it is made at the first
// look: a task that does not care costs no allocation beyond itself.
//
// It serves tasks that run once. The runs of periodic work have a context each,
// so that one that leaked from an earlier run does not follow a later one.
type taskContext task

var _ context.Context = (*taskContext)(nil)

func (c *taskContext) task() *task { return (*task)(c) }

// Deadline is the parent's: tasks with a timeout of their own are not viewed.
func (c *taskContext) Deadline() (time.Time, bool) { return c.task().context().Deadline() }

func (c *taskContext) Done() <-chan struct{} { return c.task().look().Done() }

func (c *taskContext) Err() error { return c.task().look().Err() }

// Value answers from the parent where it can. Package context finds a parent's
// canceler, and its cause, by a key of type *int, which only the context behind
// can answer.
func (c *taskContext) Value(key any) any {
	switch key.(type) {
	case *int:
		return c.task().look().Value(key)
	case dueKey:
		return c.task().dueTime()
	}
	return c.task().context().Value(key)
}

func (c *taskContext) String() string { return "executor.taskContext" }

// look gives the context of the body, made at need.
func (t *task) look() context.Context {
	bits := t.lock()
	m := t.moreLocked()
	run, p := m.run, t.ties.pool
	t.unlock(bits)
	if run != nil {
		return run
	}

	run, cancel := t.derive(p) // calls into the parent, hence no lock
	bits = t.lock()
	if m.run != nil {
		winner := m.run
		t.unlock(bits)
		cancel(nil)
		return winner
	}
	m.run = run
	var end error
	switch {
	case bits&inBody == 0:
		end = ErrReturned
	case m.cause != nil:
		end = m.cause
	default:
		m.cancel = cancel
	}
	t.unlock(bits)
	if end != nil {
		cancel(end)
	}
	return run
}

// derive makes the context of a body: the values and deadline of the parent,
// ended by the parent, by the pool's ShutdownNow, and by the timeout.
func (t *task) derive(p *Pool) (context.Context, context.CancelCauseFunc) {
	timeout := t.trait().timeout
	ctx, cancel := within(p, withDue(t.context(), t.dueTime()))
	if timeout <= 0 {
		return ctx, cancel
	}
	limited, stop := context.WithTimeoutCause(ctx, timeout, &timeoutError{timeout})
	return limited, func(cause error) {
		cancel(cause)
		stop()
	}
}

// within derives a cancelable context from parent that also ends with p.
func within(p *Pool, parent context.Context) (context.Context, context.CancelCauseFunc) {
	if p == nil {
		return context.WithCancelCause(parent)
	}
	if parent.Done() == nil {
		return context.WithCancelCause(p.lasting(parent))
	}
	ctx, cancel := context.WithCancelCause(parent)
	if p.ctx.Err() != nil {
		cancel(ErrShutdown) // AfterFunc would do it some time later
	}
	unhook := context.AfterFunc(p.ctx, func() { cancel(ErrShutdown) })
	return ctx, func(cause error) {
		unhook()
		cancel(cause)
	}
}

// lasting gives a context with the values of parent, which has no Done channel,
// and the life of the pool. It may be shared by many tasks.
func (p *Pool) lasting(parent context.Context) context.Context {
	if isBackground(parent) {
		return p.ctx
	}
	return &joined{p.ctx, parent}
}

// joined has the life of one context and the values of another that never ends.
type joined struct {
	context.Context
	values context.Context
}

// Deadline is none: a context without a Done channel has none either.
func (j *joined) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value asks the life first, which is the pool's and has no values of anybody's:
// a parent that hides the Done of a context inside would answer for that, when
// package context asks by what this one was ended.
func (j *joined) Value(key any) any {
	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.values.Value(key)
}

// over is ended for a context that may not have ended; it gives nil then.
func over(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return ended(ctx)
}

// ended gives the error for a wait that ctx ended: its Err and, if it tells
// more, its cause. A context of the user's may close its Done before its Err
// knows why; the error is context.Canceled then, since none would say that the
// wait was not in vain.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil {
		err = context.Canceled
	}
	if cause == nil || same(cause, err) {
		return err
	}
	return &endedError{err, cause}
}

// same is a == b for errors of users, which may be of a type for which that panics:
// then it is whether they have the same in them.
func same(a, b error) bool {
	if x, y := reflect.ValueOf(a), reflect.ValueOf(b); !x.Comparable() || !y.Comparable() {
		return reflect.DeepEqual(a, b)
	}
	return a == b
}

type endedError struct{ err, cause error }

func (e *endedError) Error() string   { return e.err.Error() + ": " + reason(e.cause) }
func (e *endedError) Unwrap() []error { return []error{e.err, sound(e.cause)} }

type dueKey struct{}

// Due gives the time at which the body that ctx was given to was due, or the
// zero time if it runs on no schedule. The lateness of a run is time.Since of it. What
// [Jitter] has added is a part of it.
func Due(ctx context.Context) time.Time {
	due, _ := ctx.Value(dueKey{}).(time.Time)
	return due
}

// withDue gives a context for a body that is due then, or at no time: it does
// not inherit the time of another body whose context it was submitted with.
func withDue(parent context.Context, due time.Time) context.Context {
	if due.IsZero() && Due(parent).IsZero() {
		return parent
	}
	return context.WithValue(parent, dueKey{}, due)
}

// dueTime gives the due time as a time.Time, zero if the task is unscheduled.
func (t *task) dueTime() time.Time {
	p := t.attached()
	if p == nil || t.due == 0 {
		return time.Time{}
	}
	return p.clock.time(t.due, t.has(wallClock))
}
