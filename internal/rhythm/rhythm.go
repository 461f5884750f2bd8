// Package rhythm finds the times of periodic work: at a fixed rate, with a fixed delay, or by
// a trigger.
//
// It is arithmetic on readings of a clock. It takes no locks, and calls nothing of the user's
// but the Trigger.
package rhythm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/executor-go/executor/internal/delay"
)

// Kind is the way in which a rhythm finds its next time.
type Kind uint8

const (
	FixedRate  Kind = iota // from the time that was due
	FixedDelay             // from the end of the run
	Triggered              // by a Trigger
)

// Rhythm determines when runs are due.
type Rhythm struct {
	Kind     Kind
	Period   time.Duration // of FixedRate and FixedDelay
	Trigger  Trigger
	Location *time.Location // of the trigger's first time, and of those it is asked about
	Loose    bool           // of Triggered: by its method Fixed, the trigger has no fixed times; set by First
	End      int64          // there is no later time; 0 for no end
}

// Trigger has the times of a schedule. Next returns the first time later than t, or the zero
// Time if there is none.
type Trigger interface {
	Next(t time.Time) time.Time
}

// String returns the rhythm in words.
func (r Rhythm) String() string {
	switch r.Kind {
	case FixedRate:
		return fmt.Sprintf("every %v", r.Period)
	case FixedDelay:
		return fmt.Sprintf("%v after each run", r.Period)
	}
	if s, ok := r.Trigger.(fmt.Stringer); ok {
		if text := fmt.Sprint(s); text != "" { // which says if it panics
			return text
		}
	}
	return fmt.Sprintf("%T", r.Trigger)
}

// OnWall reports whether the times are those of the wall clock.
func (r Rhythm) OnWall() bool { return r.Kind == Triggered }

// Repeats reports whether times come again that the wall clock shows again, which was set back
// by that step.
func (r Rhythm) Repeats(step time.Duration) bool {
	return r.OnWall() && (step >= delay.StepBack || step > delay.LeastStep && r.Loose)
}

// Time returns a reading of the clock of r.
func (r Rhythm) Time(c delay.Clock, ns int64) time.Time {
	t := c.Time(ns, r.OnWall())
	if r.Location != nil {
		t = t.In(r.Location)
	}
	return t
}

// EndAt sets the end, unless it is the zero Time.
func (r *Rhythm) EndAt(c delay.Clock, end time.Time) {
	switch {
	case end.IsZero():
		return
	case r.OnWall():
		r.End = delay.WallNanos(end)
	default:
		r.End = int64(end.Sub(c.Epoch))
	}
	if r.End == 0 {
		r.End = -1 // all times are positive
	}
}

// Ended reports whether a time is later than the end.
func (r Rhythm) Ended(at int64) bool { return r.End != 0 && at > r.End }

// Delayed returns base after a random delay below d, which does not exceed the end.
func (r Rhythm) Delayed(base int64, d time.Duration) int64 {
	if r.End != 0 {
		d = min(d, max(delay.Until(r.End, base), 0)+1)
	}
	return delay.After(base, Jitter(d))
}

// Slot is the place of a series in its rhythm.
type Slot struct {
	Base int64 // when a run is due, without its jitter
	From int64 // the time after which the trigger was asked for Base
	Over bool  // there is no further time
}

// First returns the first slot of a rhythm that begins now. The error says what is wrong
// with the rhythm.
func (r *Rhythm) First(c delay.Clock) (Slot, error) {
	switch r.Kind {
	case FixedRate:
		if r.Period <= 0 {
			return Slot{}, fmt.Errorf("period is %v; it must be positive", r.Period)
		}
	case FixedDelay:
		if r.Period <= 0 {
			return Slot{}, fmt.Errorf("delay is %v; it must be positive", r.Period)
		}
	case Triggered:
		return r.firstOfTrigger()
	}
	return Slot{Base: delay.After(c.Now().Mono, int64(r.Period))}, nil
}

func (r *Rhythm) firstOfTrigger() (Slot, error) {
	if r.Trigger == nil {
		return Slot{}, errors.New("nil Trigger")
	}
	now := time.Now().Round(0)
	at := r.Trigger.Next(now)
	if at.IsZero() {
		return Slot{}, fmt.Errorf("the trigger %v has no time after now", r)
	}
	if !at.After(now) {
		return Slot{}, fmt.Errorf("the trigger %v returned %v after %v, which is not later", r, at, now)
	}
	r.Location = at.Location()
	if t, ok := r.Trigger.(interface{ Fixed() bool }); ok {
		r.Loose = !t.Fixed()
	}
	return Slot{From: delay.WallNanos(now), Base: max(delay.WallNanos(at), 1)}, nil
}

// Event is what has made a new slot necessary.
type Event uint8

const (
	SlotUsed     Event = iota // the run of the slot has been made, or is left out
	SlotKept                  // something else has taken time; the slot may have passed
	PauseEnded                // likewise, but the times that have passed are not missed
	ClockSetBack              // the wall clock has been set back, and times come again
)

// Tardiness is the treatment of times that pass while a run is due or in progress.
type Tardiness struct {
	CatchUp Count
	Window  time.Duration // of a run that may still begin; 0 for any
}

// Count is how many of the times that have passed have a run, the latest ones. The zero Count
// is that of the rhythm: all of a fixed rate, none of a trigger.
type Count struct {
	n     int64
	given bool
}

// Latest returns the Count n.
func Latest(n int) Count { return Count{int64(n), true} }

// Given reports whether c was returned by Latest.
func (c Count) Given() bool { return c.given }

// kept returns how many of the times of r that have passed when e has happened have a run.
func (d Tardiness) kept(r Rhythm, e Event) int64 {
	switch {
	case e == PauseEnded:
		return 0
	case d.CatchUp.given:
		return d.CatchUp.n
	case r.Kind == Triggered:
		return 0
	}
	return math.MaxInt64
}

// TooLate reports whether a run that was due so long ago is not to begin.
func (d Tardiness) TooLate(late time.Duration) bool { return d.Window > 0 && late > d.Window }

// maxLeftOut bounds how many times of a trigger are asked for to count those that are left
// out at once.
const maxLeftOut = 100_000

// After returns the slot that follows at, and how many times are left out before it. It
// calls the Trigger, and returns an error if that has not returned a later time.
func (r Rhythm) After(at Slot, e Event, d Tardiness, now delay.Instant) (next Slot, leftOut int64, err error) {
	switch r.Kind {
	case FixedRate:
		next, leftOut = r.afterOnGrid(at, e, d, now.Mono)
	case FixedDelay:
		next = Slot{Base: delay.After(now.Mono, int64(r.Period))}
		if e == PauseEnded {
			next.Base = max(at.Base, now.Mono)
		}
	case Triggered:
		next, leftOut, err = r.afterTrigger(at, e, d, now.Wall)
	}
	if e == PauseEnded {
		leftOut = 0
	}
	next.Over = next.Over || r.Ended(next.Base)
	return next, leftOut, err
}

func (r Rhythm) afterOnGrid(at Slot, e Event, d Tardiness, now int64) (next Slot, leftOut int64) {
	base, period := at.Base, int64(r.Period)
	if e == SlotUsed {
		base = delay.After(base, period)
	}
	late := delay.Until(now, base)
	if late <= 0 {
		return Slot{Base: base}, 0
	}
	if r.Ended(base) {
		return Slot{Over: true}, 0
	}
	passed := int64(late)/period + 1 // or just comes: that is not left out
	if r.End != 0 {
		passed = min(passed, int64(delay.Until(r.End, base))/period+1)
	}
	leftOut = max(0, min(passed-d.kept(r, e), ceilDiv(int64(late), period)))
	if d.TooLate(late) {
		leftOut = max(leftOut, min(passed, ceilDiv(int64(late-d.Window), period)))
	}
	return Slot{Base: delay.After(base, leftOut*period)}, leftOut
}

func ceilDiv(a, b int64) int64 { return (a-1)/b + 1 }

func (r Rhythm) afterTrigger(at Slot, e Event, d Tardiness, now int64) (next Slot, leftOut int64, err error) {
	from := at.Base
	if e == SlotKept || e == PauseEnded {
		from = at.From // finds Base again
	}
	if e == ClockSetBack || r.Repeats(delay.Until(from, now)) {
		from = now // the clock was set back while the task was not in the queue
	}
	n := d.kept(r, e)
	var passed []Slot // the latest, at most n
	next, err = r.following(from)
	for err == nil && !next.Over && next.Base <= now {
		switch late := delay.Until(now, next.Base); {
		case n == 0 || d.TooLate(late):
			leftOut++
		case n >= maxLeftOut: // none of the further ones is left out
			return next, leftOut, nil
		default:
			passed = append(passed, next)
		}
		if int64(len(passed)) > n {
			passed = passed[1:]
			leftOut++
		}
		if leftOut == maxLeftOut {
			next, err = r.jump(n, d, next, now)
			return next, leftOut, err
		}
		next, err = r.following(next.Base)
	}
	if err == nil && len(passed) > 0 {
		next = passed[0]
	}
	return next, leftOut, err
}

// jump returns the slot after at that is to be used, where too many times have passed for
// them to be counted.
func (r Rhythm) jump(n int64, d Tardiness, at Slot, now int64) (Slot, error) {
	switch {
	case n == 0:
		return r.following(now)
	case d.Window > 0:
		return r.following(now - int64(d.Window) - 1)
	}
	if r.End != 0 {
		now = min(now, r.End)
	}
	return Slot{Base: now, From: at.From}, nil
}

// following returns the slot of the trigger's first time after from.
func (r Rhythm) following(from int64) (Slot, error) {
	t := time.Unix(0, from).In(r.Location)
	at := r.Trigger.Next(t)
	if at.IsZero() {
		return Slot{Over: true}, nil
	}
	if !at.After(t) {
		return Slot{}, fmt.Errorf("Trigger %v: Next(%v) is %v, which is not later", r, t, at)
	}
	base := max(delay.WallNanos(at), 1)
	return Slot{Base: base, From: from, Over: r.Ended(base)}, nil
}

// Successor returns the slot after at if nothing is late. It calls the Trigger. That of a
// fixed delay is not known.
func (r Rhythm) Successor(at Slot) (Slot, error) {
	switch r.Kind {
	case FixedRate:
		base := delay.After(at.Base, int64(r.Period))
		return Slot{Base: base, Over: base == delay.Never || r.Ended(base)}, nil
	case Triggered:
		return r.following(at.Base)
	}
	return Slot{Over: true}, nil
}

// Jitter returns a random delay below d.
func Jitter(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return rand.Int64N(int64(d))
}
