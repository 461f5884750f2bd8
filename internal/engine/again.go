package engine

// This file is about units that run more than once. Between two runs one waits in the queue, if
// that is Timed, or else in a queue beside it, later:
//
//	its run has ended ── it may run again ──▶ waits again ── it is due ──▶ as one that is submitted then
//	                         └─ not any more ─▶ aside ── Dropped ends it
//
// If the engine is InOrder, or its queue Keyed and the unit has a key, a unit in later bars others, and is the next to
// run when it is due. Its time may change while it waits.

// waitAgainLocked has a unit wait to run again.
func (e *Engine) waitAgainLocked(u Unit) {
	if e.timed != nil {
		e.Queue.Push(u, Any)
		e.queuedLocked(u)
		return
	}
	if e.later == nil {
		e.later = e.Later()
	}
	e.later.Push(u, Any)
	e.queuedLocked(u)
}

// someWaitAgainLocked reports whether a unit waits to run again, if Queue is not Timed.
func (e *Engine) someWaitAgainLocked() bool { return e.later != nil && e.later.Len() > 0 }

// barredLocked reports whether a unit that waits to run again bars all others.
func (e *Engine) barredLocked() bool { return e.InOrder && e.someWaitAgainLocked() }

// nextAgainLocked returns the unit that is due to run again and has barred others, nil for none. Those that are due
// before it and have barred nobody get in line.
func (e *Engine) nextAgainLocked() Unit {
	if !e.someWaitAgainLocked() {
		return nil
	}
	for u := e.later.Pop(); u != nil; u = e.later.Pop() {
		if e.InOrder || e.keyed != nil && e.keyed.Bars(u) {
			return u
		}
		e.gate.submitted-- // it is admitted a second time
		if e.placeLocked(u) == Saturated {
			e.pushLocked(u, Any) // it is never rejected
		}
	}
	return nil
}

// lineUpLocked has the units that are due to run again get in line, before another unit does, unless they bar others:
// then workers look for them.
func (e *Engine) lineUpLocked() {
	if !e.InOrder && e.keyed == nil {
		e.nextAgainLocked()
	}
}

// keepsLocked reports whether u may wait to run again.
func (e *Engine) keepsLocked(u Unit) bool {
	return e.stage == Running || e.stage == Shut && e.Keeps != nil && e.Keeps(u)
}

// SubmitAgain admits a unit that its submitter has run, to wait for its next run, for which there is always room. It
// reports false if the engine is shut down.
func (e *Engine) SubmitAgain(u Unit) bool {
	e.Lock()
	defer e.Unlock()
	if e.stage != Running {
		return false
	}
	e.gate.submitted++
	e.waitAgainLocked(u)
	e.dispatchLocked()
	return true
}

// Move calls decide under the lock. If that returns true, the unit whose slot is s has another
// time: if it waits, it is put into its new place, and a worker looks at it in time. Else a
// worker has it, or it is about to enter the queue.
func (e *Engine) Move(s *Slot, decide func() bool) {
	e.Lock()
	defer e.Unlock()
	if !decide() {
		return
	}
	q, place := e.queueOfLocked(s)
	if q == nil {
		return
	}
	u := q.At(place)
	q.Remove(place)
	q.Push(u, Any) // there is room
	if e.timed == nil || !e.alarmCoversLocked() {
		e.dispatchLocked()
	}
}

// releaseLocked follows the removal of a unit from q: one that waited to run again does not bar others any more.
func (e *Engine) releaseLocked(q Queue, u Unit) {
	if q != e.Queue && e.keyed != nil {
		e.keyed.Release(u)
	}
}

// setLater notes a place among those that wait to run again.
func (s *Slot) setLater(place int) { s.setCode(-2 - int32(place)) }

func (s *Slot) laterPlace() (place int, ok bool) { return int(-2 - s.code()), s.code() <= -2 }
