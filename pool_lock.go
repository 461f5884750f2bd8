package executor

import (
	"sync/atomic"

	"github.com/executor-go/executor/internal/spinlock"
	"github.com/executor-go/executor/internal/task"
)

// This file holds the pool's lock and its only fast path, the gate.
//
// While all workers are busy a new task can only wait, and also while one is on its way
// to the queue, since that one will wake the others. Its submitter then needs just the
// tail of the queue, and a worker that takes its next task just the head. So an unbounded
// queue has two ends, and the pool's lock two parts:
//
//	submit     gate closed   take the workers' lock; admit by the four steps
//	           gate open     take the gate's lock; push at the tail
//	fetch      gate closed   take the workers' lock; count; pop
//	           gate open     take the workers' lock; count; pop at the head;
//	                         if that is empty, take the gate's lock too, swap
//	                         the ends, and pop
//	all else   gate closed   take the workers' lock
//	           gate open     take both; the two ends become one queue
//
// The workers' lock is always taken first. The last row is poolState.Lock, which
// guards everything in poolState. It changes nothing but the shape of the queue.
//
// Invariant: while the gate is open a submitter has no worker to wake or to hire: each
// is busy, or idle while another is on its way to the queue. Unlock decides anew whether
// that holds; nothing else moves the gate.
//
// Without the gate, submitters and workers spend half of their time waiting for
// each other (docs/design/decisions/0034-one-lock-one-gate.md).

// gate is the entrance to the queue of a pool that has no worker to wake for a task.
type gate struct {
	mu        spinlock.Mutex
	open      atomic.Bool // written under both locks
	stream    *stream     // the queue; nil if it is another: then the gate stays closed
	submitted int64       // tasks that were admitted or rejected, here or elsewhere
}

// cacheLine separates fields that different processors write at the same time. Processors
// with lines of 128 bytes lose a little.
type cacheLine [64]byte

// push queues e if the gate is open.
func (g *gate) push(e entry, t *task.Task, o *observed) bool {
	g.mu.Lock()
	admitted := g.open.Load()
	if admitted && o != nil {
		e.run = o.toQueue(e.run)
	}
	if admitted = admitted && g.stream.pushTail(e, t); admitted {
		g.submitted++
	}
	g.mu.Unlock()
	return admitted
}

// Lock takes the pool's lock. A closed gate has no lock to take: it is opened only
// under the workers' lock.
func (s *poolState) Lock() {
	s.lock.Lock()
	if s.open {
		s.takeGate()
	}
}

// takeGate takes the other part of the pool's lock while the gate is open. The caller holds
// the workers' lock.
func (s *poolState) takeGate() {
	s.gate.mu.Lock()
	s.stream.swap()
}

// Unlock releases the pool's lock, and opens or closes the gate.
func (s *poolState) Unlock() {
	was := s.open
	s.open = s.stream != nil && s.stage == StageRunning && (s.idle.top == nil || s.waking != nil) &&
		s.workers > 0 && s.workers >= s.eager() && s.workers <= s.max
	if s.open != was {
		s.gate.open.Store(s.open)
	}
	if was {
		s.gate.mu.Unlock()
	}
	s.lock.Unlock()
}
