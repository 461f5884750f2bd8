package cron

import (
	"math/bits"
	"time"
)

const (
	daySeconds = 24 * 60 * 60

	// horizon is the period of the Gregorian calendar, weekdays included:
	// 400 years are 146097 days, which are 20871 weeks. A calendar that has no
	// match within it has none at all.
	horizon = 146097 * daySeconds

	// endOfTime bounds the Unix times that Next accepts: a billion years on either
	// side of 1970. So sums of times, offsets and the horizon cannot overflow, and
	// years fit in 32 bits.
	endOfTime = 1 << 55
)

// A calendar is the five fields as bit sets. It knows wall times but no zones.
// A wall time is what a wall clock shows, as seconds since 1970-01-01 00:00 on
// that clock; in UTC it equals the Unix time.
type calendar struct {
	minutes  uint64 // bits 0-59; zero only in the zero Schedule
	hours    uint32 // bits 0-23
	days     uint32 // bits 0-30 for the days 1-31
	months   uint16 // bits 1-12
	weekdays uint8  // bits 0-6, Sunday first

	// starred reports that the minute or the hour field begins with a star, which
	// selects the rule for clock changes (ISC cron's MIN_STAR and HR_STAR).
	starred bool

	// eitherDay reports that neither of the day fields begins with a star, so that
	// a day needs to match only one of them (ISC cron's DOM_STAR and DOW_STAR).
	eitherDay bool
}

// nextWall returns the first matching wall time at or after wall, and whether
// there is one up to limit.
func (c *calendar) nextWall(wall, limit int64) (int64, bool) {
	minute := floorDiv(wall+59, 60) // round up
	today := floorDiv(minute, 24*60)
	clock, ok := c.clockFrom(int(minute - today*24*60))

	year, month, day := time.Unix(today*daySeconds, 0).UTC().Date()
	first := today - int64(day-1) // of the month
	skip := day - 1               // days of the month that have passed
	if !ok {
		skip = day
	}
	for first*daySeconds <= limit {
		length := daysIn(year, month)
		if c.months>>month&1 != 0 {
			set := c.daysOf(first, length) >> skip << skip
			if set != 0 {
				found := first + int64(bits.TrailingZeros32(set))
				if found != today {
					clock, _ = c.clockFrom(0)
				}
				return (found*24*60 + int64(clock)) * 60, true
			}
		}
		first += int64(length)
		skip = 0
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return 0, false
}

// clockFrom returns the first matching minute of a day at or after minute, and
// whether there is one. Both are counted from midnight.
func (c *calendar) clockFrom(minute int) (int, bool) {
	hour, minute := minute/60, minute%60
	hours := c.hours >> hour << hour
	if hours>>hour&1 != 0 {
		if rest := c.minutes >> minute << minute; rest != 0 {
			return hour*60 + bits.TrailingZeros64(rest), true
		}
		hours &^= 1 << hour
	}
	if hours == 0 {
		return 0, false
	}
	return bits.TrailingZeros32(hours)*60 + bits.TrailingZeros64(c.minutes), true
}

// daysOf returns the matching days of a month, with bit 0 for its first day. The
// month has length days and begins on the day first, counted from 1970-01-01.
func (c *calendar) daysOf(first int64, length int) uint32 {
	// Six copies of the week side by side, shifted to begin on the weekday of
	// the first of the month. 1970-01-01 was a Thursday.
	const copies = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	weekday := first + 4 - 7*floorDiv(first+4, 7)
	set := uint32(uint64(c.weekdays) * copies >> weekday)
	if c.eitherDay {
		set |= c.days
	} else {
		set &= c.days
	}
	return set & (1<<length - 1)
}

// possible reports whether any day matches. Every date, even February 29, falls
// on every weekday within the horizon, so there is no match only if none of the
// months has any of the days.
func (c *calendar) possible() bool {
	if c.eitherDay {
		return true
	}
	for month := time.January; month <= time.December; month++ {
		const leapYear = 2000
		if c.months>>month&1 != 0 && c.days&(1<<daysIn(leapYear, month)-1) != 0 {
			return true
		}
	}
	return false
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// floorDiv returns x/n rounded down, also for a negative x. n must be positive.
func floorDiv(x, n int64) int64 {
	q := x / n
	if x%n < 0 {
		q--
	}
	return q
}
