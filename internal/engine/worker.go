package engine

import (
	"sync/atomic"

	"github.com/executor-go/executor/internal/list"
)

// This file is a worker's life:
//
//	hired ─▶ run ─▶ fetch ─▶ run ─▶ fetch ─▶ … ─▶ gone
//	                  │ ▲
//	                  ▼ │ it was given a unit, or woken to look at the queue
//	                 park
//
// fetch counts the unit that has run and, under the same lock, pops the next one, parks the
// worker in the idle list, or counts it out. It is the only place where a worker decides to
// exit by itself; others dismiss parked ones.

// Worker is one goroutine of an engine, or several, one after the other: a unit that calls
// runtime.Goexit ends a goroutine, and another continues as the same worker.
type Worker struct {
	engine *Engine
	unit   Unit // in hand; under the engine's lock, unless the worker runs it
	state  workerState

	// Outcome is how the unit in hand has ended. Its Do sets it.
	Outcome Outcome
	called  bool // the unit has called Called; the worker's own, as the next
	failed  bool // and Failed
	showing bool // and Showing

	// Local is for the user of the engine. Nothing here reads it. Started sets it.
	Local any

	// Number is from 1. No other worker of the engine has it.
	Number int

	Hosted bool // it has no goroutine of its own; see Host

	// The engine's lock guards these.
	tasks      int64              // units that it was given
	since      int64              // when it became idle, 0 if it is not
	then       step               // what it is to do when it wakes
	parked     bool               // it is in the idle list
	covered    bool               // its unit was wanted, and has the place of one that waits
	leaseAsked bool               // its lease is wanted, and not yet served
	member     list.Node[*Worker] // of the engine's crew
	prev, next *Worker

	// When it began the unit with that number of tasks, or was first seen with it.
	begunAt, begunOf atomic.Int64

	wake  chan struct{} // has one token once it was removed from the idle list
	lease lease         // of an engine with a Lender
}

// workerState is how far a worker is.
//
//	free ─▶ given ─▶ running ─▶ ran ─▶ free
//	  └─▶ gone
type workerState uint8

const (
	free    workerState = iota // it has no unit
	given                      // it has one that it has not begun
	running                    // it has begun it
	ran                        // that has returned, or ended the goroutine
	gone                       // it is counted out
)

// Called notes that the unit in hand has called its body, which counts as a run.
func (w *Worker) Called() { w.called = true }

// Failed notes that the run of the body has failed, whatever becomes of the unit.
func (w *Worker) Failed() { w.failed = true }

// HasCalled reports whether the unit in hand has.
func (w *Worker) HasCalled() bool { return w.called }

// Showing notes that the unit in hand is about to show its outcome, to somebody who may
// submit another unit at once: from here on the worker is as good as free. A nil w, which runs
// nothing, does nothing.
func (w *Worker) Showing() {
	if w != nil && w.engine.limited && !w.showing {
		w.showing = true
		w.engine.showing.Add(1)
	}
}

// Begun notes when the unit in hand has begun, for Workers.
func (w *Worker) Begun(at int64) {
	w.begunAt.Store(at)
	w.begunOf.Store(w.tasks)
}

// hireLocked makes a worker, which Unlock starts. The engine owns its goroutine: it is
// counted from here on, exits when it is dismissed or by the engine's stage, and
// termination waits for it.
func (e *Engine) hireLocked() *Worker {
	w := e.spare
	if w != nil {
		e.spare, w.next = w.next, nil
	} else {
		w = e.newWorkerLocked()
	}
	e.countInLocked(w)
	w.next, e.fresh = e.fresh, w
	return w
}

func (e *Engine) newWorkerLocked() *Worker {
	e.hired++
	w := &Worker{engine: e, Number: e.hired}
	w.member.Value = w
	return w
}

func (e *Engine) countInLocked(w *Worker) {
	w.state = free
	e.workers++
	e.largest = max(e.largest, e.workers)
	e.crew.PushBack(&w.member)
}

// start starts a worker that was hired.
func (e *Engine) start(w *Worker) {
	if e.Lender != nil {
		e.ask(w)
	} else {
		w.wake = make(chan struct{}, 1)
		go e.work(w)
	}
}

// giveHalfLocked makes u the unit of w.
func (e *Engine) giveHalfLocked(w *Worker, u Unit) {
	e.active++
	w.unit, w.state = u, given
	w.tasks++
}

func (e *Engine) countOutLocked(w *Worker) {
	e.workers--
	e.servedLocked(w)
	e.crew.Remove(&w.member)
	w.state = gone
}

// work is a worker's life, or the rest of it.
func (e *Engine) work(w *Worker) {
	if w.Local == nil && e.Started != nil {
		e.Started(w)
	}
	back := false
	defer func() {
		if back || w.state == gone {
			return
		}
		v := recover()
		if w.state != running && v != nil {
			panic(v) // of the engine itself
		}
		defer func() { go e.work(w) }() // whatever lost does
		if w.state == running {
			w.state = ran
			e.lost(w, w.unit, v)
		}
	}()
	for e.fetch(w) {
		w.run()
	}
	back = true
}

// lost has u end, whose Do did not return. What a lease ran is looked after by its own engine.
func (e *Engine) lost(w *Worker, u Unit, v any) {
	if !isLease(u) {
		e.Lost(w, u, v)
	}
}

// run runs the unit in hand.
func (w *Worker) run() {
	w.state, w.Outcome, w.called, w.failed = running, Failed, false, false
	w.unit.Do(w)
	w.state = ran
}

// fetch counts the unit that w has run, if there was one, and gets the next one; it waits
// while there is none. It reports false if the worker is to exit, and has counted it out
// then.
func (e *Engine) fetch(w *Worker) bool {
	if w.state == given {
		return true
	}
	var dropped Unit
	e.workersLock.Lock()
	if w.Outcome.Over() || w.state == free {
		mayTake := !w.covered // else it may be one too many now
		e.countHalfLocked(w)
		if e.open {
			if mayTake {
				if u := e.stream.popHead(); u != nil {
					e.giveHalfLocked(w, u)
					e.workersLock.Unlock()
					return true
				}
			}
			e.takeGateHalfLocked() // the head is empty
		}
	} else {
		if e.open {
			e.takeGateHalfLocked()
		}
		dropped = e.putBackLocked(w)
	}
	if dropped != nil {
		e.Unlock()
		e.drop(w, dropped) // before w has another unit, which it might lose here
		e.Lock()
	}
	next := e.nextLocked(w)
	e.Unlock()
	for next == stepPark {
		next = e.park(w)
	}
	if next == stepExit {
		if e.Exited != nil {
			e.Exited(w)
		}
		e.Tidy()
	}
	return next == stepRun
}

// drop ends a unit that the engine no longer takes back.
func (e *Engine) drop(w *Worker, u Unit) {
	defer func() {
		if v := recover(); v != nil {
			e.lost(w, u, v)
		}
	}()
	e.Dropped(u)
}

// countHalfLocked counts the run that w has just done, if there was one, and the end of its
// unit, unless it has none.
func (e *Engine) countHalfLocked(w *Worker) {
	if w.state == free {
		return
	}
	e.active--
	if w.covered {
		w.covered = false
		e.covered--
	}
	if w.called {
		e.runs++
		if w.failed && w.Outcome != Canceled {
			e.failures++
		}
	}
	if w.showing {
		w.showing = false
		e.showing.Add(-1)
	}
	if w.Outcome.Over() {
		e.ended[w.Outcome]++
		if e.keyed != nil {
			e.keyed.Release(w.unit)
		}
	}
	w.unit, w.since, w.state = nil, 0, free
}

// putBackLocked counts a run of a unit that has no outcome yet, and has it wait for the next
// one. If it is to run no more, it is aside, and returned for the caller to end it without the lock.
func (e *Engine) putBackLocked(w *Worker) (dropped Unit) {
	u := w.unit
	switch out := u.Outcome(); {
	case out.Over(): // since
		w.Outcome = out
	case e.keepsLocked(u):
		e.waitAgainLocked(u)
	default:
		dropped = u
		e.setAsideLocked(u)
	}
	e.countHalfLocked(w)
	return dropped
}

// step is what a worker does next.
type step uint8

const (
	stepRun  step = iota // it has a unit
	stepPark             // it is in the idle list
	stepLook             // it is out of it, to look at the queue
	stepExit             // it is counted out
)

// nextLocked finds a unit for w, or parks it, or counts it out.
func (e *Engine) nextLocked(w *Worker) step {
	if e.stage == Stopped {
		return e.exitLocked(w)
	}
	if u := e.popLocked(w, e.overLocked()); u != nil {
		e.giveHalfLocked(w, u)
		if e.nBlocked > 0 {
			e.unblockLocked()
		}
		e.dispatchLocked()
		return stepRun
	}
	if e.mayExitLocked(0) {
		return e.exitLocked(w)
	}
	if w.since == 0 { // else it looked at the queue in vain, and is still idle
		w.since = e.Now()
	}
	e.idle.push(w)
	if e.nBlocked > 0 {
		e.unblockLocked() // may hand it a unit at once
	}
	if w.parked {
		e.setReaperLocked()
	}
	if e.waking == nil {
		e.restLocked()
	}
	return stepPark
}

func (e *Engine) exitLocked(w *Worker) step {
	e.countOutLocked(w)
	e.dispatchLocked()
	e.unblockLocked()
	return stepExit
}

// popLocked takes the unit that w is to run next, nil if none may run now: one that has barred others first. With lent,
// w has a place that is lent, and takes only what is wanted.
func (e *Engine) popLocked(w *Worker, lent bool) Unit {
	switch {
	case e.pausesLocked():
		return e.popPausedLocked(w, lent)
	case lent:
		return e.popWantedLocked(w)
	}
	if u := e.nextAgainLocked(); u != nil {
		return u
	}
	if e.barredLocked() {
		return nil
	}
	if u := e.Queue.Pop(); u != nil || !e.lendsLocked() {
		return u
	}
	return e.popWantedLocked(w)
}

// readyLocked returns how many units may run now, but for limit and rate, as far as the last
// reading of the clocks shows.
func (e *Engine) readyLocked() int {
	if e.pausesLocked() {
		return e.passingLocked()
	}
	if !e.someWaitAgainLocked() {
		return e.Queue.Ready()
	}
	n := e.later.Ready()
	if !e.barredLocked() {
		n += e.Queue.Ready()
	}
	return n
}
