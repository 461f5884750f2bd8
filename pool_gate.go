package executor

import (
	"iter"
	"sync/atomic"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/turnstile"
)

// gate is the way into the queue of a pool that has all its workers at work. A
// task that comes then can only wait, whatever else happens: so its submitter
// need not meet the workers, who in the same moment take tasks from the other
// end. Without the gate half of their time was spent in waiting for each other.
//
// The pool's lock is two: that of the gate and that of the workers. To hold the
// pool's lock is to hold both, and it is the only way to change anything but
// this:
//
//   - who holds the gate's lock, and finds it open, may push
//   - who holds the workers' lock, and finds the gate open, may account for a
//     task that has ended and pop from the half that nobody pushes to
//
// Neither changes whether the gate is open: that is decided anew each time the
// pool's lock is released.
type gate struct {
	mu        turnstile.Mutex
	open      atomic.Bool // written under the pool's lock
	queue     *stream     // nil in a pool whose queue is not Unbounded: its gate stays closed
	submitted int64       // counted by the pool as well as by the gate
}

// cacheLine keeps apart what different processors write at the same time. Some
// have lines of 128 bytes, and lose a little.
type cacheLine [64]byte

// admit queues e if the gate is open.
func (g *gate) admit(e entry) bool {
	if !g.open.Load() {
		return false
	}
	g.mu.Lock()
	admitted := g.open.Load() && g.queue.push(e)
	if admitted {
		g.submitted++
	}
	g.mu.Unlock()
	return admitted
}

// Lock takes the pool's lock.
func (s *poolState) Lock() {
	s.crew.Lock()
	s.lockGate()
}

// lockGate makes the pool's lock of the workers'.
func (s *poolState) lockGate() {
	if s.gate.queue != nil {
		s.gate.mu.Lock()
	}
}

// Unlock releases the pool's lock.
func (s *poolState) Unlock() {
	if s.gate.queue != nil {
		if open := s.busy(); open != s.open {
			s.open = open
			s.gate.open.Store(open)
		}
		s.gate.mu.Unlock()
	}
	s.crew.Unlock()
}

// busy reports whether all workers that there may be are at work, so that they
// will look into the queue, and a new task can only go there.
func (s *poolState) busy() bool {
	return s.stage == StageRunning && s.workers > 0 && s.workers >= s.core && s.workers <= s.max && s.idle.top == nil
}

// advance is fetch for a worker that finds its next task behind an open gate.
// The caller holds the workers' lock. No task recurs in such a pool, so that the
// one that has ended only has to be counted.
func (p *Pool) advance(w *worker, out outcome) bool {
	if !p.mu.open {
		return false
	}
	e, ok := p.mu.stream.popBehind()
	if !ok {
		return false
	}
	if out == none {
		p.mu.active++
	} else {
		p.countLocked(w, out)
	}
	w.entry, w.since = e, 0
	return true
}

// stream is a backlog in order of arrival, without a limit, in two halves: one
// to push to, one to pop from. When the latter is empty they change places.
type stream struct {
	halves [2]half
	in     int // the half to push to; the other has what came before
}

// half has the entries of a stream whose place is odd, or even.
type half struct {
	ring ring.Ring[entry]
	_    cacheLine // different processors use the halves
}

func (q *stream) push(e entry) bool {
	r := &q.halves[q.in].ring
	if r.Len() >= most {
		return false
	}
	e.placed(2*r.Push(e) + q.in)
	return true
}

func (q *stream) pop(instant) (entry, bool) {
	if e, ok := q.popBehind(); ok {
		return e, true
	}
	q.in = 1 - q.in
	return q.popBehind()
}

// popBehind takes the first entry of the half that nobody pushes to.
func (q *stream) popBehind() (entry, bool) {
	e, ok := q.halves[1-q.in].ring.Pop()
	e.placed(unplaced)
	return e, ok
}

func (q *stream) remove(t *task) entry {
	e := q.halves[t.place%2].ring.Remove(int(t.place / 2))
	t.place = unplaced
	q.closeRanks()
	return e
}

// closeRanks fills halves anew that are full of holes.
func (q *stream) closeRanks() {
	for i := range q.halves {
		r := &q.halves[i].ring
		if !r.Sparse() {
			continue
		}
		for _, e := range r.Drain() {
			e.placed(2*r.Push(e) + i)
		}
	}
}

// inOrder gives the halves, the older first.
func (q *stream) inOrder() [2]*ring.Ring[entry] {
	return [...]*ring.Ring[entry]{&q.halves[1-q.in].ring, &q.halves[q.in].ring}
}

func (q *stream) removeFunc(match func(entry) bool) (removed []entry) {
	for _, r := range q.inOrder() {
		removed = append(removed, left(r.RemoveFunc(match)...)...)
	}
	q.closeRanks()
	return removed
}

func (q *stream) drain() (drained []entry) {
	for _, r := range q.inOrder() {
		drained = append(drained, left(r.Drain()...)...)
	}
	return drained
}

func (q *stream) len() int  { return q.halves[0].ring.Len() + q.halves[1].ring.Len() }
func (q *stream) room() int { return -1 }

func (q *stream) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, r := range q.inOrder() {
			for e := range r.All() {
				if !yield(e) {
					return
				}
			}
		}
	}
}
