package task

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/executor-go/executor/internal/spinlock"
)

// lentContext is the context of one body that was submitted with [context.Background] and
// has no Task. A body with a Task has that as its context; see context.go.
//
// Most bodies never look at their context. So a worker has a supply of them, lends one to
// each body, and takes it back when it counts the task, under the lock that it holds then in
// any case. A cancelable context is made at the first look, from the owner's. A context that
// a body has kept is not lent again, and has ended:
//
//	supplied ── Lend ──▶ lent ── TakeBackLocked ──▶ over
//	                      └─ first look ─▶ looked at ── End ──▶ over
//
// A lentContext is a byte in its supply, so that a task costs the memory of a byte: as an
// object of its own, or with a pointer in it, it makes a tiny task slower by a quarter.
type lentContext struct {
	place uint8 // in its supply
}

// Lender lends a context to one body after the other. It belongs to a worker, the goroutine
// that calls its methods, and is made by Init.
type Lender struct {
	lent   uint8   // how many contexts the body has, 0 or 1
	next   uint8   // the place in supply of the first that is not over; written under lock
	size   uint8   // how many the supply has; likewise
	supply *supply // likewise

	owner *Owner
	lock  *spinlock.Mutex
	first firstSupply
}

// Init makes the zero Lender one for the tasks of an owner. The lock is one that the worker
// takes between two bodies.
func (l *Lender) Init(owner *Owner, lock *spinlock.Mutex) {
	l.owner, l.lock = owner, lock
	l.first.lender, l.supply, l.size = l, &l.first.supply, uint8(len(l.first.contexts))
}

// supply is what the contexts have in common that follow it in memory.
type supply struct {
	lender *Lender
	looks  atomic.Pointer[look] // the contexts that were looked at, the latest first; set under the lock
}

// A lender has the first supply in itself, since many workers run only one task. A
// context that a body keeps keeps its whole supply.
type (
	firstSupply struct {
		supply
		contexts [8]lentContext
	}
	laterSupply struct {
		supply
		contexts [240]lentContext
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
	lender := s.lender
	ctx, cancel := context.WithCancelCause(lender.owner.ctx)
	lender.lock.Lock()
	if winner := s.look(c.place); winner != nil {
		lender.lock.Unlock()
		cancel(nil)
		return winner
	}
	l := &look{ctx, cancel, c.place, s.looks.Load()}
	s.looks.Store(l)
	over := lender.supply != s || lender.next != c.place
	lender.lock.Unlock()
	if over {
		cancel(ErrReturned)
	}
	return l
}

// Lend returns the context of the next body.
func (l *Lender) Lend() context.Context {
	l.lent = 1
	return l.supply.context(l.next)
}

// TakeBackLocked takes back the context of a body that has returned, if it had one. The
// caller holds the lock. A look at the context from now on ends it.
func (l *Lender) TakeBackLocked() { l.next += l.lent }

// End ends the context that was taken back, if there is one and it was looked at. The lock
// is free.
func (l *Lender) End() {
	if l.lent != 0 {
		l.end()
	}
}

func (l *Lender) end() {
	l.lent = 0
	seen := l.supply.look(l.next - 1)
	if l.next == l.size {
		l.resupply()
	}
	if seen != nil {
		seen.cancel(ErrReturned)
	}
}

// resupply makes more contexts.
func (l *Lender) resupply() {
	later := &laterSupply{supply: supply{lender: l}}
	l.lock.Lock()
	l.supply, l.next, l.size = &later.supply, 0, uint8(len(later.contexts))
	l.lock.Unlock()
}

// EndNow takes back the context of a body, which has returned, and ends it.
func (l *Lender) EndNow() {
	if l.lent != 0 {
		l.lock.Lock()
		l.TakeBackLocked()
		l.lock.Unlock()
		l.End()
	}
}
