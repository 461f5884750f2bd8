// Package cron parses cron expressions, such as "30 2 * * mon-fri", and computes the times at which they are due. It
// handles days on which clocks change.
//
//	nightly := cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * mon-fri")
//	next := nightly.Next(time.Now())
//
// The package runs nothing. A [Schedule] is a value without a timer or a goroutine, and it never reads the clock. To
// run a function at its times, pass it to the method On of a ScheduledPool of package executor:
//
//	pool := executor.Scheduled(1)
//	series, err := pool.On(ctx, nightly, backup)
//
// The text that is parsed is called a spec here.
//
// # Language
//
// A spec has the five fields of crontab(5), separated by blanks:
//
//	minute        0-59
//	hour          0-23
//	day-of-month  1-31
//	month         1-12  or jan-dec
//	day-of-week   0-7   or sun-sat; 0 and 7 are both Sunday
//
// A field is a list of items, separated by commas. An item is one of
//
//	7  mon         one value; names have three letters, in any case
//	1-5  mon-fri   a range, both ends included
//	*              every value
//	*/15           every fifteenth value, from the first on
//	10-40/5        every fifth value of a range
//	5/15           every fifteenth value from 5 to the end of the field
//
// In day-of-week, * and 1/2 end at Saturday. A range may end with Sunday, written as 7 or sun: 5-7, fri-sun. A step
// that selects only the first value, as */90 does for minutes, is an error; [ParseLenient] accepts it.
//
// Instead of the five fields a spec may be one word:
//
//	@yearly @annually   0 0 1 1 *
//	@monthly            0 0 1 * *
//	@weekly             0 0 * * 0
//	@daily @midnight    0 0 * * *
//	@hourly             0 * * * *
//	@every 1h30m        a fixed interval, see below
//
//	@since 2026-12-01 14:00 every 7d    an interval from an instant on, see below
//
// The prefix "CRON_TZ=Asia/Tokyo " or "TZ=Asia/Tokyo " names the time zone of a spec.
//
// @reboot is not supported, because it is not a time. Where a spec of another program has an equivalent here, the error
// says what to write.
//
// This is the plain language, in which a spec means the same as in Vixie cron. Quartz, Jenkins and others add seconds,
// years, L, W, #, ?, H and ~ to it. [Extended] parses and describes those.
//
// # Days
//
// As in Vixie cron, if both day-of-month and day-of-week are restricted, a day
// that satisfies either one matches: "0 0 13 * fri" means every 13th and every
// Friday. A field whose first character is a star is not restricted in this
// sense, even if it has a step, and then a day must satisfy both: "0 0 */2 * fri"
// means the Fridays with an odd date.
//
// # Clock changes
//
// The rule is ISC cron's. It depends on whether the minute or the hour field
// begins with a star.
//
// If one does, the schedule follows the wall clock: it is due whenever that clock shows a matching minute. The times of
// "0 * * * *" are one hour of real time apart, and it is due in both passes of a repeated hour. A minute that the clock
// skips does not count: "*/15 2 * * *" is not due on a day without an hour from 02:00 to 03:00.
//
// Otherwise the schedule has fixed times, and each of them is due exactly once. If the clock skips a time, the schedule
// is due at the first instant after the jump; several times that one jump skips are due there once, together. If the
// clock repeats a time, the schedule is due in the first pass. "30 2 * * *" is due at 03:00 on the morning when New
// York has no 02:30, and "30 1 * * *" once on the night that has it twice.
//
// Every change of a zone's offset is treated alike, whatever its size or
// reason: Lord Howe's half hour, Troll's two hours, São Paulo's missing midnights
// and the day that Samoa skipped.
//
// # Fixed intervals
//
// "@every 1h30m" takes any positive duration of [time.ParseDuration], down to a nanosecond. Such a schedule is due that
// much real time after the time that is passed to [Schedule.Next], whatever the clocks show. A caller that passes the
// last due time stays in step. A caller that passes the time at which it woke up drifts.
//
// "@since 2026-12-01 14:00 every 7d" is due at that time in the zone of the spec, and every seven days from then on, at
// 14:00 by the wall clock: such times are fixed, see above. There may be 1 to 3660 days. With a duration of whole
// seconds instead of days, as in "@since 2026-12-01 14:00:30 every 36h", the times are that much real time apart.
package cron

import (
	"iter"
	"time"
)

// A Schedule is a parsed spec. It is a small immutable value, which may be copied and used by several goroutines at the
// same time. The zero Schedule is never due.
//
// A Schedule implements the interface Trigger of package executor. It implements [encoding.TextMarshaler] and
// [encoding.TextUnmarshaler], so that it can be a field of a JSON document.
//
// Two schedules are == if they have the same text and the same [time.Location]
// pointer. Two calls of [time.LoadLocation] for one name return different pointers.
type Schedule struct {
	spec     string         // what String returns
	loc      *time.Location // nil only in the zero Schedule
	every    time.Duration  // if positive, a fixed interval, and calendar is unused
	since    bool           // there is a first time, of a fixed interval or a calendar
	first    int64          // that
	calendar calendar
}

// Parse parses a spec of the plain language, or a text that begins with @extended, see [Extended]. The zone of the
// schedule is that of the prefix CRON_TZ= or TZ=, which is loaded with [time.LoadLocation]. Without a prefix it is
// [time.Local].
//
// If the spec is not valid, Parse returns the zero Schedule and a *[ParseError]. A spec of more than 1024 bytes is not
// valid, nor is one that no day can match, such as "0 0 30 2 *". No string makes Parse panic.
func Parse(spec string) (Schedule, error) { return ParseIn(spec, nil) }

// ParseIn is [Parse] with the zone to use if the spec has no prefix of its own.
// A nil loc means [time.Local].
func ParseIn(spec string, loc *time.Location) (Schedule, error) {
	return parser{spec: spec}.parse(loc)
}

// ParseLenient is [ParseIn] for specs that were written for a cron daemon. As those daemons do, it accepts a step that
// selects only the first value, as in "0 */24 * * *". The schedule then has that value alone. For each such step there
// is a note, which is the error that ParseIn would return. A field such as */24 still counts as one that begins with a
// star. If err is not nil there are no notes.
//
// Only ParseLenient, and an [Extended] with a Note, read the text of such a schedule: Parse and UnmarshalText return an
// error for it.
func ParseLenient(spec string, loc *time.Location) (s Schedule, notes []*ParseError, err error) {
	if s, err = (parser{spec: spec, notes: &notes}).parse(loc); err != nil {
		return Schedule{}, nil, err
	}
	return s, notes, nil
}

// MustParse is [Parse] for a spec that is a constant of the program. If the spec is not valid, MustParse panics with
// the text of the error, which begins with "cron: ".
func MustParse(spec string) Schedule {
	s, err := Parse(spec)
	if err != nil {
		panic(err.Error())
	}
	return s
}

// Next returns the first time at which s is due that is strictly later than after. The result is in the zone of s and
// has no monotonic clock reading. The time after may be in any zone: only the instant counts.
//
// Next returns the zero Time if there is no such time: for the zero Schedule, after the last year of a spec that has
// years, more than a billion years from 1970, and if the zone of s skips each minute of a spec that follows the wall
// clock.
//
// The work is bounded: Next searches 400 years, after which the Gregorian calendar repeats itself.
func (s Schedule) Next(after time.Time) time.Time {
	after = after.Round(0)
	if s.since && after.Unix() < s.first {
		after = time.Unix(s.first-1, 0)
	}
	if s.every > 0 && !s.since {
		next := after.Add(s.every)
		if !next.After(after) { // wrapped round at the end of time
			return time.Time{}
		}
		return next.In(s.loc)
	}
	// Due times are whole seconds, so rounding down, as Unix does, is exact enough.
	now := after.Unix()
	if s.isZero() || now < -endOfTime || now > endOfTime {
		return time.Time{}
	}
	var due int64
	var ok bool
	if s.every > 0 {
		due, ok = s.latest(now)+int64(s.every/time.Second), true
	} else if s.calendar.starred {
		due, ok = s.calendar.nextStarred(s.loc, now)
	} else {
		due, ok = s.calendar.nextFixed(s.loc, now)
	}
	if !ok {
		return time.Time{}
	}
	return time.Unix(due, 0).In(s.loc)
}

// Prev returns the last time at which s was due that is strictly earlier than before. The result is in the zone of s
// and has no monotonic clock reading. Prev returns the zero Time if there is no such time, as [Schedule.Next] does.
//
// Prev and Next agree on what is due, also where clocks change: no due time lies between Prev(t) and t, and
// Next(Prev(t)) is t if t is a due time. "@every 1h30m" has no due times of its own: for it Prev returns the time that
// is 1h30m earlier.
func (s Schedule) Prev(before time.Time) time.Time {
	before = before.Round(0)
	if s.every > 0 && !s.since {
		prev := before.Add(-s.every)
		if !prev.Before(before) { // wrapped round at the beginning of time
			return time.Time{}
		}
		return prev.In(s.loc)
	}
	// Due times are whole seconds.
	now := before.Unix()
	if before.Nanosecond() == 0 {
		now--
	}
	if s.isZero() || now < -endOfTime || now > endOfTime {
		return time.Time{}
	}
	var due int64
	var ok bool
	if s.every > 0 {
		due, ok = s.latest(now), true
	} else if s.calendar.starred {
		due, ok = s.calendar.prevStarred(s.loc, now)
	} else {
		due, ok = s.calendar.prevFixed(s.loc, now)
	}
	if !ok || s.since && due < s.first {
		return time.Time{}
	}
	return time.Unix(due, 0).In(s.loc)
}

// latest returns the latest time up to now that is some intervals from the first.
func (s Schedule) latest(now int64) int64 {
	step := int64(s.every / time.Second)
	return s.first + floorDiv(now-s.first, step)*step
}

// isZero reports whether s is never due.
func (s Schedule) isZero() bool { return s.every == 0 && s.calendar.minutes == 0 }

// Upcoming returns an iterator over the due times that are later than after, in order. The iterator ends where
// [Schedule.Next] returns the zero Time. Most schedules never end, so break out of the loop.
func (s Schedule) Upcoming(after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := s.Next(after); !t.IsZero() && yield(t); {
			t = s.Next(t)
		}
	}
}

// Fixed reports whether s has fixed times, each of which is due exactly once on a day when clocks change; see the
// package comment. A schedule that follows the wall clock has none, nor has one of a fixed interval. A program whose
// clock was set back can tell by Fixed whether it is to repeat the times that the clock shows again: those of a schedule
// that is not fixed.
func (s Schedule) Fixed() bool { return s.every == 0 && !s.calendar.starred }

// String returns the spec in lower case with single blanks, or for a spec of the extended language the text that
// [Extended] describes. If the spec had a prefix for its zone, the text begins with that prefix, written as CRON_TZ=. A
// zone that was an argument of [ParseIn] is not in the text, but ParseIn(s.String(), s.Location()) returns a schedule
// with the same times. For the zero Schedule String returns "".
func (s Schedule) String() string { return s.spec }

// Location returns the zone of the schedule, which is also the zone of the times that Next and Prev return. For the
// zero Schedule it returns [time.UTC].
func (s Schedule) Location() *time.Location {
	if s.loc == nil {
		return time.UTC
	}
	return s.loc
}
