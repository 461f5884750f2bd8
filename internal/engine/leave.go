package engine

// This file is about units that leave the queue without a worker. A unit is counted when it
// has an outcome; until then one that left the queue without a worker is aside:
//
//	queued ── ended ───────────▶ counted
//	  │  with a worker ── ended ─▶ counted by the worker
//	  │      └─ dropped ──────────▶ aside ── ended ──▶ counted
//	  └─ taken out ─────────────────┘

// queueOfLocked returns the queue in which a unit waits, and its place there; nil if it does not.
func (e *Engine) queueOfLocked(s *Slot) (Queue, int) {
	if place, ok := s.Place(); ok {
		return e.Queue, place
	}
	if place, ok := s.laterPlace(); ok {
		return e.later, place
	}
	return nil, 0
}

// Leave follows the end of the unit whose slot is s. outcome is called under the lock, and returns how the unit has
// ended, and None if it is not in this engine. Leave returns the unit if it was in the queue, else nil, and whether
// that may be the end of the engine: then the caller calls Tidy.
func (e *Engine) Leave(s *Slot, outcome func() Outcome) (left Unit, last bool) {
	e.Lock()
	out := outcome()
	if out == None {
		e.Unlock()
		return nil, false
	}
	switch q, place := e.queueOfLocked(s); {
	case q != nil:
		left = q.At(place)
		q.Remove(place)
		e.releaseLocked(q, left)
	case s.code() == aside:
		delete(e.aside, s)
		s.Clear()
	default: // a worker has it, and counts it
		e.Unlock()
		return nil, false
	}
	e.ended[out]++
	e.leftLocked()
	last = e.stage != Running || e.workers == 0
	e.Unlock()
	return left, last
}

// setAsideLocked notes that a unit is neither in the queue nor with a worker, and not ended. Others
// run in its place.
func (e *Engine) setAsideLocked(u Unit) {
	if e.keyed != nil {
		e.keyed.Release(u)
	}
	s := u.Slot()
	s.setCode(aside)
	if e.aside == nil {
		e.aside = make(map[*Slot]Unit)
	}
	e.aside[s] = u
}

// Take has a unit leave the queue, if it waits there and mine, which is called under the lock,
// returns true. The caller ends it: until then it is aside.
func (e *Engine) Take(s *Slot, mine func() bool) (left Unit) {
	e.Lock()
	defer e.Unlock()
	if !mine() {
		return nil
	}
	if q, place := e.queueOfLocked(s); q != nil {
		left = q.At(place)
		q.Remove(place)
		e.releaseLocked(q, left)
		e.takenLocked(left)
		e.leftLocked()
	}
	return left
}

// takenLocked follows the removal of a unit from the queue that its remover ends. Until Leave it is
// aside; one without a slot is counted as canceled.
func (e *Engine) takenLocked(u Unit) {
	switch s, out := u.Slot(), u.Outcome(); {
	case s == nil:
		e.ended[Canceled]++
	case out.Over():
		e.ended[out]++
	default:
		e.setAsideLocked(u)
	}
}

// TakeFunc is Take for the units that match. match is called under the lock.
func (e *Engine) TakeFunc(match func(Unit) bool) []Unit {
	e.Lock()
	defer e.Unlock()
	left := e.takeFuncLocked(match)
	e.leftLocked()
	return left
}

func (e *Engine) takeFuncLocked(match func(Unit) bool) []Unit {
	match = exceptLeases(match)
	var left []Unit
	if e.later != nil {
		left = e.later.RemoveFunc(match)
		for _, u := range left {
			e.releaseLocked(e.later, u)
		}
	}
	left = append(left, e.Queue.RemoveFunc(match)...)
	for _, u := range left {
		e.takenLocked(u)
	}
	return left
}

// leftLocked follows the removal of units from the queue. Workers that stayed for these exit,
// and submitters that wait are admitted.
func (e *Engine) leftLocked() {
	if e.waitsLocked() == 0 && (e.stage != Running || e.aboveCoreLocked()) {
		e.retireLocked()
	}
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	if e.InOrder || e.keyed != nil {
		e.dispatchLocked() // the others may run now
	}
}
