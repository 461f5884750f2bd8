package engine

import (
	"iter"
	"slices"
)

// This file is about units that wait for others. The place of one that waits within the limits is lent, and only what a
// unit waits for may have it, the latest first:
//
//	unit A waits for B            Lend      a place more
//	                              Want      B is marked, wherever it waits, and stays in its queue
//	a worker beyond the limits    popLocked takes B, and no unit that is not marked
//	A goes on                     Reclaim   the worker ends B, and then itself
//
// A may run B in its own goroutine meanwhile, as a worker of that place: see Host.
//
// So of the units that have begun and do not wait at most Max were not wanted when they began, and a tree of units is
// run depth first. All other workers take what is next in the queue, marked or not.
//
// Invariant: whenever the lock is free, and there are more places lent than workers that have one, no unit that is
// wanted may run, or a worker is on its way to the queue, or a lease is asked for.
//
// What is wanted of a borrower needs a worker of the lender, too. So leases are wanted of that, as many as units are;
// they are told after the lock was released. A unit by key may wait for others of its key: these are wanted with it.
//
// Reclaim does not wait for the place: a wait that ends early is not held up by the unit that it has begun. Until that
// has ended one unit more runs than there are places, and the next worker that is free leaves.

// Lend lends the place of a unit that is about to wait, until Reclaim.
func (e *Engine) Lend() {
	e.Lock()
	e.lent++
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	e.dispatchLocked()
	e.Unlock()
}

// Reclaim ends one Lend. What has begun goes on.
func (e *Engine) Reclaim() {
	e.Lock()
	e.lent--
	e.retireLocked()
	e.Unlock()
}

// Want marks the units with these slots, since others wait for them: the first is to run first, and before those that
// were marked earlier. slots is called under the lock, and yields those of units that have not ended, and are in no
// other engine. One that is not queued yet is marked, too.
func (e *Engine) Want(slots iter.Seq[*Slot]) {
	e.Lock()
	defer e.Unlock()
	from := len(e.wanted)
	for s := range slots {
		if !s.isWanted() {
			s.markWanted()
			e.listWantedLocked(s)
		}
	}
	slices.Reverse(e.wanted[from:])
	e.blockedWanted = 0
	for n := e.blocked.First(); n != nil; n = n.Next() {
		if isWanted(n.Value.unit) {
			e.blockedWanted++
		}
	}
	e.dispatchLocked()
}

// isWanted reports whether u is marked.
func isWanted(u Unit) bool {
	s := u.Slot()
	return s != nil && s.isWanted()
}

// listWantedLocked adds a unit that is marked to the list of those, if it waits and has no key to wait for. Of one with
// a key the queue keeps the mark, and what bars it is wanted, too.
func (e *Engine) listWantedLocked(s *Slot) {
	q, place := e.queueOfLocked(s)
	switch {
	case q == nil: // queuedLocked does it, if it is queued
	case !e.byKeyLocked(q):
		e.wanted = append(e.wanted, s)
	default:
		e.keyed.Want(place)
		if e.later != nil {
			for u := range e.later.All() {
				e.wantBeforeLocked(u)
			}
		}
	}
}

// byKeyLocked reports whether the units in q wait for their keys.
func (e *Engine) byKeyLocked(q Queue) bool { return e.keyed != nil && q == e.Queue }

// wantBeforeLocked marks a unit that waits to run again, if a unit of its key is marked, which it bars.
func (e *Engine) wantBeforeLocked(u Unit) {
	if s := u.Slot(); !s.isWanted() && e.keyed.IsBefore(u) {
		s.markWanted()
		e.wanted = append(e.wanted, s)
	}
}

// queuedLocked follows the way of u into a queue. It may be marked already.
func (e *Engine) queuedLocked(u Unit) {
	e.passLocked(u)
	s := u.Slot()
	switch {
	case s == nil:
	case s.isWanted():
		if q, _ := e.queueOfLocked(s); e.byKeyLocked(q) || !slices.Contains(e.wanted, s) {
			e.listWantedLocked(s)
		}
	case e.keyed != nil:
		if _, again := s.laterPlace(); again {
			e.wantBeforeLocked(u)
		}
	}
}

// admitWantedLocked admits the first unit that is marked of those that wait for room: for that there is a place. It
// reports false if there is none.
func (e *Engine) admitWantedLocked() bool {
	if e.blockedWanted == 0 || e.barredLocked() {
		return false
	}
	n := e.blocked.First()
	for !isWanted(n.Value.unit) {
		n = n.Next()
	}
	if n.Value.entered != nil {
		n.Value.entered()
	}
	if !e.pushLocked(n.Value.unit, Any) {
		return false
	}
	e.decideLocked(n.Value, Queued)
	return true
}

// popWantedLocked takes the unit for w that was wanted last, of those that may run now.
func (e *Engine) popWantedLocked(w *Worker) (u Unit) {
	for u == nil {
		i := e.lastWantedLocked()
		switch {
		case i >= 0:
			s := e.wanted[i]
			e.wanted = slices.Delete(e.wanted, i, i+1)
			u = e.takeLocked(s)
		case e.keyed != nil && e.keyed.Wanted() > 0:
			u = e.keyed.PopWanted()
		case e.roomSeeks > 0 && e.Queue.Ready() > 0 && !e.barredLocked():
			u = e.Queue.Pop()
		case !e.admitWantedLocked():
			return nil
		}
	}
	e.coverLocked(w)
	return u
}

// lastWantedLocked returns which of e.wanted was wanted last, of those that may run now, -1 for none. It forgets those
// that do not wait any more.
func (e *Engine) lastWantedLocked() int {
	for i := len(e.wanted) - 1; i >= 0; i-- {
		q, place := e.queueOfLocked(e.wanted[i])
		switch {
		case q == nil || e.byKeyLocked(q):
			e.wanted = slices.Delete(e.wanted, i, i+1)
		case e.mayBeginLocked(q, place):
			return i
		}
	}
	return -1
}

// mayBeginLocked reports whether the unit in a place of q may begin, but for limit, rate and key.
func (e *Engine) mayBeginLocked(q Queue, place int) bool {
	t, timed := q.(Timed)
	return (!timed || t.IsDue(place)) && (q != e.Queue || !e.barredLocked())
}

// nextWantedLocked returns when the next of e.wanted is due for which there is a place: others that are due already may
// be before it, and find none.
func (e *Engine) nextWantedLocked() (at int64, ok bool) {
	if e.covered >= e.lent && e.Lender == nil {
		return 0, false
	}
	for _, s := range e.wanted {
		q, place := e.queueOfLocked(s)
		if t, timed := q.(Timed); timed && !t.IsDue(place) {
			if w, ever := t.When(place); ever && (!ok || w < at) {
				at, ok = w, true
			}
		}
	}
	return at, ok
}

// takeLocked takes the unit with a slot, which may begin, out of its queue. One that has no key any more is queued for
// that, and takeLocked returns nil.
func (e *Engine) takeLocked(s *Slot) Unit {
	q, place := e.queueOfLocked(s)
	u := q.At(place)
	q.Remove(place)
	if q == e.Queue || e.keyed == nil || e.keyed.Bars(u) {
		return u
	}
	e.gate.submitted-- // it is admitted a second time
	e.pushLocked(u, Any)
	return nil
}

// coverLocked notes that the unit that w gets has a place that is lent.
func (e *Engine) coverLocked(w *Worker) {
	w.covered = true
	e.covered++
}

// countedLocked returns how many workers count to the limits: those that have a lent place do not.
func (e *Engine) countedLocked() int { return e.workers - min(e.lent, e.covered) }

// overLocked reports whether there are so many workers that one that is free must leave, or run what is wanted.
func (e *Engine) overLocked() bool { return e.countedLocked() > e.mostLocked() }

// lendsLocked reports whether there is a place for one more unit that is wanted, and such a unit.
func (e *Engine) lendsLocked() bool { return e.covered < e.lent && e.wantedLocked() > 0 }

// toLendLocked returns how many workers there may be for lent places beyond the limits.
func (e *Engine) toLendLocked() int {
	if e.covered >= e.lent {
		return 0
	}
	return min(e.lent-e.covered, e.wantedLocked())
}

// wantedLocked returns 0 if no unit that is wanted may run now, else about how many may.
func (e *Engine) wantedLocked() (n int) {
	if e.lastWantedLocked() >= 0 {
		n = len(e.wanted)
	}
	if e.keyed != nil {
		n += e.keyed.Wanted()
	}
	if !e.barredLocked() {
		n += e.blockedWanted + min(e.roomSeeks, e.Queue.Ready())
	}
	return n
}

// leasesToWantLocked returns leases of a borrower that were asked for and are to be wanted, since units of it are.
func (e *Engine) leasesToWantLocked() (slots []*Slot) {
	wanted := e.wantedLocked()
	if e.pausesLocked() {
		wanted = e.toLendLocked()
	}
	missing := min(wanted, e.workers-e.active) - e.wantAsked
	for n := e.crew.First(); n != nil && missing > 0; n = n.Next() {
		if w := n.Value; w.unit == nil && !w.leaseAsked {
			w.leaseAsked = true
			e.wantAsked++
			missing--
			slots = append(slots, &w.lease.slot)
		}
	}
	return slots
}

// servedLocked notes that the lease of w is not asked for any more.
func (e *Engine) servedLocked(w *Worker) {
	if w.leaseAsked {
		w.leaseAsked = false
		e.wantAsked--
	}
}

// Host runs units in the goroutine of one that is about to wait for them, which e, or a borrower of it, runs:
//
//	h := e.Host()
//	defer h.End() // also if a unit ends the goroutine
//	h.Run(slot, mine)
//
// They run as on another worker of e, which has the place of the one that waits. The goroutine is that one's. So it is
// for units that end when the one is to end.
type Host struct {
	engine *Engine
	worker *Worker // nil before the first unit
}

// Host returns a Host, which does nothing before its first Run.
func (e *Engine) Host() Host { return Host{engine: e} }

// Run runs the unit with a slot, if it waits, may run now, and mine, which is called under the lock, returns true. A
// unit with a key does not: it may wait for others of its key.
func (h *Host) Run(s *Slot, mine func() bool) {
	e := h.engine
	e.Lock()
	h.countLocked()
	u := e.takeForHostLocked(s, mine)
	if u == nil {
		h.leaveLocked()
		e.Unlock()
		return
	}
	h.enterLocked()
	w := h.worker
	e.coverLocked(w)
	e.giveHalfLocked(w, u)
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	e.dispatchLocked()
	e.Unlock()
	if w.Local == nil && e.Started != nil {
		e.Started(w)
	}
	w.run()
}

// countLocked counts the unit that has run, or has it wait to run again. It releases the lock meanwhile if that unit is
// dropped.
func (h *Host) countLocked() {
	e, w := h.engine, h.worker
	switch {
	case w == nil:
	case w.Outcome.Over():
		e.countHalfLocked(w)
	default:
		if dropped := e.putBackLocked(w); dropped != nil {
			e.Unlock()
			e.drop(w, dropped)
			e.Lock()
		}
	}
}

// takeForHostLocked takes the unit with a slot, if it may run now.
func (e *Engine) takeForHostLocked(s *Slot, mine func() bool) (u Unit) {
	if e.stage >= Stopped || e.keyed != nil || !mine() || !e.Rate.Has(e.rateNowLocked(), 0) {
		return nil
	}
	q, place := e.queueOfLocked(s)
	switch {
	case q == nil:
		u = e.takeBackLocked(s)
	case e.mayBeginLocked(q, place):
		u = e.takeLocked(s)
	}
	if u != nil {
		e.Rate.Take(e.rateNowLocked())
	}
	return u
}

// takeBackLocked takes the unit with a slot from the worker that is on its way with it. That worker looks at the queue.
func (e *Engine) takeBackLocked(s *Slot) (u Unit) {
	w := e.waking
	if w == nil || w.unit == nil || w.unit.Slot() != s {
		return nil
	}
	u = w.unit
	e.active--
	w.tasks--
	w.unit, w.state = nil, free
	return u
}

// enterLocked makes the worker, unless there is one. It has no goroutine of its own, and the place of the host.
func (h *Host) enterLocked() {
	if h.worker != nil {
		return
	}
	e, w := h.engine, h.engine.hosted
	if w != nil {
		e.hosted, w.next = w.next, nil
		e.nHosted--
	} else {
		w = e.newWorkerLocked()
		w.Hosted = true
	}
	h.worker = w
	e.lent++
	e.countInLocked(w)
}

// leaveLocked counts the worker out, which has no unit.
func (h *Host) leaveLocked() {
	e, w := h.engine, h.worker
	if w == nil {
		return
	}
	h.worker = nil
	e.lent--
	e.countOutLocked(w)
	if e.nHosted < maxHosted {
		e.nHosted++
		w.next, e.hosted = e.hosted, w
	}
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	e.dispatchLocked()
}

// End ends the Host. It is deferred: then a unit that ends the goroutine is lost. A panic ends with it.
func (h *Host) End() {
	e, w := h.engine, h.worker
	if w == nil {
		return
	}
	defer h.end()
	if w.state == running {
		w.state = ran
		e.lost(w, w.unit, recover())
	}
}

func (h *Host) end() {
	e := h.engine
	e.Lock()
	h.countLocked()
	h.leaveLocked()
	over := e.stage != Running
	e.Unlock()
	if over {
		e.Tidy()
	}
}
