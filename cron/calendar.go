package cron

import (
	"math/bits"
	"time"
)

const (
	daySeconds = 24 * 60 * 60

	// horizon is the period of the Gregorian calendar, weekdays included:
	// 400 years are 146097 days, which are 20871 weeks. A calendar without years
	// that has no match within it has none at all.
	horizon = 146097 * daySeconds

	// endOfTime bounds the Unix times that Next and Prev accept: a billion years on
	// either side of 1970. So sums of times, offsets and the horizon cannot overflow,
	// and years fit in 32 bits.
	endOfTime = 1 << 55
)

// A calendar is the fields as bit sets. It knows wall times but no zones.
// A wall time is what a wall clock shows, as seconds since 1970-01-01 00:00 on
// that clock; in UTC it equals the Unix time.
type calendar struct {
	seconds  uint64 // bits 0-59; only bit 0 in the plain language
	minutes  uint64 // bits 0-59; zero only in the zero Schedule
	hours    uint32 // bits 0-23
	days     uint32 // bits 0-30 for the days 1-31
	months   uint16 // bits 1-12
	weekdays uint8  // bits 0-6, Sunday first

	// starred reports that the second, the minute or the hour field begins with a
	// star, which selects the rule for clock changes (ISC cron's MIN_STAR and HR_STAR).
	starred bool

	// eitherDay reports that neither of the day fields begins with a star, so that
	// a day needs to match only one of them (ISC cron's DOM_STAR and DOW_STAR).
	eitherDay bool

	relative relativeDays
	years    yearSet

	// every is the distance of days, counted from the day origin, which is one of them. It is 0 for days that are not
	// counted. Days are from 1970-01-01.
	every, origin int64
}

// nextWall returns the first matching wall time at or after wall, and whether
// there is one up to limit. A calendar with years has its own limit.
func (c *calendar) nextWall(wall, limit int64) (int64, bool) {
	today := floorDiv(wall, daySeconds)
	clock, ok := c.clockFrom(int(wall - today*daySeconds))

	year, month, day := time.Unix(today*daySeconds, 0).UTC().Date()
	first := today - int64(day-1) // of the month
	skip := day - 1               // days of the month that have passed
	if !ok {
		skip = day
	}
	for c.years.limited() || first*daySeconds <= limit {
		if !c.years.has(year) {
			if year, ok = c.years.from(year); !ok {
				return 0, false
			}
			month, skip = time.January, 0
			first = firstOf(year, month)
		}
		length := daysIn(year, month)
		if c.months>>month&1 != 0 {
			set := c.daysOf(first, length) >> skip << skip
			if set != 0 {
				found := first + int64(bits.TrailingZeros32(set))
				if found != today {
					clock, _ = c.clockFrom(0)
				}
				return found*daySeconds + int64(clock), true
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

// prevWall returns the last matching wall time at or before wall, and whether
// there is one from limit on. A calendar with years has its own limit.
func (c *calendar) prevWall(wall, limit int64) (int64, bool) {
	today := floorDiv(wall, daySeconds)
	clock, ok := c.clockUpTo(int(wall - today*daySeconds))

	year, month, day := time.Unix(today*daySeconds, 0).UTC().Date()
	first := today - int64(day-1) // of the month
	length := daysIn(year, month)
	keep := day // days of the month that have begun
	if !ok {
		keep = day - 1
	}
	for c.years.limited() || (first+int64(length))*daySeconds > limit {
		if !c.years.has(year) {
			if year, ok = c.years.upTo(year); !ok {
				return 0, false
			}
			month, length = time.December, 31
			first, keep = firstOf(year, month), length
		}
		if c.months>>month&1 != 0 {
			set := c.daysOf(first, length) & (1<<keep - 1)
			if set != 0 {
				found := first + int64(bits.Len32(set)-1)
				if found != today {
					clock, _ = c.clockUpTo(daySeconds - 1)
				}
				return found*daySeconds + int64(clock), true
			}
		}
		if month--; month < time.January {
			year, month = year-1, time.December
		}
		length = daysIn(year, month)
		first -= int64(length)
		keep = length
	}
	return 0, false
}

// clockFrom returns the first matching second of a day at or after clock, and
// whether there is one. Both are counted from midnight.
func (c *calendar) clockFrom(clock int) (int, bool) {
	hour, minute, second := clock/3600, clock/60%60, clock%60
	if c.hours>>hour&1 != 0 {
		if c.minutes>>minute&1 != 0 {
			if rest := c.seconds >> second << second; rest != 0 {
				return hour*3600 + minute*60 + bits.TrailingZeros64(rest), true
			}
		}
		if rest := c.minutes >> (minute + 1) << (minute + 1); rest != 0 {
			return hour*3600 + bits.TrailingZeros64(rest)*60 + bits.TrailingZeros64(c.seconds), true
		}
	}
	rest := c.hours >> (hour + 1) << (hour + 1)
	if rest == 0 {
		return 0, false
	}
	return bits.TrailingZeros32(rest)*3600 + bits.TrailingZeros64(c.minutes)*60 + bits.TrailingZeros64(c.seconds), true
}

// clockUpTo returns the last matching second of a day at or before clock, and
// whether there is one. Both are counted from midnight.
func (c *calendar) clockUpTo(clock int) (int, bool) {
	last := func(set uint64) int { return bits.Len64(set) - 1 }
	hour, minute, second := clock/3600, clock/60%60, clock%60
	if c.hours>>hour&1 != 0 {
		if c.minutes>>minute&1 != 0 {
			if rest := c.seconds & (1<<(second+1) - 1); rest != 0 {
				return hour*3600 + minute*60 + last(rest), true
			}
		}
		if rest := c.minutes & (1<<minute - 1); rest != 0 {
			return hour*3600 + last(rest)*60 + last(c.seconds), true
		}
	}
	rest := c.hours & (1<<hour - 1)
	if rest == 0 {
		return 0, false
	}
	return last(uint64(rest))*3600 + last(c.minutes)*60 + last(c.seconds), true
}

// daysOf returns the matching days of a month, with bit 0 for its first day. The
// month has length days and begins on the day first, counted from 1970-01-01.
func (c *calendar) daysOf(first int64, length int) uint32 {
	// Six copies of the week side by side, shifted to begin on the weekday of
	// the first of the month. 1970-01-01 was a Thursday.
	const copies = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	weekday := int(first + 4 - 7*floorDiv(first+4, 7))
	set := uint32(uint64(c.weekdays) * copies >> weekday)
	days := c.days
	if c.relative != (relativeDays{}) {
		days |= c.relative.ofMonth(weekday, length)
		set |= c.relative.ofWeek(weekday, length)
	}
	if c.eitherDay {
		set |= days
	} else {
		set &= days
	}
	if c.every > 1 {
		counted := uint32(0)
		// the first day from the first of the month on
		for day := first + (c.origin-first)%c.every; day < first+int64(length); day += c.every {
			if day >= first {
				counted |= 1 << (day - first)
			}
		}
		set &= counted
	}
	return set & (1<<length - 1)
}

// possible reports whether any day matches.
func (c *calendar) possible() bool {
	if c.relative == (relativeDays{}) && !c.years.limited() {
		return c.possibleDay()
	}
	// 28 years have each sort of year: one that begins on each weekday, with a leap
	// day and without.
	from, to := 2000, 2028
	if c.years.limited() {
		from, to = firstYear, lastYear+1
	}
	for year := from; year < to; year++ {
		for month := time.January; month <= time.December && c.years.has(year); month++ {
			if c.months>>month&1 != 0 && c.daysOf(firstOf(year, month), daysIn(year, month)) != 0 {
				return true
			}
		}
	}
	return false
}

// possibleDay reports whether any day matches in a calendar without relative days and
// years. Every date, even February 29, falls on every weekday within the horizon, so
// there is no match only if none of the months has any of the days.
func (c *calendar) possibleDay() bool {
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

// firstOf returns the first day of a month, counted from 1970-01-01.
func firstOf(year int, month time.Month) int64 {
	return floorDiv(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix(), daySeconds)
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
