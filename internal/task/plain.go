package task

import (
	"context"
	"sync/atomic"
	"time"
)

// PlainContext is the context of one body that was submitted with [context.Background] and has no
// Task. A body with a Task has that as its context; see context.go.
//
// Most bodies never look at their context. So a PlainContext is a word of a supply, and a cancelable
// context is made at the first look, from the owner's. A context that a body has kept has
// ended when the body has returned:
//
//	handed out ────── End ──▶ over
//	  └─ first look ─▶ looked at ── End ──▶ over
type PlainContext struct{ supply *supply }

// supply is what the contexts have in common that were made together. A context that a body
// keeps keeps its supply.
type supply struct {
	owner    *Owner
	labels   context.Context
	over     atomic.Int32         // how many of the contexts have ended, from the first on
	looks    atomic.Pointer[look] // the contexts that were looked at, the latest first
	contexts []PlainContext
}

// look is the cancelable context behind a PlainContext.
type look struct {
	context.Context
	cancel context.CancelCauseFunc
	of     *PlainContext
	next   *look
}

// PlainContexts has a context for one body after the other. It belongs to the goroutine that calls
// its methods. The zero PlainContexts is ready to use.
type PlainContexts struct {
	Labels context.Context // has the pprof labels of the bodies, and nothing else; nil for none
	supply *supply
	next   int // the first of the supply that was not handed out
}

// The first supply is small, since many workers run only one task.
const (
	firstSupply = 4
	nextSupply  = 128
)

// Next returns the context of the next body.
func (p *PlainContexts) Next(o *Owner) *PlainContext {
	if p.supply == nil || p.next == len(p.supply.contexts) {
		p.resupply(o)
	}
	c := &p.supply.contexts[p.next]
	p.next++
	return c
}

func (p *PlainContexts) resupply(o *Owner) {
	n := nextSupply
	if p.supply == nil {
		n = firstSupply
	}
	s := &supply{owner: o, labels: p.Labels, contexts: make([]PlainContext, n)}
	for i := range s.contexts {
		s.contexts[i].supply = s
	}
	p.supply, p.next = s, 0
}

// End ends the context that was handed out last. Its body has returned.
func (p *PlainContexts) End() {
	s := p.supply
	s.over.Store(int32(p.next)) // before it reads looks: a look reads over after it has written that
	if s.looks.Load() == nil {
		return
	}
	if seen := s.look(&s.contexts[p.next-1]); seen != nil {
		seen.cancel(ErrReturned)
	}
}

// look returns what was made at the first look at c, nil if there was none.
func (s *supply) look(c *PlainContext) *look {
	l := s.looks.Load()
	for l != nil && l.of != c {
		l = l.next
	}
	return l
}

// place returns how many contexts were handed out before c.
func (s *supply) place(c *PlainContext) int32 {
	for i := range s.contexts {
		if &s.contexts[i] == c {
			return int32(i)
		}
	}
	panic("executor: a context of a task was copied")
}

// seen returns the context behind c, made at the first call.
func (c *PlainContext) seen() *look {
	s := c.supply
	for {
		first := s.looks.Load()
		if l := s.look(c); l != nil {
			return l
		}
		ctx, cancel := context.WithCancelCause(s.owner.ctx)
		l := &look{ctx, cancel, c, first}
		if !s.looks.CompareAndSwap(first, l) {
			cancel(nil)
			continue
		}
		if s.over.Load() > s.place(c) {
			cancel(ErrReturned)
		}
		return l
	}
}

var _ context.Context = (*PlainContext)(nil)

// Deadline is none.
func (c *PlainContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is that of the context behind c.
func (c *PlainContext) Done() <-chan struct{} { return c.seen().Done() }

// Err is that of the context behind c.
func (c *PlainContext) Err() error { return c.seen().Err() }

// Value returns a label, or that of the context behind c: package context finds the canceler
// of a parent, and its cause, by a value.
func (c *PlainContext) Value(key any) any {
	if l := c.supply.labels; l != nil {
		if v := l.Value(key); v != nil {
			return v
		}
	}
	return c.seen().Value(key)
}

// ended reports whether c has ended, or would be made ended.
func (c *PlainContext) ended() bool {
	s := c.supply
	if l := s.look(c); l != nil {
		return l.Err() != nil
	}
	return s.over.Load() > s.place(c) || s.owner.ctx.Err() != nil
}

func (c *PlainContext) String() string { return "executor.taskContext" }
