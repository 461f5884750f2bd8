package executor

import "context"

// entry is a task in a pool: a Runnable, and all that the pool has to know of
// it. A bound task knows its context and an errand that of any other, so that
// an entry is one interface: queues hold a million of them, and they are copied
// under the pool's lock.
//
// A bound entry is bound to this pool. What another pool has, or runs by hand,
// comes as an errand.
type entry struct{ run Runnable }

// errand is a Runnable without a life of its own together with the context that
// it was submitted with. One that was submitted with none to speak of needs no
// errand.
type errand struct {
	Runnable
	ctx context.Context
}

// bind makes the entry of a Runnable that is submitted to run as soon as it can, and
// gives its task, if it has one. In a scheduled pool each has one, for its time.
func (p *Pool) bind(ctx context.Context, r Runnable) (entry, *task) {
	var due int64
	timed := p.mu.delay != nil // set once, by the constructor
	if timed {
		due = p.clock.elapsed()
	}
	b, ok := r.(bound)
	switch {
	case ok && b.core().attach(p, ctx, due):
		return entry{r}, b.core()
	case timed:
		c := newCarrier(r)
		c.attach(p, ctx, due)
		return entry{c}, c.core()
	case !ok && isBackground(ctx):
		return entry{r}, nil
	}
	return entry{&errand{r, ctx}}, nil
}

// bound gives the task of an entry that has one.
func (e entry) bound() (bound, bool) {
	switch r := e.run.(type) {
	case Func, *errand:
		return nil, false
	case bound:
		return r, true
	}
	return nil, false
}

// task gives the core of the entry's task, nil if it has none.
func (e entry) task() *task {
	if b, ok := e.bound(); ok {
		return b.core()
	}
	return nil
}

// alone reports whether e, whose task is t, came with no context to speak of: one
// that need not be asked, and cannot panic.
func (e entry) alone(t *task) bool {
	if t != nil && t.has(begun) {
		return false // it keeps the context that it had
	}
	return !e.accompanied(t)
}

// accompanied reports whether e, whose task is t, has a context to speak of.
func (e entry) accompanied(t *task) bool {
	if t != nil {
		return t.has(withCtx)
	}
	_, ok := e.run.(*errand)
	return ok
}

// context gives the context that the task was submitted with.
func (e entry) context() context.Context {
	switch r := e.run.(type) {
	case Func:
		return context.Background()
	case *errand:
		return r.ctx
	case bound:
		return r.core().context()
	}
	return context.Background()
}

// origin gives the object that was submitted.
func (e entry) origin() Runnable {
	switch r := e.run.(type) {
	case *errand:
		return r.Runnable
	case bound:
		return r.origin()
	}
	return e.run
}

// end completes the entry's task, if it has one, which is pending.
func (e entry) end(s State, err error) {
	if b, ok := e.bound(); ok {
		b.end(s, err)
	}
}

// placed is told where the task waits.
func (e entry) placed(place int) {
	if _, ok := e.run.(Func); ok { // it takes no call to see that this has no task
		return
	}
	if t := e.task(); t != nil {
		t.place = int32(place)
	}
}
