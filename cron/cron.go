// Package cron reads crontab times and tells when they come next, also on the
// days on which clocks change.
//
// A [Schedule] is a value: it starts nothing, holds no timer and reads no
// clock. Hand one to whatever asks for the next time, or use it alone:
//
//	nightly := cron.MustParse("30 2 * * mon-fri")
//	next := nightly.Next(time.Now())
//
// # Language
//
// A spec has the five fields of crontab(5), parted by blanks:
//
//	minute        0-59
//	hour          0-23
//	day-of-month  1-31
//	month         1-12  or jan-dec
//	day-of-week   0-7   or sun-sat; 0 and 7 are both Sunday
//
// A field is a list of items parted by commas. An item is one of
//
//	7  mon         one value; names have three letters, in any case
//	1-5  mon-fri   a range, both ends included
//	*              every value
//	*/15           every fifteenth value, from the first on
//	10-40/5        every fifth value of a range
//	5/15           every fifteenth value from 5 to the end of the field
//
// In day-of-week, * and 1/2 end at Saturday, and a range may end in Sunday
// under either of its late names: 5-7, fri-sun. A step that selects only the
// first value, as in */90, is an error rather than a surprise.
//
// Instead of the five fields a spec may be one word:
//
//	@yearly @annually   0 0 1 1 *
//	@monthly            0 0 1 * *
//	@weekly             0 0 * * 0
//	@daily @midnight    0 0 * * *
//	@hourly             0 * * * *
//	@every 1h30m        a fixed distance, see below
//
// The prefix "CRON_TZ=Asia/Tokyo " or "TZ=Asia/Tokyo " names the zone whose
// clock is meant. Quartz's seconds and years, its ?, L, W and #, and @reboot
// (which is no time) are errors that say so, and what to write instead if there is
// something.
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
// The rule is ISC cron's. What decides is whether the minute or the hour field
// begins with a star.
//
// If one does, the job follows the clock on the wall: it is due whenever that
// clock reads a matching minute. "0 * * * *" stays one hour apart in real time
// and runs in both passes of an hour that is repeated. Minutes that the clock
// jumps over do not exist: "*/15 2 * * *" has none on a day without 02:00.
//
// Otherwise the job has fixed times, and each of them comes exactly once. If
// the clock jumps over it, it is due at the first instant after the jump, never
// before; several that one jump covers are due there together, as one. If the
// clock repeats it, the first pass counts. "30 2 * * *" is due at 03:00 on the
// morning when New York has no 02:30, and "30 1 * * *" once on the night when it
// has two.
//
// Every change of a zone's offset is treated alike, whatever its size or
// reason: Lord Howe's half hour, Troll's two, São Paulo's missing midnights and
// the day that Samoa left out.
//
// # Fixed distances
//
// "@every 1h30m" takes any positive duration of [time.ParseDuration], down to a
// nanosecond. It is next due that much real time after the time asked about,
// whatever clocks do. A caller that asks about the last due time keeps the beat;
// one that asks about the time at which it woke up drifts.
package cron

import (
	"iter"
	"time"
)

// A Schedule is a parsed spec. It is a small value that is never changed, safe
// to copy and for use by many goroutines. The zero Schedule never comes due.
//
// Quartz calls it CronExpression. Like every type with a method Next, it is a
// Trigger of package executor.
//
// Two schedules are == if they have the same text and the same [time.Location]
// pointer, which two calls of [time.LoadLocation] for one name do not give.
type Schedule struct {
	spec     string         // what String returns
	loc      *time.Location // whose clock is read; nil only in the zero Schedule
	every    time.Duration  // if positive, a fixed distance, and calendar is unused
	calendar calendar
}

// Parse reads a spec in the zone of its CRON_TZ= prefix, or else in
// [time.Local]. If it fails, the error is a *[ParseError], and the Schedule is the
// zero one. A spec that no day can match, such as "0 0 30 2 *", is an error too.
//
// Specs are limited to 1024 bytes, and no string makes Parse panic. The zone of a
// prefix is loaded with [time.LoadLocation].
func Parse(spec string) (Schedule, error) { return ParseIn(spec, nil) }

// ParseIn is [Parse] with the zone to use if the spec has no prefix of its own.
// A nil loc means [time.Local].
func ParseIn(spec string, loc *time.Location) (Schedule, error) {
	if loc == nil {
		loc = time.Local
	}
	return parse(spec, loc)
}

// MustParse is [Parse] for specs that are part of the program. It panics, with a
// message that begins with "cron: ", if the spec is not valid.
func MustParse(spec string) Schedule {
	s, err := Parse(spec)
	if err != nil {
		panic(err.Error())
	}
	return s
}

// Next returns the first time after the given one at which s is due: strictly
// later, in the zone of s, without a monotonic reading. It returns the zero Time
// if there is none. That happens to the zero Schedule, to a starred spec whose
// every minute is one that its zone leaves out, and a billion years from now.
//
// The given time may be in any zone; only the instant counts. The work is bounded:
// Next looks 400 years ahead, after which the Gregorian calendar repeats itself.
//
// Quartz calls it getNextValidTimeAfter.
func (s Schedule) Next(after time.Time) time.Time {
	after = after.Round(0)
	if s.every > 0 {
		next := after.Add(s.every)
		if !next.After(after) { // wrapped round at the end of time
			return time.Time{}
		}
		return next.In(s.loc)
	}
	// Due times are whole seconds, so Unix, which rounds down, loses nothing.
	now := after.Unix()
	if s.calendar.minutes == 0 || now < -endOfTime || now > endOfTime {
		return time.Time{}
	}
	var due int64
	var ok bool
	if s.calendar.wild {
		due, ok = s.calendar.nextWild(s.loc, now)
	} else {
		due, ok = s.calendar.nextFixed(s.loc, now)
	}
	if !ok {
		return time.Time{}
	}
	return time.Unix(due, 0).In(s.loc)
}

// Upcoming returns the due times after the given one, in order. It ends where
// [Schedule.Next] returns the zero Time. For most schedules that is never: break
// out of the loop.
func (s Schedule) Upcoming(after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := s.Next(after); !t.IsZero() && yield(t); {
			t = s.Next(t)
		}
	}
}

// String returns the spec in lower case with single blanks, and with its zone, if
// it named one, as CRON_TZ=. A zone that came from [ParseIn]'s argument is not part
// of it, so what gives a schedule like s is ParseIn(s.String(), s.Location()).
// The zero Schedule has the empty string.
func (s Schedule) String() string { return s.spec }

// Location returns the zone whose clock the schedule reads, and in which Next
// gives its times. The zero Schedule has [time.UTC].
func (s Schedule) Location() *time.Location {
	if s.loc == nil {
		return time.UTC
	}
	return s.loc
}
