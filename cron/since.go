package cron

import (
	"fmt"
	"strings"
	"time"
)

// since begins a spec of an interval from an instant on.
const since = "@since"

// mostDays is the longest interval in days: ten years.
const mostDays = 3660

// parseSince parses the date, the time, the word every, and the interval after @since.
func (p parser) parseSince(s *Schedule, rest []span) error {
	const example = `write it like "@since 2026-12-01 14:00 every 7d"`
	if len(rest) < 4 || !is(rest[2], "every") {
		return p.failWhole("@since needs a date, a time, the word every, and an interval", example)
	}
	if len(rest) > 4 {
		return p.fail("period", rest[4], "@since takes one interval", `write it without blanks, such as "7d" or "36h"`)
	}
	date, err := time.Parse(time.DateOnly, rest[0].text)
	if err != nil {
		return p.fail("first time", rest[0], "not a date", "write the year, the month and the day, such as 2026-12-01")
	}
	clock, err := time.Parse("15:04", rest[1].text)
	if err != nil {
		if clock, err = time.Parse(time.TimeOnly, rest[1].text); err != nil || clock.Nanosecond() > 0 {
			return p.fail("first time", rest[1], "not a time of day", "write 14:00, or 14:00:30 with seconds")
		}
	}
	day, inDay := date.Unix()/daySeconds, int64(clock.Hour())*3600+int64(clock.Minute())*60+int64(clock.Second())
	wall := day*daySeconds + inDay
	s.since, s.first = true, reach(s.loc, eraAt(s.loc, wall-maxShift), wall)
	return p.parsePeriod(s, rest[3], day, clock)
}

// parsePeriod parses the interval of a schedule whose first time is on a day, at that time.
func (p parser) parsePeriod(s *Schedule, part span, day int64, clock time.Time) error {
	text := strings.ToLower(part.text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, isNumber := number(days)
		if !isNumber || n < 1 || n > mostDays {
			return p.fail("period", part, fmt.Sprintf("must be 1d to %dd", mostDays), "")
		}
		s.calendar = calendar{
			seconds: 1 << clock.Second(), minutes: 1 << clock.Minute(), hours: 1 << clock.Hour(),
			days: 1<<31 - 1, months: 1<<13 - 2, weekdays: 1<<7 - 1, every: int64(n), origin: day,
		}
		return nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return p.fail("period", part, "is neither days nor a duration", `write it like "7d", "36h" or "1h30m"`)
	case d < time.Second || d%time.Second != 0:
		return p.fail("period", part, "must be whole seconds, and at least one", "")
	}
	s.every = d
	return nil
}

// describeSince describes a schedule that has a first time.
func (s Schedule) describeSince() string {
	first := time.Unix(s.first, 0).In(s.loc)
	zone := ", " + s.describeZone()
	if s.every > 0 {
		return "every " + brief(s.every) + " from " + first.Format(time.DateOnly) + " " + clockOf(first) + " on" + zone
	}
	clock, _ := s.calendar.clockFrom(0)
	date := time.Unix(s.calendar.origin*daySeconds, 0).UTC().Format(time.DateOnly)
	return "every " + times(int(s.calendar.every), "day") + " at " + s.calendar.clockText(clock) + " from " + date + " on" + zone
}

// clockOf returns the time of day, with seconds if there are any.
func clockOf(t time.Time) string {
	return strings.TrimSuffix(t.Format(time.TimeOnly), ":00")
}
