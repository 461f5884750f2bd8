package executor

import "context"

// blocked is a submitter that waits for room. Its fields are guarded by the
// pool's lock.
type blocked struct {
	entry   entry
	place   int          // in the pool's ring of blocked submitters, -1 when out of it
	decided chan verdict // holds at most one
}

func (b *blocked) moved(place int) { b.place = place }

// block is the policy Block.
func (p *Pool) block(ctx context.Context, e entry, _ error) error {
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

	select {
	case v = <-b.decided:
		return p.settled(ctx, e, v)
	case <-ctx.Done():
	}
	p.mu.Lock()
	if b.place < 0 {
		p.mu.Unlock()
		return p.settled(ctx, e, <-b.decided) // decided in the same moment, and that stands
	}
	p.mu.blocked.Remove(b.place)
	p.mu.Unlock()
	return p.abort(ctx, e, ended(ctx))
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
