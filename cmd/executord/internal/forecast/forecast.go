// Package forecast says when a schedule will be due, and what the changes of the clock do to it.
package forecast

import (
	"fmt"
	"iter"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Upcoming returns the times from from on at which a schedule is due, in its zone, as if executord started at from.
// There are none for @reboot and @after.
func Upcoming(s job.Schedule, from time.Time) iter.Seq[time.Time] {
	return upcoming(s, job.Calendar{}, from)
}

// Of returns the times from from on at which a job is due, those that do not count left out. Files of exceptions that
// cannot be read exclude nothing.
func Of(j job.Job, from time.Time) iter.Seq[time.Time] {
	calendar, _ := j.Season.Calendar()
	return upcoming(j.Schedule, calendar, from)
}

func upcoming(s job.Schedule, calendar job.Calendar, from time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		trigger := s.From(from)
		if trigger == nil {
			return
		}
		after := from
		if s.Every() == 0 {
			after = from.Add(-1) // what is due at from counts
		}
		for t := calendar.Next(trigger, after, s.Location()); !t.IsZero(); t = calendar.Next(trigger, t, s.Location()) {
			if !yield(t) {
				return
			}
		}
	}
}

// A Change is one of the clock of a zone, and what it does to a schedule.
type Change struct {
	At     time.Time // the first instant after it, in the zone
	Before time.Time // what the clock would show at At without it, as a time in UTC
	After  time.Time // what it shows, as a time in UTC
	Effect Effect
	First  time.Time // the first time that is skipped or repeated, as the clock shows it, as a time in UTC
}

// Effect is what a change of the clock does to a schedule.
type Effect string

const (
	// Moved is for a time that the clock skips: it is due at the first instant after the change.
	Moved Effect = "moved"
	// Absent is for times that the clock skips, and that do not exist.
	Absent Effect = "absent"
	// Once is for a time that the clock shows twice, and that is due the first time.
	Once Effect = "once"
	// Twice is for times that the clock shows twice, and that are due each time.
	Twice Effect = "twice"
)

// maxChanges bounds the changes that are looked at: a zone has a few a year.
const maxChanges = 100

// Changes returns the changes of the clock after from and up to until that do something to a schedule.
func Changes(s job.Schedule, from, until time.Time) (changes []Change) {
	clock, ok := s.Wall()
	if !ok {
		return nil
	}
	at := from.In(s.Location())
	for range maxChanges {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.After(until) {
			break
		}
		_, before := end.Add(-1).Zone()
		_, after := end.Zone()
		at = end
		c := Change{At: end, Before: showing(end, before), After: showing(end, after)}
		switch {
		case after > before:
			c.First = clock.Next(c.Before.Add(-1))
			if c.First.IsZero() || !c.First.Before(c.After) {
				continue
			}
			c.Effect = Absent
			if s.Fixed() {
				c.Effect = Moved
			}
		case after < before:
			c.First = clock.Next(c.After.Add(-1))
			if c.First.IsZero() || !c.First.Before(c.Before) {
				continue
			}
			c.Effect = Twice
			if s.Fixed() {
				c.Effect = Once
			}
		default:
			continue // the name of the zone changes, and not the clock
		}
		changes = append(changes, c)
	}
	return changes
}

// showing returns what a clock with that offset shows, as a time in UTC.
func showing(t time.Time, offset int) time.Time {
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// String says what happens, as "02:30 does not exist on Sun 2027-03-28: due at 03:00 instead".
func (c Change) String() string {
	const clock, day = "15:04", "Mon 2006-01-02"
	first, on := c.First.Format(clock), c.First.Format(day)
	switch c.Effect {
	case Moved:
		return fmt.Sprintf("%s does not exist on %s: due at %s instead", first, on, c.After.Format(clock))
	case Absent:
		return fmt.Sprintf("%s to %s does not exist on %s: not due then", c.Before.Format(clock), c.After.Format(clock), on)
	case Once:
		return fmt.Sprintf("%s comes twice on %s: due the first time only", first, on)
	default:
		return fmt.Sprintf("%s to %s comes twice on %s: due both times", c.After.Format(clock), c.Before.Format(clock), on)
	}
}
