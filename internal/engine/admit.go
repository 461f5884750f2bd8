package engine

import "github.com/executor-go/executor/internal/list"

// This file is the way of a unit into an engine: the four steps, and what a caller does who
// finds no room.

// Verdict is the result of an attempt to admit a unit.
type Verdict uint8

const (
	Taken     Verdict = iota // a worker has it
	Queued                   // it waits
	Saturated                // there is no room
	TooLate                  // the engine is shut down
)

// Submit admits u, or says why not. With late it does also while the engine is shut down and
// has not ended, for a unit that comes from one that the engine runs.
func (e *Engine) Submit(u Unit, late bool) Verdict {
	if e.gate.open.Load() && e.gate.push(u) {
		return Queued
	}
	e.Lock()
	v := e.admitLocked(u, late)
	e.Unlock()
	return v
}

// admitLocked is the four steps. It counts the unit if and only if it admits it.
func (e *Engine) admitLocked(u Unit, late bool) Verdict {
	if e.stage != Running && (!late || e.stage != Shut) {
		return TooLate
	}
	if e.someWaitAgainLocked() {
		e.lineUpLocked()
		if e.Lender != nil {
			e.askLocked() // for those before u, which have tokens and leases first
		}
	}
	return e.placeLocked(u)
}

// placeLocked is admitLocked once the stage allows it.
func (e *Engine) placeLocked(u Unit) Verdict {
	free, pauses := e.workers-e.active, e.pausesLocked()
	switch {
	case e.Lender != nil: // pushLocked asks for leases
	case pauses:
	case e.countedLocked() < e.Kept && !e.WhenBusy:
		return e.hireForLocked(u)
	case e.countedLocked() < e.eager() && free <= e.readyLocked():
		// each worker that is free has a unit to come
		return e.hireForLocked(u)
	case e.hands && e.waking == nil && e.idle.top != nil && e.waitsLocked() == 0:
		e.gate.submitted++
		e.handLocked(e.wakeLocked(), u)
		return Taken
	}
	extra := e.takersLocked(free)
	if pauses && isLease(u) {
		extra = Any
	}
	if e.pushLocked(u, extra) {
		return Queued
	}
	if e.Lender == nil && !pauses && e.countedLocked() < e.Max {
		return e.hireForLocked(u)
	}
	return Saturated
}

// SubmitBeyond has u wait beyond the limit of the queue, since its submitter is a unit that waits for it. It reports
// false if the engine is shut down.
func (e *Engine) SubmitBeyond(u Unit) bool {
	e.Lock()
	defer e.Unlock()
	return e.stage <= Shut && e.pushLocked(u, Any)
}

// pushLocked has u wait in the queue, and reports false if there is no room: extra is that beyond the limit.
func (e *Engine) pushLocked(u Unit, extra int) bool {
	if !e.Queue.Push(u, extra) {
		return false
	}
	e.gate.submitted++
	e.queuedLocked(u)
	if e.workers == 0 && e.Lender == nil { // Kept is 0, and a unit that waits needs a worker
		e.hireLocked()
	} else if e.timed == nil || !e.alarmCoversLocked() {
		e.dispatchLocked()
	}
	return true
}

// takersLocked returns how many units workers take from the queue next, whatever else happens. For each there is room
// beyond the limit. These workers are the free ones, and those whose unit shows its outcome, and the leases that may be
// asked for, but for those that are too many, or find no token of the rate, or take a unit that waits to run again.
func (e *Engine) takersLocked(free int) int {
	if !e.limited {
		return Any
	}
	if e.pausesLocked() {
		return 0
	}
	// A worker that has a lent place gives it up with its unit, and may be one too many then.
	showing := int(e.showing.Load())
	n := free + showing
	more := min(e.Max, Any) - e.workers + min(e.lent, max(e.covered-showing, 0))
	if e.Lender == nil || e.stranded {
		more = min(more, 0)
	}
	n += more
	if e.Lender != nil && e.Rate.Bounded() {
		n = int(min(int64(n), e.Rate.Tokens(e.Now())))
	}
	if e.someWaitAgainLocked() {
		if e.barredLocked() {
			return 0
		}
		n -= e.later.Ready()
	}
	return min(max(n, 0), Any-1)
}

// hireForLocked makes a worker for u, which gets it at once where units may be handed over.
func (e *Engine) hireForLocked(u Unit) Verdict {
	if e.hands && !e.barredLocked() {
		e.gate.submitted++
		e.handLocked(e.hireLocked(), u)
		return Taken
	}
	if !e.Queue.Push(u, Any) {
		return Saturated
	}
	e.gate.submitted++
	e.queuedLocked(u)
	e.hireLocked()
	return Queued
}

// handLocked makes u, which was not queued, the unit of w.
func (e *Engine) handLocked(w *Worker, u Unit) {
	e.giveHalfLocked(w, u)
	if e.stamps.Load() {
		w.Begun(e.Now())
	}
}

// SubmitReplacing is Submit, but if there is no room it has evict take another unit out of
// the queue, and counts that as evicted.
func (e *Engine) SubmitReplacing(u Unit, evict func(Queue) Unit) (v Verdict, evicted Unit) {
	e.Lock()
	v = e.admitLocked(u, false)
	if v == Saturated {
		if evicted = evict(e.Queue); evicted != nil {
			e.ended[Evicted]++
			if e.keyed != nil {
				e.keyed.Release(evicted)
			}
			// The queue may hold more than its limit, as after one of the workers was lowered. Then too u takes the place.
			if v = e.admitLocked(u, false); v == Saturated && e.pushLocked(u, Any) {
				v = Queued
			}
		}
	}
	e.Unlock()
	if l, is := evicted.(*lease); is {
		l.drop()
		evicted = nil
	}
	return v, evicted
}

// Waiter is a submitter that waits for room. The lock guards it.
type Waiter struct {
	unit    Unit
	late    bool
	lends   bool   // it is a unit of another engine, which lends its place: the units that make room are wanted
	entered func() // called under the lock before each try to admit the unit after a wait; or nil
	node    list.Node[*Waiter]
	waiting bool         // it is in the list
	decided chan Verdict // has room for the one that it gets; nil if nobody waits for that
}

// Decided returns a channel with the verdict, once there is one.
func (n *Waiter) Decided() <-chan Verdict { return n.decided }

// SubmitOrWait is Submit for a caller that waits: if there is no room it returns a Waiter, which is admitted as soon as
// there is, first come, first served. entered, if it is not nil, is called before each try to, under the lock. With
// lends the caller is a unit of another engine, which lends its place then: what makes room is wanted.
func (e *Engine) SubmitOrWait(u Unit, entered func(), lends bool) (Verdict, *Waiter) {
	n := &Waiter{unit: u, entered: entered, lends: lends, decided: make(chan Verdict, 1)}
	v := e.admitOrWait(n)
	return v, n
}

func (e *Engine) admitOrWait(n *Waiter) Verdict {
	e.Lock()
	v := e.admitLocked(n.unit, n.late)
	if v == Saturated {
		n.waiting, n.node.Value = true, n
		e.blocked.PushBack(&n.node)
		e.nBlocked++
		if isWanted(n.unit) {
			e.blockedWanted++
		}
		if n.lends {
			e.roomSeeks++
		}
		if e.Lender != nil {
			e.setAlarmLocked() // it may wait for the rate alone
		}
	}
	e.Unlock()
	return v
}

// GiveUp ends the wait of n, and reports false if a verdict has come first.
func (e *Engine) GiveUp(n *Waiter) bool {
	e.Lock()
	defer e.Unlock()
	if !n.waiting {
		return false
	}
	e.unlistLocked(n)
	return true
}

func (e *Engine) unlistLocked(n *Waiter) {
	e.blocked.Remove(&n.node)
	e.nBlocked--
	if isWanted(n.unit) {
		e.blockedWanted--
	}
	if n.lends {
		e.roomSeeks--
	}
	n.waiting = false
}

// unblockLocked admits submitters that wait, as long as there is room. It is called
// whenever there may be more room than before. So no later submitter finds room while
// others wait: with keys, none of a key that others wait for.
func (e *Engine) unblockLocked() {
	for n := e.blocked.First(); n != nil; {
		if n.Value.entered != nil {
			n.Value.entered() // before the unit may begin
		}
		switch v := e.admitLocked(n.Value.unit, n.Value.late); {
		case v != Saturated:
			e.decideLocked(n.Value, v)
			n = e.blocked.First()
		case e.keyed == nil && !e.pausesLocked():
			return
		default: // a unit of another key may run, or a lease
			n = n.Next()
		}
	}
}

// turnAwayLocked refuses all submitters that wait, but for late ones as long as units run.
func (e *Engine) turnAwayLocked() {
	var next *list.Node[*Waiter]
	for n := e.blocked.First(); n != nil; n = next {
		next = n.Next()
		if !n.Value.late || e.stage >= Stopped {
			e.decideLocked(n.Value, TooLate)
		}
	}
}

func (e *Engine) decideLocked(n *Waiter, v Verdict) {
	e.unlistLocked(n)
	if n.decided != nil {
		n.decided <- v
	}
}
