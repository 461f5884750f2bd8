package executor

import (
	"sync/atomic"

	"github.com/executor-go/executor/internal/spinlock"
)

// This file holds the pool's lock and its only fast path, the gate.
//
// While all workers are busy a new task can only wait. Its submitter then needs
// just the tail of the queue, and a worker that takes its next task just the
// head. So the queue has two ends, and the pool's lock two parts:
//
//	submit     gate closed   take the workers' lock; admit by the four steps
//	           gate open     take the gate's lock; push at the tail
//	fetch      gate closed   take the workers' lock; count; pop
//	           gate open     take the workers' lock; count; pop at the head;
//	                         if that is empty, take the gate's lock to swap
//	                         the ends, release it, and pop
//	all else   gate closed   take the workers' lock
//	           gate open     take both; the two ends become one queue
//
// The workers' lock is always taken first. The last row is poolState.Lock, which
// guards everything in poolState. It changes nothing but the shape of the queue.
//
// Invariant: while the gate is open every worker is busy and no worker may be
// added or leave, so a task that is pushed could not have been handed to anybody.
// Unlock decides anew whether that holds; no other function moves the gate.
//
// Without the gate, submitters and workers spend half of their time waiting for
// each other (docs/design/decisions/0020-gate-of-the-unbounded-queue.md).

// gate is the entrance to the queue of a pool whose workers are all busy.
type gate struct {
	mu        spinlock.Mutex
	open      atomic.Bool // written under the pool's lock
	queue     *stream     // nil in a pool that has another queue: its gate stays closed
	submitted int64       // counted by the pool as well as by the gate
}

// cacheLine keeps apart what different processors write at the same time. Some
// have lines of 128 bytes, and lose a little.
type cacheLine [64]byte

// admit queues e if the gate is open.
func (g *gate) admit(e entry, t *task) bool {
	if !g.open.Load() {
		return false
	}
	g.mu.Lock()
	admitted := g.open.Load() && g.queue.pushTail(e, t)
	if admitted {
		g.submitted++
	}
	g.mu.Unlock()
	return admitted
}

// Lock takes the pool's lock. It takes the gate's lock as well if the gate is open.
// A closed gate needs no lock: it is opened only under the workers'.
func (s *poolState) Lock() {
	s.crew.Lock()
	s.extend()
}

// extend makes the pool's lock of the workers' lock, which the caller holds.
func (s *poolState) extend() {
	if s.open {
		s.gate.mu.Lock()
		s.stream.swap()
	}
}

// Unlock releases the pool's lock.
func (s *poolState) Unlock() {
	if s.open || s.idle.top == nil { // else the gate is closed, and stays so
		s.decide()
	}
	s.crew.Unlock()
}

// decide opens the gate or shuts it, and releases its lock if it was open.
func (s *poolState) decide() {
	was := s.open
	if s.open = s.busy() && s.stream != nil; s.open != was {
		s.gate.open.Store(s.open)
	}
	if was {
		s.gate.mu.Unlock()
	}
}

// busy reports whether all workers that there may be are at work, so that they
// will look into the queue, and a new task can only go there.
func (s *poolState) busy() bool {
	return s.idle.top == nil && s.stage == StageRunning && s.workers > 0 && s.workers >= s.core && s.workers <= s.max
}

// advance is fetch for a worker that finds its next task behind an open gate.
// The caller holds the workers' lock.
func (p *Pool) advance(w *worker, out outcome) bool {
	if !p.mu.open {
		return false
	}
	e, ok := p.mu.stream.popHead()
	if !ok {
		p.mu.gate.mu.Lock()
		p.mu.stream.swap()
		p.mu.gate.mu.Unlock()
		e, ok = p.mu.stream.popHead()
	}
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
