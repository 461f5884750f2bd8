package executor

import (
	"context"
	"time"
)

// BlockFor is [Block] with an end of the wait: after d the submission fails, with
// [ErrSaturated]. A d that is not positive does not wait. It bounds the wait
// alone, where a deadline of the submitter's context bounds the body too. Java
// has no counterpart.
func BlockFor(d time.Duration) RejectPolicy {
	return &policy{"BlockFor(" + d.String() + ")", func(p *Pool, ctx context.Context, e entry, _ error) error {
		patience := time.NewTimer(d)
		defer patience.Stop()
		return p.blockUntil(ctx, e, patience.C)
	}}
}

// blocked is a submitter that waits for room. Its fields are guarded by the
// pool's lock.
type blocked struct {
	entry   entry
	place   int          // in the pool's ring of blocked submitters, -1 when out of it
	decided chan verdict // holds at most one
}

func (b *blocked) moved(place int) { b.place = place }

// block is the policy Block. Its context is asked for its Done before e is in the
// ring, and for its error when it is out of it: if one of them panics nobody runs
// what its submitter takes for refused.
func (p *Pool) block(ctx context.Context, e entry, _ error) error {
	return p.blockUntil(ctx, e, nil)
}

// blockUntil waits for room until ctx ends or over gives something.
func (p *Pool) blockUntil(ctx context.Context, e entry, over <-chan time.Time) error {
	done := ask(p, e, ctx.Done)
	p.mu.Lock()
	w, v := p.admitLocked(e, e.task()) // there may be room by now
	var b *blocked
	if v == saturated {
		b = &blocked{entry: e, decided: make(chan verdict, 1)}
		p.mu.blocked.Push(b)
	}
	p.mu.Unlock()
	if w != nil {
		go p.work(w)
	}
	if b == nil {
		return p.settled(ctx, e, v)
	}

	late := false
	select {
	case v = <-b.decided:
		return p.settled(ctx, e, v)
	case <-over:
		late = true
	case <-done:
	}
	p.mu.Lock()
	if b.place < 0 {
		p.mu.Unlock()
		return p.settled(ctx, e, <-b.decided) // decided in the same moment, and that stands
	}
	p.mu.blocked.Remove(b.place)
	p.mu.Unlock()
	if late {
		return p.abort(ctx, e, ErrSaturated)
	}
	return p.abort(ctx, e, ask(p, e, func() error { return ended(ctx) }))
}

// unblockLocked admits submitters that wait, as long as there is room. It is
// called whenever there may be more room than before, and so nobody who comes
// later finds room while others wait.
func (p *Pool) unblockLocked() (fresh []*worker) {
	for p.mu.blocked.Len() > 0 {
		b, _ := p.mu.blocked.Peek()
		w, v := p.admitLocked(b.entry, b.entry.task())
		if v == saturated {
			break
		}
		p.mu.blocked.Pop()
		b.decided <- v
		if w != nil {
			fresh = append(fresh, w)
		}
	}
	return fresh
}

// turnAwayLocked refuses all submitters that wait.
func (p *Pool) turnAwayLocked() {
	for _, b := range p.mu.blocked.Drain() {
		b.decided <- tooLate
	}
}
