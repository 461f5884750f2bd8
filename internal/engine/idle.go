package engine

import (
	"time"

	"github.com/executor-go/executor/internal/delay"
)

// This file is about workers without a unit: how they wait, how they are woken, and when
// they are dismissed.
//
//	submit ── no worker is on its way ──▶ wake the one that became idle last
//	                                        │
//	          ◀── more units wait ── take one under the lock, then run it
//	         wake the next
//
// So a burst costs its submitter one wake-up, and once a unit waits the gate is open until the
// first worker has looked. docs/design/decisions/engine.md has the measurements.

// idleList has the parked workers, in the order in which they became idle. The last one
// is used first, so that the others can time out.
type idleList struct{ top, bottom *Worker }

// push adds w above those that were idle before it: it may have looked at the queue in
// vain meanwhile.
func (l *idleList) push(w *Worker) {
	w.parked = true
	w.prev = l.top
	for w.prev != nil && w.prev.since > w.since {
		w.next, w.prev = w.prev, w.prev.prev
	}
	if w.prev != nil {
		w.prev.next = w
	} else {
		l.bottom = w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		l.top = w
	}
}

func (l *idleList) remove(w *Worker) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.bottom = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.top = w.prev
	}
	w.prev, w.next, w.parked = nil, nil, false
}

// dispatchLocked has a worker look at what may run now, unless one is on its way: that one
// dispatches when it has taken its unit, before it runs it. So a burst costs its submitter
// one wake-up, and no worker is woken that finds nothing to do but the last. If nothing may
// run now, it sets the alarm for what may run later.
//
// Invariant: whenever the lock is free, and a unit may run while a worker is idle, there is
// one on its way.
func (e *Engine) dispatchLocked() {
	if e.Lender != nil {
		e.askLocked()
		return
	}
	if e.waking != nil {
		return
	}
	switch {
	case e.readyLocked() == 0 && !e.lendsLocked():
		e.restLocked()
	case e.idle.top != nil:
		e.wakeLocked()
	case e.workers == e.active && e.stage < Stopped && // else one is about to look
		(e.countedLocked() < max(e.Kept, 1) || e.lendsLocked()):
		e.hireLocked()
	case e.covered < e.lent && len(e.wanted) > 0:
		e.setAlarmLocked() // for what is wanted then
	}
}

// restLocked is dispatchLocked where nothing may run now.
func (e *Engine) restLocked() {
	switch {
	case e.stage != Running && e.waitsLocked() == 0:
		e.retireLocked() // nothing will come any more
	case e.timed != nil || e.later != nil:
		e.setAlarmLocked()
	}
}

// wakeLocked wakes the worker that became idle last to look at the queue. There must be
// one, and none on its way.
func (e *Engine) wakeLocked() *Worker {
	w := e.idle.top
	e.idle.remove(w)
	e.waking = w
	w.wakeTo(stepLook)
	return w
}

// wakeTo has w, which was removed from the idle list, go on with s.
func (w *Worker) wakeTo(s step) {
	w.then = s
	w.wake <- struct{}{}
}

// park waits until w is given a unit, woken to look at the queue, or dismissed.
func (e *Engine) park(w *Worker) step {
	if e.Parked != nil {
		e.Parked(w)
	}
	<-w.wake
	if w.then != stepLook {
		return w.then
	}
	e.Lock()
	if e.waking == w {
		e.waking = nil
	}
	next := stepRun
	if w.unit == nil {
		next = e.nextLocked(w)
	} else { // it was given one on its way
		e.dispatchLocked()
	}
	e.Unlock()
	return next
}

// aboveCoreLocked reports whether a worker may exit when it has been idle for KeepAlive.
func (e *Engine) aboveCoreLocked() bool { return e.KeepNone || e.workers > e.Kept }

// mayExitLocked reports whether a worker that has been idle for so long may exit.
func (e *Engine) mayExitLocked(idle time.Duration) bool {
	over := e.stage != Running && e.waitsLocked() == 0 ||
		e.overLocked() ||
		e.aboveCoreLocked() && idle >= e.KeepAlive
	return over && e.canDoWithoutLocked()
}

// canDoWithoutLocked reports whether one worker fewer is enough: no unit waits, or there is another
// worker to run it.
func (e *Engine) canDoWithoutLocked() bool { return e.workers > 1 || e.waitsLocked() == 0 }

// setReaperLocked sets the timer that dismisses idle workers.
func (e *Engine) setReaperLocked() {
	if e.reaping || !e.aboveCoreLocked() || e.idle.bottom == nil {
		return
	}
	e.reaping = true
	d := delay.Until(delay.After(e.idle.bottom.since, int64(e.KeepAlive)), e.Now())
	if e.reaper == nil {
		e.reaper = time.AfterFunc(d, e.reap)
	} else {
		e.reaper.Reset(d)
	}
}

// reap is the reaper's function, called in a goroutine of its own.
func (e *Engine) reap() {
	e.Lock()
	e.reaping = false
	e.retireLocked()
	e.Unlock()
	e.Tidy()
}

// retireLocked dismisses the idle workers that the present limits do not keep,
// those that have been idle for longest first, and sets the reaper for the
// others. It is called whenever the limits have changed.
func (e *Engine) retireLocked() {
	if e.idle.bottom == nil {
		e.reaping = false
		return
	}
	now := e.Now()
	for w := e.idle.bottom; w != nil; w = e.idle.bottom {
		if !e.mayExitLocked(delay.Until(now, w.since)) {
			break
		}
		e.idle.remove(w)
		e.countOutLocked(w) // it no longer counts, so that of two workers one stays for the units
		w.wakeTo(stepExit)
	}
	e.reaping = false
	if e.canDoWithoutLocked() {
		e.setReaperLocked()
	}
}
