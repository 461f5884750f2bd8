package executor

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"
)

// lentContext is the context of one body that was submitted with [context.Background]. A
// body with a task has that as its context; see internal/task.
//
// Most bodies never look at their context. So a worker has a supply of them, lends one to
// each body, and takes it back in fetch, under the lock that it holds there in any case. A
// cancelable context is made at the first look, from the pool's. A context that a body
// has kept is not lent again, and has ended:
//
//	supplied ── lend ──▶ lent ── takeBackLocked ──▶ over
//	                      └─ first look ─▶ looked at ── endContext ──▶ over
//
// A lentContext is a byte in its supply, so that a task costs the memory of a byte: as an
// object of its own, or with a pointer in it, it makes a tiny task slower by a quarter.
type lentContext struct {
	place uint8 // in its supply
}

// supply is what the contexts have in common that follow it in memory.
type supply struct {
	w     *worker
	looks atomic.Pointer[look] // the contexts that were looked at, the latest first; set under the pool's lock
}

// A worker has the first supply in itself, since many workers run only one task. A
// context that a body keeps keeps its whole supply.
type (
	firstSupply struct {
		supply
		contexts [8]lentContext
	}
	laterSupply struct {
		supply
		contexts [48]lentContext
	}
)

// context returns the context in that place.
func (s *supply) context(place uint8) *lentContext {
	c := (*lentContext)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(*s)+uintptr(place)))
	c.place = place
	return c
}

// supply returns that of c.
func (c *lentContext) supply() *supply {
	return (*supply)(unsafe.Add(unsafe.Pointer(c), -int(unsafe.Sizeof(supply{}))-int(c.place)))
}

// look is the cancelable context behind a lentContext.
type look struct {
	context.Context
	cancel context.CancelCauseFunc
	place  uint8
	next   *look
}

// look returns what was made at the first look at the context in that place, nil if there
// was none.
func (s *supply) look(place uint8) *look {
	l := s.looks.Load()
	for l != nil && l.place != place {
		l = l.next
	}
	return l
}

var _ context.Context = (*lentContext)(nil)

// Deadline is none.
func (c *lentContext) Deadline() (time.Time, bool) { return time.Time{}, false }

func (c *lentContext) Done() <-chan struct{} { return c.look().Done() }

func (c *lentContext) Err() error { return c.look().Err() }

// Value returns that of the context behind c: package context finds the canceler of a
// parent, and its cause, by a value.
func (c *lentContext) Value(key any) any { return c.look().Value(key) }

func (c *lentContext) String() string { return "executor.taskContext" }

// look returns the context behind c, made at the first call.
func (c *lentContext) look() *look {
	s := c.supply()
	if l := s.look(c.place); l != nil {
		return l
	}
	w := s.w
	ctx, cancel := context.WithCancelCause(w.pool.ctx)
	lock := &w.pool.mu.lock
	lock.Lock()
	if winner := s.look(c.place); winner != nil {
		lock.Unlock()
		cancel(nil)
		return winner
	}
	l := &look{ctx, cancel, c.place, s.looks.Load()}
	s.looks.Store(l)
	over := w.supply != s || w.nextContext != c.place
	lock.Unlock()
	if over {
		cancel(ErrReturned)
	}
	return l
}

// lend returns the context of the next body.
func (w *worker) lend() context.Context {
	w.lent = 1
	return w.supply.context(w.nextContext)
}

// resupply makes more contexts.
func (w *worker) resupply() {
	later := &laterSupply{supply: supply{w: w}}
	w.pool.mu.lock.Lock()
	w.supply, w.nextContext, w.contexts = &later.supply, 0, uint8(len(later.contexts))
	w.pool.mu.lock.Unlock()
}

// takeBackLocked takes back the context of a body that has returned, if it had one. It
// needs only the workers' lock. A look at the context from now on ends it.
func (w *worker) takeBackLocked() { w.nextContext += w.lent }

// endContext ends the context that was taken back, if there is one and it was looked at.
func (w *worker) endContext() {
	if w.lent != 0 {
		w.endLent()
	}
}

func (w *worker) endLent() {
	w.lent = 0
	l := w.supply.look(w.nextContext - 1)
	if w.nextContext == w.contexts {
		w.resupply()
	}
	if l != nil {
		l.cancel(ErrReturned)
	}
}

// endContextNow ends the context of the body, which has returned, before fetch does.
func (w *worker) endContextNow() {
	if w.lent != 0 {
		w.pool.mu.lock.Lock()
		w.takeBackLocked()
		w.pool.mu.lock.Unlock()
		w.endContext()
	}
}
