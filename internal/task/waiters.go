package task

import (
	"context"

	"github.com/executor-go/executor/internal/list"
)

// callbacks are the functions to be called when the task is done, in order of registration.
type callbacks = list.List[func()]

// Callback is a function that was given to OnDone.
type Callback = list.Node[func()]

// Done returns a channel that is closed when the task is done, the same one each time.
func (t *Task) Done() <-chan struct{} {
	bits := t.word.lock()
	done := t.links.Load().done
	switch {
	case done != nil:
	case State(bits & stateBits).Done():
		done = closed
	default:
		done = make(chan struct{})
		t.ownLinks().done = done
		bits |= hasWaiters
	}
	t.word.unlock(bits)
	return done
}

// closed is the Done channel of tasks that were done before it was asked for.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// OnDone arranges for f to be called once the task is done, by the goroutine that
// completes it; at once, and with the result nil, if it is done already.
func (t *Task) OnDone(f func()) *Callback {
	bits := t.word.lock()
	if State(bits & stateBits).Done() {
		t.word.unlock(bits)
		f()
		return nil
	}
	c := &Callback{Value: f}
	t.cold().onDone.PushBack(c)
	t.word.unlock(bits | hasWaiters)
	return c
}

// RemoveCallback removes what OnDone has returned, once. It does nothing if the task is done.
func (t *Task) RemoveCallback(c *Callback) {
	t.IfNotDone(func() { t.cold().onDone.Remove(c) })
}

// RemoveWhenDone calls m.Remove when the task is done, at once if it is done already, or has
// another member.
func (t *Task) RemoveWhenDone(m Remover) {
	bits := t.word.lock()
	keeps := !State(bits&stateBits).Done() && t.links.Load().watch == nil
	if keeps {
		t.ownLinks().watch = m
		bits |= hasWaiters
	}
	t.word.unlock(bits)
	if !keeps {
		m.Remove()
	}
}

// Watched reports whether RemoveWhenDone has a member for the task.
func (t *Task) Watched() bool {
	bits := t.word.lock()
	defer t.word.unlock(bits)
	return t.links.Load().watch != nil
}

// Join waits until the task is done and its body has returned. It returns an error if
// ctx ends first.
func (t *Task) Join(ctx context.Context) error {
	if err := Await(ctx, t.Done()); err != nil {
		return err
	}
	bits := t.word.lock()
	if bits&inBody == 0 {
		t.word.unlock(bits)
		return nil
	}
	c := t.cold()
	if c.left == nil {
		c.left = make(chan struct{})
	}
	left := c.left
	t.word.unlock(bits)
	return Await(ctx, left)
}

// Await waits for c, or for the end of ctx; then it returns the error of ctx. If both
// are there, c wins: a select over two ready channels would choose at random.
func Await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	default:
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-c:
		return nil
	default:
		return ContextError(ctx)
	}
}

// effects are what a transition leaves to be done when the lock is released.
type effects struct {
	cancel context.CancelCauseFunc
	cause  error
	done   chan struct{}
	left   chan struct{}
	watch  Remover
	onDone *Callback // the first of them
}

// run carries out the effects.
func (e *effects) run() {
	if e.cancel != nil {
		e.cancel(e.cause)
	}
	if e.watch != nil {
		e.watch.Remove()
	}
	if e.done != nil {
		close(e.done)
	}
	if e.left != nil {
		close(e.left)
	}
	if e.onDone != nil {
		callAll(e.onDone)
	}
}

// callAll calls c and those after it in turn. If a call panics, the others are still made.
func callAll(c *Callback) {
	defer func() {
		if c != nil {
			callAll(c)
		}
	}()
	for c != nil {
		call := c.Value
		c = c.Next()
		call()
	}
}
