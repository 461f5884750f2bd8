package engine

import "sync/atomic"

// This file is about an engine that pauses: it admits units, as far as its queue has room, and begins none of them,
// but for those that its units wait for; see lend.go.
//
//	popLocked     a unit that is wanted, if a place is lent; else a lease
//	readyLocked   leases
//
// A borrower pauses with its lender: it asks for no leases, and those that it has asked for find nothing. So leases
// pass through a lender that pauses, in their order, and there is always room for one. A borrower that is shut down
// does not pause, whatever its lender does. So it ends.

// pause is whether an engine pauses. The engine's lock guards it; borrowers read paused without it.
type pause struct {
	paused  atomic.Bool
	passing []*Slot // of leases that wait in Queue, and of some that do not any more; used while the engine pauses
}

// Pause has e begin no units until Resume. It does nothing once e is shut down. The caller calls Look for the
// borrowers.
func (e *Engine) Pause() { e.setPaused(true) }

// Resume ends a Pause, as a shutdown does. The caller calls Look for the borrowers.
func (e *Engine) Resume() { e.setPaused(false) }

func (e *Engine) setPaused(to bool) {
	e.Lock()
	defer e.Unlock()
	if e.stage == Running {
		e.pause.paused.Store(to)
		e.lookLocked()
	}
}

// Look follows a change of whether the lender pauses.
func (e *Engine) Look() {
	e.Lock()
	defer e.Unlock()
	e.lookLocked()
}

// lookLocked begins what may begin, since e pauses, or does not any more.
func (e *Engine) lookLocked() {
	e.pause.passing = nil
	if e.borrowers > 0 && e.pausesLocked() {
		for u := range e.Queue.All() {
			e.passLocked(u)
		}
	}
	if e.Lender == nil { // units that were submitted to an engine that pauses have started no worker
		e.prestartLocked(e.readyLocked()-(e.workers-e.active), e.eager())
	}
	e.unblockLocked()
	e.dispatchLocked()
}

// pausesLocked reports whether e begins only what is wanted, and leases.
func (e *Engine) pausesLocked() bool {
	return e.pause.paused.Load() || e.Lender != nil && e.stage == Running && e.Lender.pauses()
}

// pauses is pausesLocked for a borrower of e, which is shut down with e.
func (e *Engine) pauses() bool {
	return e.pause.paused.Load() || e.Lender != nil && e.Lender.pauses()
}

// passLocked has u pass, which waits in Queue, if it is a lease and e pauses.
func (e *Engine) passLocked(u Unit) {
	if l, is := u.(*lease); is && e.pausesLocked() {
		e.pause.passing = append(e.pause.passing, &l.slot)
	}
}

// popPausedLocked is popLocked while e pauses.
func (e *Engine) popPausedLocked(w *Worker, lent bool) Unit {
	if e.lendsLocked() {
		return e.popWantedLocked(w)
	}
	if lent || e.passingLocked() == 0 {
		return nil
	}
	s := e.pause.passing[0]
	e.pause.passing = e.pause.passing[1:]
	return e.takeLocked(s)
}

// passingLocked returns 0 if no lease passes, else about how many do. It forgets those at the front that do not wait
// any more.
func (e *Engine) passingLocked() int {
	for len(e.pause.passing) > 0 {
		if q, _ := e.queueOfLocked(e.pause.passing[0]); q != nil {
			break
		}
		e.pause.passing = e.pause.passing[1:]
	}
	return len(e.pause.passing)
}
