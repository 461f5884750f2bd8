// Package alarm calls a function at an instant, precisely.
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
// the same moment: what it calls checks whether it is time. [New] makes one, [Alarm.Close]
// ends it.
//
// Set, Stop and Close may be called by any goroutine, but not by two at the same time:
// the caller holds a lock of its own, which what the alarm calls may take. They make a few
// system calls at most and do not wait, but for Close.
type Alarm struct {
	timer *time.Timer
	waker *waker // nil if there is only the timer
}

// New returns an alarm that is not set. It calls ring when it goes off, in a goroutine that is
// not the caller's. One that is not precise is the ordinary timer alone.
func New(ring func(), precise bool) *Alarm {
	a := &Alarm{timer: time.AfterFunc(math.MaxInt64, ring)}
	a.timer.Stop()
	if precise {
		a.waker = newWaker(a.timer, ring)
	}
	return a
}

// Set makes the alarm go off in d from now: at once if d is zero or negative, never if d
// is some 292 years or more. It replaces the last setting, but a call for that may be under
// way.
func (a *Alarm) Set(d time.Duration) {
	if a.waker != nil {
		a.waker.set(d)
	} else {
		a.timer.Reset(d)
	}
}

// Stop cancels the setting. A call for it may be under way.
func (a *Alarm) Stop() {
	if a.waker != nil {
		a.waker.stop()
	} else {
		a.timer.Stop()
	}
}

// Close stops the alarm and closes its descriptor. It waits for the end of the goroutine
// that reads the descriptor: so what a precise alarm calls must not call Close, nor wait for
// its caller. An alarm may be closed twice. One that is set after Close is an ordinary timer.
func (a *Alarm) Close() {
	a.Stop()
	if a.waker != nil {
		a.waker.close()
	}
}
