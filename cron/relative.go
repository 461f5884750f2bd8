package cron

import "math/bits"

// relativeDays are the days of the extended language that fall on another date in
// each month.
type relativeDays struct {
	last        uint32   // bit n: n days before the last day of the month (L, L-n)
	nearest     uint32   // bits 0-30: the weekday nearest to the day 1-31 (15W)
	lastNearest uint32   // bit n: the weekday nearest to n days before the last day (LW, L-nW)
	nth         [7]uint8 // by weekday: bits 1-5 for the first to the fifth in the month (fri#2)
	lastWeek    uint8    // bits 0-6: the last of that weekday in the month (friL)
}

// ofMonth returns the days of a month that day-of-month selects, with bit 0 for its
// first day. The month has length days, and its first is the given weekday.
func (r *relativeDays) ofMonth(weekday, length int) (set uint32) {
	for rest := r.last & (1<<length - 1); rest != 0; rest &= rest - 1 {
		set |= 1 << (length - 1 - bits.TrailingZeros32(rest))
	}
	for rest := r.nearest & (1<<length - 1); rest != 0; rest &= rest - 1 {
		set |= 1 << nearestWeekday(bits.TrailingZeros32(rest), weekday, length)
	}
	for rest := r.lastNearest & (1<<length - 1); rest != 0; rest &= rest - 1 {
		set |= 1 << nearestWeekday(length-1-bits.TrailingZeros32(rest), weekday, length)
	}
	return set
}

// nearestWeekday returns the day from Monday to Friday that is nearest to day and in
// the same month. Days are counted from 0.
func nearestWeekday(day, weekday, length int) int {
	switch (weekday + day) % 7 {
	case 0: // Sunday
		if day == length-1 {
			return day - 2
		}
		return day + 1
	case 6:
		if day == 0 {
			return day + 2
		}
		return day - 1
	}
	return day
}

// ofWeek returns the days of a month that day-of-week selects, as ofMonth does.
func (r *relativeDays) ofWeek(weekday, length int) (set uint32) {
	for day := range 7 {
		first := (day - weekday + 7) % 7 // the first such day of the month, from 0
		for rest := r.nth[day]; rest != 0; rest &= rest - 1 {
			set |= 1 << (first + 7*(bits.TrailingZeros8(rest)-1))
		}
		if r.lastWeek>>day&1 != 0 {
			set |= 1 << (first + (length-1-first)/7*7)
		}
	}
	return set & (1<<length - 1)
}

// The years that a field of years may have.
const (
	firstYear = 1970
	lastYear  = 2099
)

// A yearSet is a set of years, with bit 0 of the first word for firstYear. The zero
// value has every year.
type yearSet [3]uint64

func (y *yearSet) limited() bool { return *y != yearSet{} }

func (y *yearSet) add(year int) { y[(year-firstYear)/64] |= 1 << ((year - firstYear) % 64) }

func (y *yearSet) has(year int) bool {
	if !y.limited() {
		return true
	}
	return year >= firstYear && year <= lastYear && y[(year-firstYear)/64]>>((year-firstYear)%64)&1 != 0
}

// from returns the first year of a limited set that is not before year.
func (y *yearSet) from(year int) (int, bool) {
	for year = max(year, firstYear); year <= lastYear; year++ {
		if y.has(year) {
			return year, true
		}
	}
	return 0, false
}

// upTo returns the last year of a limited set that is not after year.
func (y *yearSet) upTo(year int) (int, bool) {
	for year = min(year, lastYear); year >= firstYear; year-- {
		if y.has(year) {
			return year, true
		}
	}
	return 0, false
}
