package engine

import (
	"slices"
	"sync/atomic"

	"github.com/executor-go/executor/internal/spinlock"
)

// This file holds the engine's lock and its only fast path, the gate.
//
// While all workers are busy a new unit can only wait, and also while one is on its way
// to the queue, since that one will wake the others. Its submitter then needs just the
// tail of the queue, and a worker that takes its next unit just the head. So an unbounded
// queue has two ends, and the lock two halves. The first unit that waits opens the gate: where
// each unit finds an idle worker, it stays closed.
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
// The workers' lock is always taken first. The last row is Engine.Lock, which guards all that
// changes. To take it merges the two ends of the queue, and changes nothing else.
//
// The name of a function says what its caller holds:
//
//	…Locked       the engine's lock, as Lock takes it
//	…HalfLocked   the workers' lock; the gate's may be free while the gate is open
//
// Invariant: while the gate is open a submitter has no worker to wake or to hire: each
// is busy, or idle while another is on its way to the queue. Unlock opens the gate when a unit
// waits, and shuts it when that is no longer so; nothing else moves the gate.
//
// Without the gate, submitters and workers spend half of their time waiting for
// each other (docs/design/decisions/locks.md).

// gate is the entrance to the queue of an engine that has no worker to wake for a unit.
type gate struct {
	lock      spinlock.Mutex // the gate's lock
	open      atomic.Bool    // written under the workers' lock, and the gate's while it is open
	stream    *Stream        // the queue; nil if it is another: then the gate stays closed
	pressed   *atomic.Bool   // Engine.pressed; nil if no engine borrows from this one
	submitted int64          // units that were admitted or rejected, here or elsewhere
}

// cacheLine separates fields that different processors write at the same time. Processors
// with lines of 128 bytes lose a little.
type cacheLine [64]byte

// push queues u if the gate is open.
func (g *gate) push(u Unit) bool {
	g.lock.Lock()
	admitted := g.open.Load() && g.stream.pushTail(u)
	if admitted {
		g.submitted++
		if g.pressed != nil {
			g.pressed.Store(true)
		}
	}
	g.lock.Unlock()
	return admitted
}

// Lock takes the lock. A closed gate has no lock to take: it is opened only under the
// workers' lock.
func (e *Engine) Lock() {
	e.workersLock.Lock()
	if e.open {
		e.takeGateHalfLocked()
	}
}

// takeGateHalfLocked takes the lock of the gate, which is open: then the engine's lock is taken.
func (e *Engine) takeGateHalfLocked() {
	e.gate.lock.Lock()
	e.stream.swap()
}

// wakesNoneLocked reports whether there is no worker to wake for one more unit.
func (e *Engine) wakesNoneLocked() bool { return e.idle.top == nil || e.waking != nil }

// startsNoneLocked reports whether one more unit starts no worker, and none is to exit.
func (e *Engine) startsNoneLocked() bool {
	n := e.countedLocked()
	return e.workers > 0 && n >= e.eager() && n <= e.Max && !e.lendsLocked()
}

// Unlock tells leases whether they may go on, opens or closes the gate, releases the lock, and
// starts the workers that were hired under it. A borrower has leases wanted for units that are.
func (e *Engine) Unlock() {
	if e.borrowers > 0 {
		e.pressed.Store(e.waitsLocked() > 0 || e.nBlocked > 0 || e.stage >= Stopped || e.overLocked() ||
			e.pausesLocked())
	}
	var leases []*Slot
	if e.Lender != nil {
		leases = e.leasesToWantLocked()
	}
	was := e.open
	e.open = e.stream != nil && (was || e.stream.Len() > 0) && e.stage == Running &&
		e.wakesNoneLocked() && e.startsNoneLocked() && !e.someWaitAgainLocked() && !e.pausesLocked()
	if e.open != was {
		e.gate.open.Store(e.open)
	}
	if was {
		e.gate.lock.Unlock()
	}
	fresh := e.fresh
	e.fresh = nil
	e.workersLock.Unlock()
	for fresh != nil {
		w := fresh
		fresh, w.next = w.next, nil
		e.start(w)
	}
	if leases != nil {
		e.Lender.Want(slices.Values(leases))
	}
}
