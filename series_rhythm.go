package executor

import (
	"fmt"
	"time"

	"github.com/executor-go/executor/internal/delay"
)

// Rhythm says when the runs of a [Series] are due. It is made by [FixedRate], [FixedDelay]
// or [OnTrigger], for [Series.Reschedule].
type Rhythm struct {
	cadence  cadence
	period   time.Duration // of fixedRate and fixedDelay
	trigger  Trigger
	location *time.Location // of the trigger's first time, and of those it is asked about
}

// cadence says how a series finds its next time.
type cadence uint8

const (
	noCadence  cadence = iota // of the zero Rhythm
	fixedRate                 // from the time that was due
	fixedDelay                // from the end of the run
	triggered                 // by a Trigger
)

// FixedRate is the rhythm of [ScheduledPool.AtFixedRate].
func FixedRate(period time.Duration) Rhythm { return Rhythm{cadence: fixedRate, period: period} }

// FixedDelay is the rhythm of [ScheduledPool.WithFixedDelay].
func FixedDelay(delay time.Duration) Rhythm { return Rhythm{cadence: fixedDelay, period: delay} }

// OnTrigger is the rhythm of [ScheduledPool.On].
func OnTrigger(trigger Trigger) Rhythm { return Rhythm{cadence: triggered, trigger: trigger} }

// String says the rhythm in words: "every 5m0s", "5m0s after each run", or the text of the
// trigger, which is its type unless it has a String method. That of the zero Rhythm is
// "none".
func (r Rhythm) String() string {
	switch r.cadence {
	case fixedRate:
		return fmt.Sprintf("every %v", r.period)
	case fixedDelay:
		return fmt.Sprintf("%v after each run", r.period)
	case triggered:
		if s, ok := r.trigger.(fmt.Stringer); ok {
			return s.String()
		}
		return fmt.Sprintf("%T", r.trigger)
	}
	return "none"
}

// MarshalText returns the text of String.
func (r Rhythm) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Trigger has the times of a schedule, for [ScheduledPool.On]. A cron.Schedule is one.
type Trigger interface {
	// Next returns the first time later than t, or the zero Time if there is none. It must
	// depend on t alone: it may be called for a time again, or for one that is skipped. It
	// is called with no lock held, by workers and by the callers of methods of a [Series]
	// and of its [ScheduleInfo]; it may be called by several of them at once.
	Next(t time.Time) time.Time
}

// onWall reports whether the times are those of the wall clock.
func (r Rhythm) onWall() bool { return r.cadence == triggered }

// time returns a reading of the clock of r.
func (r Rhythm) time(c delay.Clock, ns int64) time.Time {
	t := c.Time(ns, r.onWall())
	if r.location != nil {
		t = t.In(r.location)
	}
	return t
}

// first returns the first slot of a rhythm that begins now. where names the call.
func (r *Rhythm) first(where string, c delay.Clock) (slot, error) {
	switch r.cadence {
	case fixedRate:
		if r.period <= 0 {
			return slot{}, invalid("%s: period is %v; it must be positive", where, r.period)
		}
	case fixedDelay:
		if r.period <= 0 {
			return slot{}, invalid("%s: delay is %v; it must be positive", where, r.period)
		}
	case triggered:
		return r.firstOfTrigger(where)
	default:
		return slot{}, invalid("%s: zero Rhythm; use FixedRate, FixedDelay or OnTrigger", where)
	}
	return slot{base: delay.After(c.Now().Mono, int64(r.period))}, nil
}

func (r *Rhythm) firstOfTrigger(where string) (slot, error) {
	if r.trigger == nil {
		return slot{}, invalid("%s: nil Trigger", where)
	}
	now := time.Now().Round(0)
	at := r.trigger.Next(now)
	if at.IsZero() {
		return slot{}, invalid("%s: the trigger %v gives no time after now", where, r.trigger)
	}
	if !at.After(now) {
		return slot{}, invalid("%s: the trigger %v gives %v after %v, which is not later", where, r.trigger, at, now)
	}
	r.location = at.Location()
	return slot{from: delay.WallNanos(now), base: max(delay.WallNanos(at), 1)}, nil
}

// slot is the place of a series in its rhythm.
type slot struct {
	base int64 // when a run is due, without its jitter
	from int64 // the time after which the trigger was asked for base
	over bool  // there is no further time
}

// event is what has made a new slot necessary.
type event uint8

const (
	slotUsed     event = iota // the run of the slot has been made, or is left out
	slotKept                  // something else has taken time; the slot may have passed
	pauseEnded                // likewise, but the times that have passed are not missed
	clockSetBack              // the wall clock has been set back by much
)

// missedPolicy says what becomes of times that pass while a run is due or in progress.
type missedPolicy uint8

const (
	missedDefault missedPolicy = iota // as the rhythm has it
	catchUp                           // a run for each
	runOnce                           // one run for all
	skipMissed                        // no run
)

// seriesRules are what the options of a series say. They do not change.
type seriesRules struct {
	tardiness
	jitter  time.Duration
	overlap int       // most runs at the same time; 0 or 1 for no two
	times   int64     // most runs, 0 for any number
	until   time.Time // no run is due after it; zero for none
	onPanic onPanic
}

// mode says whether a series has runs of itself.
//
//	active ⇄ paused   Pause, Resume
type mode uint8

const (
	active mode = iota
	paused
)

// onPanic says what a panic does to a series.
type onPanic uint8

const (
	panicEnds onPanic = iota
	panicCounts
)

// option returns the name of the option for p.
func (p missedPolicy) option() string {
	return [...]string{"", catchUp: "CatchUp", runOnce: "RunMissedOnce", skipMissed: "SkipMissed"}[p]
}

// tardiness says what becomes of times that have passed.
type tardiness struct {
	missed missedPolicy
	window time.Duration // of a run that may still begin; 0 for any
}

// policy returns what becomes of the times of r that have passed when e has happened.
func (d tardiness) policy(r Rhythm, e event) missedPolicy {
	switch {
	case e == pauseEnded:
		return skipMissed
	case d.missed != missedDefault:
		return d.missed
	case r.cadence == triggered:
		return skipMissed
	}
	return catchUp
}

// tooLate reports whether a run that was due so long ago is not to begin.
func (d tardiness) tooLate(late time.Duration) bool { return d.window > 0 && late > d.window }

// check returns an error if a rule has no effect with the rhythm r. where names the call.
func (u seriesRules) check(where string, r Rhythm) error {
	switch {
	case r.cadence != fixedDelay:
	case u.missed != missedDefault:
		return invalid("%s: %s has no effect on a fixed delay, of which no time is missed; leave it out",
			where, u.missed.option())
	case u.overlap > 1:
		return invalid("%s: Overlap has no effect on a fixed delay, which counts from the end of a run; leave it out", where)
	}
	return nil
}

// maxLeftOut bounds how many times of a trigger are asked for to count those that are left
// out at once.
const maxLeftOut = 100_000

// after returns the slot that follows at, and how many times are left out before it. It
// calls the user's Trigger.
func (r Rhythm) after(at slot, e event, d tardiness, now delay.Instant) (next slot, leftOut int64, err error) {
	switch r.cadence {
	case fixedRate:
		next, leftOut = r.afterOnGrid(at, e, d, now.Mono)
	case fixedDelay:
		next = slot{base: delay.After(now.Mono, int64(r.period))}
		if e == pauseEnded {
			next.base = max(at.base, now.Mono)
		}
	case triggered:
		next, leftOut, err = r.afterTrigger(at, e, d, now.Wall)
	}
	if e == pauseEnded {
		leftOut = 0
	}
	return next, leftOut, err
}

func (r Rhythm) afterOnGrid(at slot, e event, d tardiness, now int64) (next slot, leftOut int64) {
	base, period := at.base, int64(r.period)
	if e == slotUsed {
		base = delay.After(base, period)
	}
	late := delay.Until(now, base)
	if late <= 0 {
		return slot{base: base}, 0
	}
	switch p := d.policy(r, e); {
	case p == skipMissed:
		leftOut = ceilDiv(int64(late), period)
	case p == runOnce:
		leftOut = int64(late) / period
	case d.tooLate(late):
		leftOut = ceilDiv(int64(late-d.window), period)
	}
	return slot{base: delay.After(base, leftOut*period)}, leftOut
}

func ceilDiv(a, b int64) int64 { return (a-1)/b + 1 }

func (r Rhythm) afterTrigger(at slot, e event, d tardiness, now int64) (next slot, leftOut int64, err error) {
	from := at.base
	if e == slotKept || e == pauseEnded {
		from = at.from // finds base again
	}
	if e == clockSetBack || delay.Until(from, now) >= delay.StepBack {
		from = now // the clock was set back while the task was not in the queue
	}
	policy := d.policy(r, e)
	next, err = r.following(from)
	for err == nil && !next.over && next.base <= now {
		if policy == catchUp && !d.tooLate(delay.Until(now, next.base)) {
			break
		}
		var later slot
		if later, err = r.following(next.base); err != nil {
			break
		}
		if policy == runOnce && (later.over || later.base > now) {
			break // next is the last of those that have passed
		}
		if leftOut++; leftOut == maxLeftOut {
			next, err = r.jump(policy, d, next, now)
			break
		}
		next = later
	}
	return next, leftOut, err
}

// jump returns the slot after at that is to be used, where too many times have passed for
// them to be counted.
func (r Rhythm) jump(policy missedPolicy, d tardiness, at slot, now int64) (slot, error) {
	switch policy {
	case runOnce:
		return slot{base: now, from: at.from}, nil
	case catchUp:
		return r.following(now - int64(d.window) - 1)
	}
	return r.following(now)
}

// following returns the slot of the trigger's first time after from.
func (r Rhythm) following(from int64) (slot, error) {
	t := time.Unix(0, from).In(r.location)
	at := r.trigger.Next(t)
	if at.IsZero() {
		return slot{over: true}, nil
	}
	if !at.After(t) {
		return slot{}, invalid("Trigger %v: Next(%v) is %v, which is not later", r.trigger, t, at)
	}
	return slot{base: max(delay.WallNanos(at), 1), from: from}, nil
}
