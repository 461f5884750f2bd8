package engine

import "math"

// This file is what an engine does in addition if it has a Lender: its workers are not
// goroutines. Each is a lease, a unit of the lender, which asks for one of the lender's
// workers. When that comes to the lease it runs the first unit of the borrower, or finds
// none, which is legal: the unit was canceled, or another lease has run it.
//
//	        a unit may run           the lender's worker comes to the lease
//	spare ── askLocked ──▶ asked, in the lender's queue ── serve ─▶ active ─▶ spare
//	  ▲                        │                             │  ▲      │
//	  └── the lender drops it ─┘                             │  └──────┘ the lender has
//	  └──────────────────────────── finds nothing ───────────┘    nothing else to do
//
// A unit waits in the borrower's queue until its lease is served, so it keeps its place there,
// and can leave.
//
// A lease is wanted by the lender as long as it was asked for, and a unit of the borrower is wanted; see lend.go. It
// takes such a unit, then, and goes on with no other.
//
// Invariant: whenever the lock is free, there are as many leases asked for as units that may
// run, or the limit is reached, or the alarm is set for the next token of the rate. There may
// be more: those that are too many find nothing.
//
// A lease is pushed without the lock of the borrower. So no lock is taken under another.

// lease is a worker of a borrower as a unit of the lender.
type lease struct {
	slot   Slot
	worker *Worker
}

// isLease reports whether u is a lease. Leases are the engine's own: no function that a user of the
// engine has given to it is called with one, and no method returns one.
func isLease(u Unit) bool {
	_, is := u.(*lease)
	return is
}

// exceptLeases returns match for units that are no leases. A lease does not match.
func exceptLeases(match func(Unit) bool) func(Unit) bool {
	return func(u Unit) bool { return !isLease(u) && match(u) }
}

func (l *lease) Slot() *Slot      { return &l.slot }
func (l *lease) Outcome() Outcome { return None }

// Do serves the borrower on a worker of the lender.
func (l *lease) Do(on *Worker) {
	on.Outcome = Succeeded
	on.Called()
	l.worker.engine.serve(l.worker, on)
}

// Borrow keeps the lender from its end until e is terminated. It reports false if the lender
// is shut down. It is called once, before e is used.
func (e *Engine) Borrow() bool {
	l := e.Lender
	l.Lock()
	defer l.Unlock()
	if e.borrows = l.stage == Running; e.borrows {
		l.borrowers++
		l.gate.pressed = &l.pressed
	}
	return e.borrows
}

// borrowerEnded follows the end of an engine that borrows from e.
func (e *Engine) borrowerEnded() {
	e.Lock()
	e.borrowers--
	e.Unlock()
	e.Tidy()
}

// ask asks the lender for a worker.
func (e *Engine) ask(w *Worker) {
	l := &w.lease
	l.worker = w
	v := e.Lender.admitOrWait(&Waiter{unit: l, late: true})
	if v == TooLate {
		l.drop()
	}
}

// drop follows the end of a lease that the lender did not run: it was evicted, or the lender
// has ended.
func (l *lease) drop() {
	w := l.worker
	e := w.engine
	ended := e.Lender.Stage() >= Stopped
	e.Lock()
	e.stranded = e.stranded || ended
	e.Unlock()
	e.endLease(w)
}

// returnLocked counts out a worker whose lease is over, and asks for another one where there is
// room for one now.
func (e *Engine) returnLocked(w *Worker) {
	e.countOutLocked(w)
	e.spareLocked(w)
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	e.askLocked()
}

// forgetLeasesLocked counts out the leases that were asked for. They find nothing.
func (e *Engine) forgetLeasesLocked() {
	if e.Lender == nil {
		return
	}
	for n := e.crew.First(); n != nil; n = e.crew.First() {
		e.countOutLocked(n.Value)
	}
}

// rateNowLocked returns the time, if the rate needs it.
func (e *Engine) rateNowLocked() int64 {
	if !e.Rate.Bounded() {
		return 0
	}
	return e.Now()
}

// mayHireLocked reports whether there may be one more lease, as to the rate. For an engine of
// its own goroutines there may.
func (e *Engine) mayHireLocked() bool {
	return e.Lender == nil || !e.stranded && e.Rate.Has(e.rateNowLocked(), e.workers-e.active)
}

// askLocked asks for as many leases as there are units that may run, within limit and rate. A place that is lent makes
// room for those that are wanted and wait for room, too.
func (e *Engine) askLocked() {
	most := e.Max + e.toLendLocked()
	for e.stage < Stopped && e.countedLocked() < most && e.workers-e.active < e.seeksLocked() && !e.stranded {
		if !e.mayHireLocked() {
			break
		}
		e.hireLocked()
	}
	if e.later != nil || e.Rate.Bounded() {
		e.setAlarmLocked()
	}
}

// seeksLocked returns how many units of a borrower a lease may begin.
func (e *Engine) seeksLocked() int {
	n := e.readyLocked()
	if e.pausesLocked() {
		return n + e.toLendLocked()
	}
	if e.covered < e.lent && !e.barredLocked() {
		n += min(e.blockedWanted, e.lent-e.covered)
	}
	return n
}

// nextTokenLocked returns when the rate allows one more unit to run than leases were asked
// for.
func (e *Engine) nextTokenLocked() (at int64, ok bool) {
	asked, full := e.workers-e.active, e.countedLocked() >= e.Max+e.toLendLocked()
	if !e.Rate.Bounded() || full || asked >= e.seeksLocked() && (e.nBlocked == 0 || e.pausesLocked()) {
		return 0, false
	}
	at = e.Rate.Next(asked)
	return at, at != math.MaxInt64 // else the leases take what is there, and then ask again
}

// serve runs the next unit in the goroutine of on, a worker of the lender, and those after it
// as long as the lender has nothing else for that worker.
func (e *Engine) serve(w, on *Worker) {
	if e.begin(w, on.covered) {
		e.serveGiven(w, on)
	}
}

// spareLocked keeps a worker that was counted out for the next lease.
func (e *Engine) spareLocked(w *Worker) {
	w.next, e.spare = e.spare, w
}

// serveGiven is serve for a worker that has its first unit.
func (e *Engine) serveGiven(w, on *Worker) {
	runs := false
	defer func() {
		if !runs {
			return
		}
		w.state = ran
		defer e.handBack(w, false, false) // the goroutine ends
		e.lost(w, w.unit, recover())
	}()
	for goesOn := true; goesOn; goesOn = e.handBack(w, on.mayGoOn(), on.covered) { // then w may be another's
		runs = true
		w.run()
		runs = false
	}
}

// begin gives w, whose lease is served, the next unit; lent says whether the lease was wanted. It reports false if
// there is none.
func (e *Engine) begin(w *Worker, lent bool) bool {
	e.Lock()
	if w.state == gone { // the engine has ended
		e.Unlock()
		return false
	}
	e.servedLocked(w)
	has := e.giveNextLocked(w, lent)
	if !has {
		e.returnLocked(w)
	}
	e.Unlock()
	if !has {
		e.Tidy()
		return false
	}
	if w.Local == nil && e.Started != nil {
		e.Started(w)
	}
	return true
}

// giveNextLocked gives w the next unit, if one may run. With lent only what is wanted may.
func (e *Engine) giveNextLocked(w *Worker, lent bool) bool {
	if e.stage >= Stopped || !e.Rate.Has(e.rateNowLocked(), 0) {
		return false
	}
	u := e.popLocked(w, lent || e.overLocked())
	if u == nil {
		return false
	}
	e.Rate.Take(e.rateNowLocked())
	e.giveHalfLocked(w, u)
	if e.nBlocked > 0 {
		e.unblockLocked()
	}
	e.dispatchLocked()
	return true
}

// handBack counts the unit that w has run. If it goes on it gives w the next one, if there is
// one for which no lease was asked, and returns true. Else the lease is over. lent says whether the lease was wanted.
func (e *Engine) handBack(w *Worker, goesOn, lent bool) bool {
	var dropped Unit
	e.Lock()
	if w.Outcome.Over() {
		e.countHalfLocked(w)
	} else {
		dropped = e.putBackLocked(w)
	}
	if dropped != nil {
		e.Unlock()
		defer e.endLease(w) // whatever drop does; until then w is nobody else's
		e.drop(w, dropped)
		return false
	}
	asked := e.workers - e.active - 1 // but for this one
	goesOn = goesOn && asked < e.readyLocked() && !e.Rate.Bounded()
	if goesOn = goesOn && e.giveNextLocked(w, lent); !goesOn {
		e.returnLocked(w)
	}
	over := e.stage != Running
	e.Unlock()
	if over && !goesOn {
		e.Tidy()
	}
	return goesOn
}

// endLease ends the lease of w, which has no unit.
func (e *Engine) endLease(w *Worker) {
	e.Lock()
	if w.state != gone { // else the engine has ended
		e.returnLocked(w)
	}
	e.Unlock()
	e.Tidy()
}

// mayGoOn reports whether the engine of w has nothing else for w to do, as far as its last
// critical section shows.
func (w *Worker) mayGoOn() bool {
	return w.engine.timed == nil && w.engine.Lender == nil && !w.engine.pressed.Load()
}
