// Package alarm wakes one goroutine at an instant, precisely.
//
// An [Alarm] is an ordinary timer and, on Linux, a timer descriptor that the runtime's
// poller watches as it watches a socket. Both are set for the same instant, and the
// first to go off counts, since each is late where the other is not:
//
//   - While the process is idle, a timer is up to a millisecond late, because the
//     poller waits for whole milliseconds. The descriptor ends that wait in time.
//   - While goroutines come and go on all processors, the runtime looks for timers
//     that are due between any two of them, but polls every ten milliseconds only.
//   - While goroutines that do not yield have all processors, a timer waits for the
//     processor on which it was set. A goroutine that the poller has made ready runs
//     on any processor that is free for a moment.
//
// An Alarm is the ordinary timer alone where there is no descriptor: on another system,
// in a testing/synctest bubble, or if too many files are open. Nothing but precision
// depends on the descriptor.
package alarm

import (
	"math"
	"time"
)

// Alarm goes off once for each Set, or twice if the timer and the descriptor go off at
// the same moment: a goroutine that Wait has woken checks whether it is time. [New]
// makes one, [Alarm.Close] ends it.
//
// Set, Stop and Close may be called by any goroutine, but not by two at the same time:
// the caller holds a lock of its own. They make a few system calls at most and do not
// wait, so that the lock may be in great demand.
type Alarm struct {
	timer *time.Timer
	bell  <-chan struct{} // of waker; nil without one
	waker *waker          // nil if there is only the timer
}

// New returns an alarm that is not set.
func New() *Alarm {
	a := &Alarm{timer: time.NewTimer(math.MaxInt64)}
	a.timer.Stop()
	if a.waker = newWaker(a.timer); a.waker != nil {
		a.bell = a.waker.bell
	}
	return a
}

// Wait waits until the alarm goes off and returns true, or until it receives from other
// and returns false. Several goroutines may wait: one of them receives each alarm. If no
// goroutine waits, the next one does.
func (a *Alarm) Wait(other <-chan struct{}) bool {
	select {
	case <-a.timer.C:
		return true
	case <-a.bell:
		return true
	case <-other:
		return false
	}
}

// Set makes the alarm go off in d from now: at once if d is zero or negative, never if d
// is some 292 years or more. It replaces the last setting: once Set has returned, Wait
// does not return for that one.
func (a *Alarm) Set(d time.Duration) {
	if a.waker != nil {
		a.waker.set(d)
	} else {
		a.timer.Reset(d)
	}
}

// Stop cancels the setting: once it has returned, Wait does not return true until the
// alarm is set again.
func (a *Alarm) Stop() {
	if a.waker != nil {
		a.waker.stop()
	} else {
		a.timer.Stop()
	}
}

// Close stops the alarm and closes its descriptor. It waits for the end of the goroutine
// that reads the descriptor, which waits for nothing else. An alarm may be closed twice.
// One that is set after Close is an ordinary timer.
func (a *Alarm) Close() {
	a.Stop()
	if a.waker != nil {
		a.waker.close()
	}
}
