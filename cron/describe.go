package cron

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Describe returns the schedule in English, as a part of a sentence:
//
//	at 02:30 on Monday to Friday, Europe/Berlin
//	every 15 minutes from 09:00 to 17:45 on the last day of the month, UTC
//	every 1h30m
//	every 7 days at 14:00 from 2026-12-01 on, Europe/Berlin
//
// The words are for people, and later versions may choose others. Two schedules with the same words have the same
// times, except perhaps where clocks change. [time.Local] is called "local time". For the zero Schedule Describe
// returns "never".
func (s Schedule) Describe() string {
	switch {
	case s.since:
		return s.describeSince()
	case s.every > 0:
		return "every " + brief(s.every)
	case s.calendar.minutes == 0:
		return "never"
	}
	zone := s.describeZone()
	clock, atTimes := s.calendar.describeClock()
	days := s.calendar.describeDays(atTimes)
	if days != "" {
		days = " " + days
	}
	return clock + days + ", " + zone
}

// describeZone describes the zone of a schedule that is not zero.
func (s Schedule) describeZone() string {
	if s.loc == time.Local {
		return "local time"
	}
	return s.loc.String()
}

const (
	all60 = 1<<60 - 1
	all24 = 1<<24 - 1
)

// describeClock describes the times of a day. It reports whether these are a few times that it lists, after which the
// days may not be left out.
func (c *calendar) describeClock() (text string, atTimes bool) {
	hours, minutes, seconds := uint64(c.hours), c.minutes, c.seconds
	n := bits.OnesCount64(hours) * bits.OnesCount64(minutes) * bits.OnesCount64(seconds)
	if n <= 4 {
		return "at " + and(c.clocks()), true
	}
	first, _ := c.clockFrom(0)
	last, _ := c.clockUpTo(daySeconds - 1)
	between := " from " + c.clockText(first) + " to " + c.clockText(last)
	hourly, every := isEvery(hours, 24)
	allDay := hours == all24
	oneHour := bits.OnesCount64(hours) == 1
	switch {
	case bits.OnesCount64(seconds) > 1:
		step, regular := isEvery(seconds, 60)
		second := "every " + times(step, "second")
		switch {
		case minutes == all60 && allDay && regular && seconds&1 != 0:
			return second, false
		case minutes == all60 && isRun(hours) && regular:
			return second + between, false
		case !regular || seconds&1 == 0:
			second = "at " + noun("second", seconds)
		}
		switch {
		case bits.OnesCount64(hours)*bits.OnesCount64(minutes) == 1:
			whole := *c
			whole.seconds = 1
			return second + " of the minute " + and(whole.clocks()), true
		}
		return second + " of " + minutesOf(minutes) + hoursOf(hours), false
	case bits.OnesCount64(minutes) > 1:
		step, ok := isEvery(minutes, 60)
		if !ok || !isRun(hours) {
			break
		}
		text = "every " + times(step, "minute")
		if at := bits.TrailingZeros64(seconds); at > 0 {
			text += fmt.Sprintf(" at second %d", at)
		}
		if allDay && minutes&1 != 0 {
			return text, false
		}
		return text + between, false
	case every && !oneHour:
		text = "every " + times(hourly, "hour")
		if hourly == 1 || hours&1 != 0 {
			at := fmt.Sprintf(" at minute %d", bits.TrailingZeros64(minutes))
			if second := bits.TrailingZeros64(seconds); second > 0 {
				at += fmt.Sprintf(" and second %d", second)
			}
			if allDay {
				return text + at, false
			}
		}
		return text + between, false
	}
	text = "at "
	if seconds != 1 {
		text += noun("second", seconds) + " of "
	}
	return text + minutesOf(minutes) + hoursOf(hours), false
}

// clocks returns the times of a day, which are few.
func (c *calendar) clocks() (texts []string) {
	for clock, ok := c.clockFrom(0); ok; {
		texts = append(texts, c.clockText(clock))
		if clock++; clock == daySeconds {
			break
		}
		clock, ok = c.clockFrom(clock)
	}
	return texts
}

// clockText returns a time of day as a clock shows it, with seconds if the calendar has any.
func (c *calendar) clockText(clock int) string {
	text := fmt.Sprintf("%02d:%02d", clock/3600, clock/60%60)
	if c.seconds != 1 {
		text += fmt.Sprintf(":%02d", clock%60)
	}
	return text
}

func minutesOf(minutes uint64) string {
	if minutes == all60 {
		return "every minute"
	}
	return noun("minute", minutes)
}

func hoursOf(hours uint64) string {
	if hours == all24 {
		return " of every hour"
	}
	return " of " + noun("hour", hours)
}

// noun returns the values of a set after the noun for one of them.
func noun(name string, set uint64) string {
	if bits.OnesCount64(set) > 1 {
		name += "s"
	}
	return name + " " + and(ranges(set, func(v int) string { return fmt.Sprint(v) }))
}

// isEvery reports whether a set has every step-th value from its first one to the end of a field of that size, so that
// the distance stays the same at its end, or every value of a run.
func isEvery(set uint64, size int) (step int, ok bool) {
	if bits.OnesCount64(set) < 2 {
		return 0, false
	}
	first := bits.TrailingZeros64(set)
	step = bits.TrailingZeros64(set&(set-1)) - first
	if size%step != 0 || first >= step {
		return step, step == 1 && size == 24 && isRun(set)
	}
	all := uint64(0)
	for v := first; v < size; v += step {
		all |= 1 << v
	}
	return step, set == all
}

// isRun reports whether the values of a set follow each other.
func isRun(set uint64) bool {
	set >>= bits.TrailingZeros64(set)
	return set&(set+1) == 0
}

// times returns "minute" for one, and "15 minutes" for more.
func times(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return count(n, noun)
}

// describeDays describes the days. It returns nothing for every day, unless asked to say that.
func (c *calendar) describeDays(say bool) string {
	in, of := c.describeMonths()
	dates, weekdays := c.describeDates(), c.describeWeekdays()
	relative := c.relative.lastWeek != 0 || c.relative.nth != [7]uint8{}
	onWeekdays := "on " + weekdays + in
	if relative {
		onWeekdays = "on " + weekdays + of
	}
	switch {
	case dates == "" && weekdays == "", c.eitherDay && (dates == "" || weekdays == ""):
		if say {
			return "every day" + in
		}
		return strings.TrimSpace(in)
	case dates == "":
		return onWeekdays
	case weekdays == "":
		return "on " + dates + of
	case c.eitherDay:
		return "on " + dates + of + " or " + onWeekdays
	}
	return onWeekdays + ", only on " + dates + of
}

// describeMonths describes the months and years of days, and those of which days are counted.
func (c *calendar) describeMonths() (in, of string) {
	of = " of the month"
	if c.months != 1<<13-2 {
		months := and(ranges(uint64(c.months), func(v int) string { return time.Month(v).String() }))
		in, of = " in "+months, " of "+months
	}
	if !c.years.limited() {
		return in, of
	}
	var years []string
	for year, ok := c.years.from(firstYear); ok; {
		end := year
		for end < lastYear && c.years.has(end+1) {
			end++
		}
		years = append(years, fromTo(fmt.Sprint(year), fmt.Sprint(end)))
		year, ok = c.years.from(end + 1)
	}
	if in == "" {
		return " in " + and(years), of + " in " + and(years)
	}
	return in + " " + and(years), of + " " + and(years)
}

// describeDates describes what day-of-month selects, or returns nothing for every day.
func (c *calendar) describeDates() string {
	if c.days == 1<<31-1 {
		return ""
	}
	r := &c.relative
	list := ranges(uint64(c.days)<<1, ordinal)
	if step, last, ok := everyDay(c.days); ok {
		list = []string{fmt.Sprintf("every %s day from %s to %s", strings.TrimPrefix(ordinal(step), "the "), ordinal(bits.TrailingZeros32(c.days)+1), ordinal(last))}
	}
	for n := range 31 {
		if r.nearest>>n&1 != 0 {
			list = append(list, "the weekday nearest to "+ordinal(n+1))
		}
	}
	for n := range 31 {
		day := "the last day"
		if n > 0 {
			day = "the day " + count(n, "day") + " before the last"
		}
		if r.last>>n&1 != 0 {
			list = append(list, day)
		}
		if r.lastNearest>>n&1 != 0 {
			list = append(list, "the weekday nearest to "+day)
		}
	}
	return and(list)
}

// everyDay reports whether the days are at least four at one distance of two or more.
func everyDay(days uint32) (step, last int, ok bool) {
	if bits.OnesCount32(days) < 4 {
		return 0, 0, false
	}
	first := bits.TrailingZeros32(days)
	step = bits.TrailingZeros32(days&(days-1)) - first
	for v := first; days>>v&1 != 0; v += step {
		days &^= 1 << v
		last = v + 1
	}
	return step, last, days == 0 && step > 1
}

// describeWeekdays describes what day-of-week selects, or returns nothing for every day.
func (c *calendar) describeWeekdays() string {
	if c.weekdays == 1<<7-1 {
		return ""
	}
	// A week begins with Monday, so that Saturday and Sunday are beside each other.
	list := ranges(uint64(c.weekdays>>1|c.weekdays&1<<6), func(v int) string { return time.Weekday((v + 1) % 7).String() })
	for day, nth := range c.relative.nth {
		for n := 1; n <= 5; n++ {
			if nth>>n&1 != 0 {
				word := [...]string{1: "first", "second", "third", "fourth", "fifth"}[n]
				list = append(list, "the "+word+" "+time.Weekday(day).String())
			}
		}
	}
	for day := range 7 {
		if c.relative.lastWeek>>day&1 != 0 {
			list = append(list, "the last "+time.Weekday(day).String())
		}
	}
	return and(list)
}

// ordinal returns "the 1st" for 1.
func ordinal(n int) string {
	end := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("the %d%s", n, end)
}

// ranges returns the values of a set as texts, three and more in a row as a range.
func ranges(set uint64, name func(int) string) (list []string) {
	for set != 0 {
		low := bits.TrailingZeros64(set)
		n := bits.TrailingZeros64(^(set >> low))
		switch n {
		case 1:
			list = append(list, name(low))
		case 2:
			list = append(list, name(low), name(low+1))
		default:
			list = append(list, fromTo(name(low), name(low+n-1)))
		}
		set &^= (1<<n - 1) << low
	}
	return list
}

// fromTo returns a range by its ends.
func fromTo(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// and joins the items of a list as a sentence does.
func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
