// Package alarm wakes one goroutine at an instant, precisely.
//
// An [Alarm] has an ordinary timer, and on Linux a timer descriptor that the
// runtime's poller watches like a socket. Both are set for the same instant, and
// the first to go off counts, for each is late where the other is not:
//
//   - While a process is idle, timers are up to a millisecond late, because the
//     poller waits in whole milliseconds. The descriptor ends that wait in time.
//   - While goroutines come and go on all processors, the runtime looks for timers
//     that are due between any two of them, but polls only every ten milliseconds.
//   - While goroutines that do not yield have all processors, a timer waits for
//     the one it was set on. Whatever the poller found runs on any that is free
//     for a moment.
//
// Where there is no descriptor to be had (another system, a testing/synctest
// bubble, too many open files) an Alarm is the ordinary timer alone.
package alarm

import (
	"math"
	"time"
)

// Alarm goes off once for each Set, or twice if the timer and the descriptor go
// off in the same moment: who hears it has to look whether it is time.
// [New] makes one, [Alarm.Close] ends it.
//
// Set, Stop and Close may be called by any goroutine, but not by two at once:
// callers hold a lock of their own. None of them blocks for longer than a few
// system calls, so that lock may be a hot one.
type Alarm struct {
	timer *time.Timer
	bell  <-chan struct{} // rung by waker; nil without one
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

// Wait waits until the alarm goes off, and reports true, or until it can receive
// from other, and reports false. Any number of goroutines may wait; one of them
// hears the alarm, the next one to come if there is none.
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

// Set makes the alarm go off in d from now, at once if d is zero or negative,
// and never if it is some 292 years or more. It replaces an earlier setting:
// once Set has returned, nobody hears the alarm for that one.
func (a *Alarm) Set(d time.Duration) {
	if a.waker != nil {
		a.waker.set(d)
	} else {
		a.timer.Reset(d)
	}
}

// Stop cancels the setting: once it has returned, nobody hears the alarm until
// the next Set.
func (a *Alarm) Stop() {
	if a.waker != nil {
		a.waker.stop()
	} else {
		a.timer.Stop()
	}
}

// Close stops the alarm and releases its descriptor. It waits until the goroutine
// that reads it has ended, which takes no longer than it takes to be scheduled, for
// that goroutine waits for nothing else. Closing twice does nothing; an alarm that is
// set after Close is an ordinary timer.
func (a *Alarm) Close() {
	a.Stop()
	if a.waker != nil {
		a.waker.close()
	}
}
