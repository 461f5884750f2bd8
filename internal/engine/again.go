package engine

// This file is about units that run more than once. Between two runs one waits in the queue, if
// that is Timed, or else in a queue beside it, later:
//
//	its run has ended ── it may run again ──▶ waits again ── it is due ──▶ popLocked
//	                         └─ not any more ─▶ aside ── Dropped ends it
//
// In later it bars others, if the engine is InOrder or its queue Keyed, unless it is passed. Its
// time may change while it waits.

// waitAgainLocked has a unit wait to run again.
func (e *Engine) waitAgainLocked(u Unit) {
	if e.timed != nil {
		e.Queue.Push(u, Any)
		return
	}
	if e.later == nil {
		e.later = e.Later()
	}
	if !e.passedLocked(u) {
		e.barring++
	} else if e.keyed != nil {
		e.keyed.Release(u)
	}
	e.later.Push(u, Any)
}

// someWaitAgainLocked reports whether a unit waits to run again, if Queue is not Timed.
func (e *Engine) someWaitAgainLocked() bool { return e.later != nil && e.later.Len() > 0 }

// barredLocked reports whether a unit that waits to run again bars all others.
func (e *Engine) barredLocked() bool { return e.InOrder && e.barring > 0 }

// passedLocked reports whether u bars no others while it waits to run again.
func (e *Engine) passedLocked(u Unit) bool { return e.Passed != nil && e.Passed(u) }

// keepsLocked reports whether u may wait to run again.
func (e *Engine) keepsLocked(u Unit) bool {
	return e.stage == Running || e.stage == Shut && e.Keeps != nil && e.Keeps(u)
}

// Requeue has a unit wait to run again that is aside, after a run elsewhere, and returns it. It
// returns nil if a worker has the unit, which does it then, and if the engine drops the unit. mine
// is as for Take.
func (e *Engine) Requeue(s *Slot, mine func() bool) (waits Unit) {
	e.Lock()
	if !mine() || s.at != aside {
		e.Unlock()
		return nil
	}
	u := e.aside[s]
	keeps := e.keepsLocked(u)
	if keeps {
		delete(e.aside, s)
		s.Clear()
		e.waitAgainLocked(u)
		e.dispatchLocked()
	}
	e.Unlock()
	if !keeps {
		e.Dropped(u)
		return nil
	}
	return u
}

// SubmitAgain admits a unit that has run elsewhere without having been admitted, to wait for its next
// run, for which there is always room. It reports false if the engine is shut down.
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

// releaseLocked follows the removal of a unit from q: one that waits to run again bars others,
// unless it is passed.
func (e *Engine) releaseLocked(q Queue, u Unit) {
	if q == e.Queue || e.passedLocked(u) {
		return
	}
	e.barring--
	if e.keyed != nil {
		e.keyed.Release(u)
	}
}

// setLater notes a place among those that wait to run again.
func (s *Slot) setLater(place int) { s.at = -2 - int32(place) }

func (s *Slot) laterPlace() (place int, ok bool) { return int(-2 - s.at), s.at <= -2 }
