package engine

import (
	"iter"
	"math"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/delay"
)

// This file is about units that wait for their time: in the queue, if that is Timed, as it
// is in a scheduled pool, or in later, for those that wait to run again.
//
//	pushed, or removed     set the alarm for the first, unless it is set for an earlier time
//	the alarm goes off     tick: wake a worker, or hire one, for what is due
//	a worker takes a unit  wake the next if another is due, or set the alarm for the next
//
// The JDK's queue has a leader, the one worker that waits with a timeout. Here the alarm
// belongs to the engine, so there is no leader to replace, a unit with a new first time
// wakes nobody, and all idle workers are alike.

// Timed is a Queue whose units may run at a time.
type Timed interface {
	Queue
	// ReadClocks reads the clocks, unless a unit is known to be due.
	ReadClocks()
	// IsDue reports whether the unit in a place is due.
	IsDue(place int) bool
	// When returns when it is worth to look at that unit, as Next.
	When(place int) (at int64, ok bool)
	// Wake reads the clocks at a time that Next has returned.
	Wake()
	// Next returns when it is next worth to look, on the engine's clock; false if a unit may
	// run only by a change of the queue.
	Next() (at int64, ok bool)
	// First is Next without what it adds for the sake of wake-ups in common.
	First() (at int64, ok bool)
}

// Moment is when a unit is due: a reading of the wall clock or of the monotonic one.
type Moment struct {
	At   int64
	Wall bool
}

// Due is a Timed queue, a delay queue.
type Due struct {
	clock delay.Clock
	queue *delay.Queue[Unit]
	when  func(Unit) Moment
	note  func(*Slot, int)
}

// NewDue returns an empty delay queue. when returns when a unit is due; stale whether a unit
// that waits for a time of day is to run at once, since the clock was set back by a step. Both are
// called under the lock of the engine. later makes it one for Config.Later.
func NewDue(c delay.Clock, slack time.Duration, later bool, when func(Unit) Moment,
	stale func(u Unit, step time.Duration) bool,
) *Due {
	d := &Due{clock: c, when: when, note: (*Slot).Set}
	if later {
		d.note = (*Slot).setLater
	}
	trust := delay.MaxTrust
	if alarm.InBubble() { // whose clocks are one: a day of its time is not to cost 2,880 wake-ups
		trust = math.MaxInt64
	}
	d.queue = delay.New(c, slack, trust, func(u Unit, place int, wall bool) {
		d.note(u.Slot(), onClock(place, wall))
	}, func(u Unit, step time.Duration) bool { return !isLease(u) && stale(u, step) })
	return d
}

// onClock returns the place in the queue of a place on one of its clocks.
func onClock(place int, wall bool) int {
	if wall {
		return place<<1 | 1
	}
	return place << 1
}

func (d *Due) Push(u Unit, _ int) bool {
	if d.queue.Len() >= Any {
		return false
	}
	m := d.momentOf(u)
	d.note(u.Slot(), onClock(d.queue.Push(u, m.At, m.Wall), m.Wall))
	return true
}

// momentOf returns when u is due: a lease at once.
func (d *Due) momentOf(u Unit) Moment {
	if isLease(u) {
		return Moment{At: d.clock.Now().Mono}
	}
	return d.when(u)
}

func (d *Due) Pop() Unit {
	d.queue.ReadClocks()
	return popped(d.queue.Pop())
}

func (d *Due) At(place int) Unit { return d.queue.At(place>>1, place&1 != 0) }

func (d *Due) IsDue(place int) bool { return d.queue.IsDue(place>>1, place&1 != 0) }

func (d *Due) When(place int) (at int64, ok bool) { return d.queue.When(place>>1, place&1 != 0) }

func (d *Due) Remove(place int) {
	unplaced(d.At(place))
	d.queue.Remove(place>>1, place&1 != 0)
}

func (d *Due) RemoveFunc(match func(Unit) bool) []Unit { return allUnplaced(d.queue.RemoveFunc(match)) }
func (d *Due) Drain() []Unit                           { return allUnplaced(d.queue.Drain()) }
func (d *Due) Len() int                                { return d.queue.Len() }
func (d *Due) Limit() int                              { return Any }
func (d *Due) All() iter.Seq[Unit]                     { return d.queue.All() }
func (d *Due) ReadClocks()                             { d.queue.ReadClocks() }
func (d *Due) Wake()                                   { d.queue.Wake() }
func (d *Due) Next() (at int64, ok bool)               { return d.queue.Next() }

func (d *Due) First() (at int64, ok bool) { return d.queue.First() }

// Renew makes the units due at once that wait for a time of day and are stale after a step.
func (d *Due) Renew(step time.Duration) { d.queue.Renew(step) }

func (d *Due) Ready() int {
	if d.queue.Due() {
		return 1 // or more
	}
	return 0
}

// nextDueLocked returns when a unit may next run that may not run now, on the engine's clock. If all places are full,
// or the engine pauses, that is one that is wanted.
func (e *Engine) nextDueLocked(full bool) (at int64, ok bool) {
	at, ok = e.nextWantedLocked()
	if full {
		return at, ok
	}
	if e.timed != nil {
		if t, some := e.timed.Next(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if e.later != nil && e.later.Ready() == 0 {
		if t, some := e.later.Next(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if e.Lender != nil {
		if t, some := e.nextTokenLocked(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// alarmCoversLocked reports whether the alarm goes off in time for what waits in the queue, or
// a worker is on its way, that looks at it in any case.
func (e *Engine) alarmCoversLocked() bool {
	if e.waking != nil {
		return true
	}
	if at, ok := e.timed.First(); e.set == 0 || ok && at < e.set {
		e.timed.ReadClocks()
		return false
	}
	return true
}

// setAlarmLocked sets the alarm for what may run next, if there is a worker for that, or may
// be one. An alarm for an earlier time stays: to look once in vain costs less than to set it
// anew for each first unit that is canceled.
func (e *Engine) setAlarmLocked() {
	full := e.Lender == nil && (e.pausesLocked() || e.idle.top == nil && e.countedLocked() >= e.mostLocked())
	switch {
	case e.stage >= Stopped || e.stranded: // nothing runs any more
		return
	case full && (e.covered >= e.lent || len(e.wanted) == 0): // a worker looks when its unit has run
		return
	}
	at, ok := e.nextDueLocked(full)
	if !ok || e.set != 0 && e.set <= at {
		return
	}
	if e.alarm == nil {
		e.alarm = alarm.New(e.tick, e.timed != nil)
	}
	e.set = at
	e.alarm.Set(delay.Until(at, e.Now()))
}

// unsetLocked has the alarm set anew, since what it was set for has another time.
func (e *Engine) unsetLocked() {
	if e.set != 0 {
		e.alarm.Stop()
		e.set = 0
	}
}

// tick is what the alarm calls, in a goroutine of its own.
func (e *Engine) tick() {
	e.Lock()
	e.set = 0
	if e.timed != nil {
		e.timed.Wake()
	}
	if e.later != nil {
		e.later.Wake()
		e.lineUpLocked()
	}
	if e.stage < Tidying {
		e.unblockLocked()
		e.dispatchLocked()
	}
	e.Unlock()
}
