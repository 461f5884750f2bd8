// Package alarm wakes one goroutine at an instant, precisely.
//
// The timers of Go's runtime wake an idle process up to a millisecond late,
// because its poller waits in whole milliseconds. An [Alarm] has an ordinary
// timer, which decides, and on Linux a helper: a timer descriptor, armed for
// the same instant, that the poller watches like a socket. When it becomes
// readable the process wakes, on time, and the scheduler finds the ordinary
// timer due. Nothing but precision depends on the helper. Where there is none
// (another system, no descriptor to be had, a testing/synctest bubble) an Alarm
// is the ordinary timer alone.
package alarm

import (
	"math"
	"time"
)

// Alarm goes off once for each Set, on the channel C. [New] makes one, [Alarm.Close]
// ends it.
//
// Set, Stop and Close may be called by any goroutine, but not by two at once:
// callers hold a lock of their own. None of them blocks for longer than a
// system call, so that lock may be a hot one.
type Alarm struct {
	timer *time.Timer
	waker *waker // nil if nothing helps the timer
}

// New returns an alarm that is not set.
func New() *Alarm {
	a := &Alarm{timer: time.NewTimer(math.MaxInt64), waker: newWaker()}
	a.timer.Stop()
	return a
}

// C returns the channel that receives the time when the alarm goes off. It is
// the same for the life of the alarm and is never closed.
func (a *Alarm) C() <-chan time.Time { return a.timer.C }

// Set makes the alarm go off in d from now, at once if d is zero or negative,
// and never if it is some 292 years or more. It replaces an earlier setting:
// once Set has returned, C delivers nothing that was due to that one.
func (a *Alarm) Set(d time.Duration) {
	// The timer first: when the descriptor becomes readable the timer has to
	// be due, or the process would go back to sleep, and wake up late.
	a.timer.Reset(d)
	if a.waker != nil {
		a.waker.set(d)
	}
}

// Stop cancels the setting: once it has returned, C delivers nothing until the
// next Set.
func (a *Alarm) Stop() {
	a.timer.Stop()
	if a.waker != nil {
		a.waker.stop()
	}
}

// Close stops the alarm and releases its descriptor. It waits until the
// helper's goroutine has ended, which takes no longer than it takes to be
// scheduled, for that goroutine waits for nothing else. Closing twice does
// nothing; an alarm that is set after Close is an ordinary timer.
func (a *Alarm) Close() {
	a.timer.Stop()
	if a.waker != nil {
		a.waker.close()
		a.waker = nil
	}
}
