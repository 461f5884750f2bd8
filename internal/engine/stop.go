package engine

import "github.com/executor-go/executor/internal/alarm"

// Stage is the stage of an engine's life. It changes only along these arrows:
//
//	Running       -> Shut         Shutdown
//	Running, Shut -> Stopped      Stop
//	Shut          -> Tidying      no unit waits and no worker is left
//	Stopped       -> Tidying      no worker is left
//	Tidying       -> Terminated   Config.Over has returned
type Stage uint8

const (
	Running    Stage = iota // takes units and runs them
	Shut                    // takes no new units, runs the waiting ones
	Stopped                 // takes no units, runs none
	Tidying                 // all units have ended; Config.Over is called
	Terminated              // Config.Over has returned
)

// Shutdown ends the admission of units, and returns true, unless it has ended. The units that match, of those that wait
// for a time or have waited for one, leave the queue, as by TakeFunc. The caller ends them, and calls Tidy.
func (e *Engine) Shutdown(match func(Unit) bool) (left []Unit, first bool) {
	e.Lock()
	first = e.stage == Running
	if first {
		e.stage = Shut
		e.pause.paused.Store(false)
		if e.timed != nil || e.later != nil { // else no unit waits for a time, or has done so
			left = e.takeFuncLocked(match)
		}
		e.turnAwayLocked()
		e.retireLocked()
		e.dispatchLocked()
	}
	e.Unlock()
	return left, first
}

// Drop is TakeFunc for an engine that is shut down. It does nothing before.
func (e *Engine) Drop(match func(Unit) bool) (left []Unit) {
	e.Lock()
	if e.stage == Shut {
		left = e.takeFuncLocked(match)
		e.leftLocked()
	}
	e.Unlock()
	return left
}

// Stop ends the admission of units, and that of units to workers, and returns the units that
// were waiting, as by Take. It reports false if that has happened before. The caller calls Tidy.
func (e *Engine) Stop() (waiting []Unit, first bool) {
	e.Lock()
	if e.stage >= Stopped {
		e.Unlock()
		return nil, false
	}
	e.stage = Stopped
	e.pause.paused.Store(false)
	var all []Unit
	if e.later != nil {
		all = e.later.Drain()
	}
	all = append(all, e.Queue.Drain()...)
	var leases []*lease
	for _, u := range all {
		if l, is := u.(*lease); is {
			e.ended[Canceled]++
			leases = append(leases, l)
			continue
		}
		waiting = append(waiting, u)
		e.takenLocked(u)
	}
	for n := e.blocked.First(); n != nil; n = n.Next() {
		if l, is := n.Value.unit.(*lease); is {
			leases = append(leases, l)
		}
	}
	e.turnAwayLocked()
	e.retireLocked()
	e.Unlock()
	for _, l := range leases {
		l.drop()
	}
	return waiting, true
}

// StageLocked returns the stage, in a call of Locked.
func (e *Engine) StageLocked() Stage { return e.stage }

// Terminated returns a channel that is closed when the engine is terminated.
func (e *Engine) Terminated() <-chan struct{} { return e.terminated }

// Tidy terminates the engine if it is shut down and has neither workers nor units. It is
// called, without the lock, after each step that removes a worker or a unit.
func (e *Engine) Tidy() {
	e.Lock()
	over := (e.stage == Shut || e.stage == Stopped) &&
		(e.workers == 0 || e.Lender != nil && e.active == 0) &&
		e.waitsLocked() == 0 && len(e.aside) == 0 && e.borrowers == 0
	if over {
		e.stage = Tidying // so this is done once
		if e.reaper != nil {
			e.reaper.Stop()
		}
		e.forgetLeasesLocked()
		e.turnAwayLocked() // leases of engines that have ended
	}
	var idle *alarm.Alarm // an engine that has nothing to wait for has no timer and no goroutine
	if over || e.workers == 0 && e.waitsLocked() == 0 && e.nBlocked == 0 {
		idle, e.alarm, e.set = e.alarm, nil, 0
	}
	e.Unlock()
	if idle != nil {
		idle.Close()
	}
	if !over {
		return
	}
	defer func() {
		e.Lock()
		e.stage = Terminated
		e.Unlock()
		close(e.terminated)
		if e.borrows {
			e.Lender.borrowerEnded()
		}
	}()
	if e.Over != nil {
		e.Over()
	}
}
