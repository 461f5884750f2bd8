package timetable

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// These are ISC cron's rule for a clock that is set back. After a step of up to slack nothing is repeated. After one of
// less than longStep, fixed times are not: most have had their run already.
const (
	slack    = time.Second
	longStep = 3 * time.Hour
)

// Ahead returns the time after which the Updated of a row says that the store's clock was ahead when it was written.
func Ahead(now time.Time) time.Time { return now.Add(slack) }

// Repeats reports whether the schedule has its times again that a clock shows again which was set back by step. A
// trigger that does not say whether its times are fixed has fixed ones.
func (tt Timetable) Repeats(step time.Duration) bool {
	fixed := tt.trigger != nil
	if f, ok := tt.trigger.(interface{ Fixed() bool }); ok {
		fixed = f.Fixed()
	}
	return step > slack && (!fixed || step >= longStep)
}

// Again returns the time at which the schedule goes on from now, if that is before next, which was found while the clock
// was ahead. The grid of a fixed rate has times before its anchor then: that is too late as well.
func (tt Timetable) Again(anchor, next, now time.Time) time.Time {
	if next.IsZero() {
		return next
	}
	if tt.rate > 0 && now.Before(anchor) {
		anchor = anchor.Add(-(anchor.Sub(now) / tt.rate * tt.rate)).Add(-tt.rate) // not after now
	}
	if again := Ceil(tt.Next(anchor, now, now)); again.After(now) && again.Before(next) {
		return again
	}
	return next
}

// SetBack returns a schedule as it goes on after the store's clock was set back. It reports false if it goes on as it is.
//
// found is what the clock showed when the times of the schedule were found or later. By default, which is the zero Time,
// that is the Updated of its row: if it is later than now, the clock was ahead. step is by how much the caller has seen
// the clock set back, 0 if it has not.
//
// A schedule is due at its next time from now for the latest. What was not the schedule's own next time, as the wait for
// a first run or a retry, or what Reschedule has asked for, is as long as it was to be when it began, and begins anew.
func (tt Timetable) SetBack(j store.Job, found time.Time, step time.Duration, now time.Time) (store.Job, bool) {
	if found.IsZero() {
		found = j.Updated
	}
	due, ahead := &j.Due, found.Sub(now)
	if j.State.Granted() {
		due = &j.NextDue // the time of the run in progress is over
	}
	if j.State.Done() || !tt.Known() || !found.After(Ahead(now)) || !due.After(now) || !tt.Repeats(max(step, ahead)) {
		return j, false
	}
	was, wait := *due, Ceil(now.Add(max(due.Sub(found), 0)))
	first := tt.rate > 0 && due.Equal(j.Anchor)
	retry := !j.State.Granted() && j.Due.After(j.Occurrence)
	switch own := tt.Next(j.Anchor, found, found); {
	case retry:
		*due = Later(wait, now.Add(time.Microsecond)) // later than the occurrence, as its run was begun
	case first, tt.delay > 0, due.After(Ceil(own)) && !own.IsZero():
		*due = wait
	default:
		*due = tt.Again(j.Anchor, *due, now)
	}
	if !due.Before(was) {
		return j, false
	}
	switch {
	case retry:
		j.Occurrence = now
	case !j.State.Granted():
		j.Occurrence = j.Due
	}
	switch {
	case first:
		j.Anchor = *due
	case tt.rate > 0:
		j.Anchor = tt.Again(j.Anchor, j.Anchor, now)
	}
	return j, true
}
