// Package timetable has the times of schedules, and what a run makes up for that was missed, as functions of times
// alone.
package timetable

import (
	"fmt"
	"strings"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store"
)

// A Timetable is the meaning of the text in Job.Schedule.
type Timetable struct {
	rate, delay time.Duration
	trigger     executor.Trigger
}

// Delays reports whether each time is a delay after the end of the run before.
func (tt Timetable) Delays() bool { return tt.delay > 0 }

// Rated reports whether the times are those of a fixed rate.
func (tt Timetable) Rated() bool { return tt.rate > 0 }

// Triggered reports whether the times are those of a trigger.
func (tt Timetable) Triggered() bool { return tt.trigger != nil }

// Known reports whether tt is that of a periodic job.
func (tt Timetable) Known() bool { return tt.rate > 0 || tt.delay > 0 || tt.trigger != nil }

// invalid returns an error that matches executor.ErrInvalid, and what format wraps.
func invalid(format string, args ...any) error { return argument.Invalid("durable: "+format, args...) }

// Parse reads the text of a schedule. Triggers are looked up by name.
func Parse(text string, named map[string]executor.Trigger) (Timetable, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case store.Once:
		return Timetable{}, nil
	case "rate", "delay":
		d, err := time.ParseDuration(rest)
		if err != nil || d < time.Microsecond {
			return Timetable{}, invalid("schedule %q: the interval must be at least 1µs", text)
		}
		if word == "rate" {
			return Timetable{rate: d}, nil
		}
		return Timetable{delay: d}, nil
	case "cron":
		s, _, err := cron.ParseLenient(rest, nil)
		if err != nil {
			return Timetable{}, invalid("schedule %q: %w", text, err)
		}
		return Timetable{trigger: s}, nil
	case "trigger":
		if t := named[rest]; t != nil {
			return Timetable{trigger: t}, nil
		}
		return Timetable{}, invalid("schedule %q: Config.Triggers of this program has no %q", text, rest)
	}
	return Timetable{}, invalid("schedule %q: it must begin with once, rate, delay, cron or trigger", text)
}

// TextOf returns the text of a schedule by a cron.Schedule.
func TextOf(s cron.Schedule) (string, error) {
	text := s.String()
	if !strings.HasPrefix(text, "CRON_TZ=") && !strings.HasPrefix(text, "@every") {
		zone := s.Location().String()
		if s.Location() == time.Local {
			zone = "Local" // its own name is what TZ says, a path even
		}
		text = "CRON_TZ=" + zone + " " + text
	}
	kept, _, err := cron.ParseLenient(text, nil)
	if err != nil {
		return "", invalid("trigger %q can't be kept as text: %w", text, err)
	}
	if !strings.HasPrefix(text, "@every") && !sameZone(s.Location(), kept.Location()) {
		return "", invalid("trigger %q can't be kept as text: the zone %s of the time zone database is another one; use a zone of the database, as in CRON_TZ=Asia/Tokyo", text, s.Location())
	}
	return "cron " + text, nil
}

// sameZone reports whether a and b, which have one name, are one zone. A zone that a program has made may have any
// name, also that of another zone. But the rules of a zone change with its database, a few of them, while a program
// runs.
func sameZone(a, b *time.Location) bool {
	const month = 30 * 24 * time.Hour
	months, differ := 0, 0
	for t := time.Unix(0, 0); t.Year() < 2038; t = t.Add(month) {
		months++
		_, x := t.In(a).Zone()
		if _, y := t.In(b).Zone(); x != y {
			differ++
		}
	}
	return differ <= months/10
}

// Next returns the first time on the schedule after t, the zero Time if there is none that a store keeps. A fixed delay
// has no grid: its next is one delay after end. A trigger may return what is not later than t, see NotLater.
func (tt Timetable) Next(anchor, t, end time.Time) time.Time {
	switch {
	case tt.rate > 0:
		if t.Before(anchor) {
			return anchor
		}
		return onGrid(anchor, t, tt.rate)
	case tt.delay > 0:
		return end.Add(tt.delay)
	case tt.trigger != nil:
		n := tt.trigger.Next(t)
		if n.IsZero() {
			return n
		}
		if n = Ceil(n); n.Year() > 9999 {
			return time.Time{}
		}
		return n
	}
	return time.Time{}
}

// NotLater returns an error if the next time of a trigger is not later than t, about which it was asked.
func (tt Timetable) NotLater(t, next time.Time) error {
	if tt.trigger == nil || next.IsZero() || next.After(t) {
		return nil
	}
	return fmt.Errorf("it returned %v after %v, which is not later", next, t)
}

// onGrid returns the first time after t that is some intervals after anchor, which is not after t. A Duration holds 292
// years.
func onGrid(anchor, t time.Time, distance time.Duration) time.Time {
	const far = time.Duration(1 << 62)
	for t.Sub(anchor) >= far {
		anchor = anchor.Add(max(far/distance, 1) * distance)
	}
	return anchor.Add((t.Sub(anchor)/distance + 1) * distance)
}

// latest returns the last time on the schedule that is not after now. t is one of its times that is not after now.
func (tt Timetable) latest(anchor, t, now time.Time) time.Time {
	switch {
	case tt.rate > 0:
		n := tt.Next(anchor, now, now).Add(-tt.rate)
		if now.Before(anchor) || n.Before(t) {
			return t // an occurrence before the grid or off it, as of RunNow
		}
		return n
	case tt.trigger != nil:
		return tt.latestOfTrigger(t, now)
	}
	return t
}

// maxWalk is how many times a trigger is asked for one after the other.
const maxWalk = 10_000

// latestOfTrigger is latest for a trigger. A trigger only goes forward, and where it goes may depend on the time it is
// asked about: one of a fixed interval has no other times than those that follow from t. So this walks from t. If now
// is too far it leaps: by a distance that is always the same or, as on a calendar, to now, from where it steps back
// until some time lies between.
func (tt Timetable) latestOfTrigger(t, now time.Time) time.Time {
	next := func(t time.Time) (n time.Time, ok bool) {
		n = tt.Next(time.Time{}, t, now)
		return n, n.After(t) && !n.After(now)
	}
	for range maxWalk {
		n, ok := next(t)
		if !ok {
			return t
		}
		t = n
	}
	n, ok := next(t)
	if !ok {
		return t
	}
	distance := n.Sub(t)
	last := onGrid(t, now, distance).Add(-distance)
	if n, _ := next(last.Add(-distance)); n.Equal(last) {
		if _, more := next(last); !more {
			return last
		}
	}
	for back := time.Second; now.Add(-back).After(t); back *= 2 {
		if n, ok := next(now.Add(-back)); ok {
			t = n
			break
		}
	}
	for n, ok := next(t); ok; n, ok = next(t) {
		t = n
	}
	return t
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// MostPassed bounds what Passed counts, since a trigger is asked for one time after the other.
const MostPassed = 100_000

// Passed counts the times of the schedule after one time and before another, and returns the one that follows them, the
// zero Time if there is none. It counts up to MostPassed. The error is that of NotLater for the first time that is not
// later than the one before it.
func (tt Timetable) Passed(anchor, after, before time.Time) (n int, next time.Time, err error) {
	next = tt.Next(anchor, after, after)
	if !next.After(after) {
		return 0, time.Time{}, tt.NotLater(after, next)
	}
	if tt.rate > 0 && next.Before(before) {
		steps := (before.Sub(next)-1)/tt.rate + 1
		return int(min(steps, MostPassed)), onGrid(next, before.Add(-1), tt.rate), nil
	}
	for n < MostPassed && next.Before(before) {
		last := next
		if n++; n == MostPassed {
			last = tt.latest(anchor, next, before.Add(-1))
		}
		if next = tt.Next(anchor, last, before); !next.After(last) {
			return n, time.Time{}, tt.NotLater(last, next)
		}
	}
	return n, next, nil
}

// Ceil rounds up to microseconds, which stores keep, so that no job is early.
func Ceil(t time.Time) time.Time {
	t = t.UTC().Round(0)
	return t.Add(time.Microsecond - 1).Truncate(time.Microsecond)
}
