package cron_test

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // so that every machine has the zones

	"github.com/executor-go/executor/cron"
)

// zone loads a zone or fails the test.
func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return loc
}

// in parses spec in loc or fails the test.
func in(tb testing.TB, loc *time.Location, spec string) cron.Schedule {
	tb.Helper()
	s, err := cron.ParseIn(spec, loc)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// between returns the due times of s from start up to but not including end.
func between(s cron.Schedule, start, end time.Time) []time.Time {
	var due []time.Time
	for t := range s.Upcoming(start.Add(-1)) {
		if !t.Before(end) {
			break
		}
		due = append(due, t)
	}
	return due
}

// On the nights when New York changes its clocks, a schedule with a star in the minute
// or the hour follows real time, and a fixed time is due once. The windows are the four
// real hours from 00:00 to 05:00 in spring and the five from 00:00 to 04:00 in fall.
func TestScheduleNextNewYorkCounts(t *testing.T) {
	ny := zone(t, "America/New_York")
	spring := [2]time.Time{time.Date(2026, 3, 8, 0, 0, 0, 0, ny), time.Date(2026, 3, 8, 5, 0, 0, 0, ny)}
	fall := [2]time.Time{time.Date(2026, 11, 1, 0, 0, 0, 0, ny), time.Date(2026, 11, 1, 4, 0, 0, 0, ny)}
	if d := spring[1].Sub(spring[0]); d != 4*time.Hour {
		t.Fatalf("spring window is %v", d)
	}
	if d := fall[1].Sub(fall[0]); d != 5*time.Hour {
		t.Fatalf("fall window is %v", d)
	}
	for _, tt := range []struct {
		spec         string
		spring, fall int
	}{
		{"* * * * *", 240, 300},
		{"*/15 * * * *", 16, 20},
		{"0 * * * *", 4, 5},
		{"30 2 * * *", 1, 1},
		{"30 1 * * *", 1, 1},
	} {
		s := in(t, ny, tt.spec)
		if n := len(between(s, spring[0], spring[1])); n != tt.spring {
			t.Errorf("%q in spring: due %d times, want %d", tt.spec, n, tt.spring)
		}
		if n := len(between(s, fall[0], fall[1])); n != tt.fall {
			t.Errorf("%q in fall: due %d times, want %d", tt.spec, n, tt.fall)
		}
	}
}

// Due times are as documented at every kind of clock change that zones have had. The
// times are wall times with the offset, which distinguishes the passes of a repeat.
func TestScheduleNextClockChanges(t *testing.T) {
	const layout = "2006-01-02 15:04:05 -07:00:00"
	for _, tt := range []struct {
		name, zone, spec string
		start, end       string // wall times in zone, neither ambiguous
		want             []string
	}{
		{"a time in the gap is due right after it", "America/New_York", "30 2 * * *",
			"2026-03-07 00:00", "2026-03-10 00:00", []string{
				"2026-03-07 02:30:00 -05:00:00", "2026-03-08 03:00:00 -04:00:00", "2026-03-09 02:30:00 -04:00:00"}},
		{"several times in a gap are due as one", "America/New_York", "0,20,40 2 * * *",
			"2026-03-08 00:00", "2026-03-09 00:00", []string{
				"2026-03-08 03:00:00 -04:00:00"}},
		{"a time in the gap and one right after it are due as one", "America/New_York", "0 1-3 * * *",
			"2026-03-08 00:00", "2026-03-09 00:00", []string{
				"2026-03-08 01:00:00 -05:00:00", "2026-03-08 03:00:00 -04:00:00"}},
		{"a time in the gap and a later one are due apart", "America/New_York", "30 2,3 * * *",
			"2026-03-08 00:00", "2026-03-09 00:00", []string{
				"2026-03-08 03:00:00 -04:00:00", "2026-03-08 03:30:00 -04:00:00"}},
		{"a starred minute has none in the gap", "America/New_York", "*/15 2 * * *",
			"2026-03-08 00:00", "2026-03-09 00:00", nil},
		{"a starred hour with a step follows the wall clock", "America/New_York", "0 */2 * * *",
			"2026-03-08 00:00", "2026-03-08 07:00", []string{
				"2026-03-08 00:00:00 -05:00:00", "2026-03-08 04:00:00 -04:00:00", "2026-03-08 06:00:00 -04:00:00"}},
		{"the first pass of a repeat counts", "America/New_York", "30 1 * * *",
			"2026-11-01 00:00", "2026-11-02 00:00", []string{
				"2026-11-01 01:30:00 -04:00:00"}},
		{"each time of a list in a repeat is due once", "America/New_York", "0,30 1-2 * * *",
			"2026-11-01 00:00", "2026-11-02 00:00", []string{
				"2026-11-01 01:00:00 -04:00:00", "2026-11-01 01:30:00 -04:00:00",
				"2026-11-01 02:00:00 -05:00:00", "2026-11-01 02:30:00 -05:00:00"}},
		{"a starred minute is due in both passes", "America/New_York", "*/30 1 * * *",
			"2026-11-01 00:00", "2026-11-02 00:00", []string{
				"2026-11-01 01:00:00 -04:00:00", "2026-11-01 01:30:00 -04:00:00",
				"2026-11-01 01:00:00 -05:00:00", "2026-11-01 01:30:00 -05:00:00"}},
		{"a starred minute is due in both passes of its only day", "America/New_York", "*/30 1 1 11 *",
			"2026-10-25 00:00", "2027-10-25 00:00", []string{
				"2026-11-01 01:00:00 -04:00:00", "2026-11-01 01:30:00 -04:00:00",
				"2026-11-01 01:00:00 -05:00:00", "2026-11-01 01:30:00 -05:00:00"}},
		{"the instant at which the repeat begins is not a second 01:00", "America/New_York", "0 1 * * *",
			"2026-11-01 00:00", "2026-11-02 00:00", []string{
				"2026-11-01 01:00:00 -04:00:00"}},
		{"Lord Howe skips half an hour", "Australia/Lord_Howe", "15 2 * * *",
			"2026-10-04 00:00", "2026-10-05 00:00", []string{
				"2026-10-04 02:30:00 +11:00:00"}},
		{"Lord Howe repeats half an hour", "Australia/Lord_Howe", "45 1 * * *",
			"2026-04-05 00:00", "2026-04-06 00:00", []string{
				"2026-04-05 01:45:00 +11:00:00"}},
		{"São Paulo has no midnight, and the day before has nothing", "America/Sao_Paulo", "0 0 * * *",
			"2018-11-03 00:00", "2018-11-05 12:00", []string{
				"2018-11-03 00:00:00 -03:00:00", "2018-11-04 01:00:00 -02:00:00", "2018-11-05 00:00:00 -02:00:00"}},
		{"a weekly time on a Sunday without midnight", "America/Sao_Paulo", "30 0 * * sun",
			"2018-11-03 00:00", "2018-11-05 12:00", []string{
				"2018-11-04 01:00:00 -02:00:00"}},
		{"São Paulo repeats the hour before midnight", "America/Sao_Paulo", "30 23 * * sat",
			"2018-02-17 12:00", "2018-02-19 00:00", []string{
				"2018-02-17 23:30:00 -02:00:00"}},
		{"Havana repeats the hour after midnight", "America/Havana", "30 0 * * *",
			"2026-10-31 12:00", "2026-11-02 00:00", []string{
				"2026-11-01 00:30:00 -04:00:00"}},
		{"Samoa skips a day, whose times are due right after it", "Pacific/Apia", "0 8 * * *",
			"2011-12-29 00:00", "2012-01-01 00:00", []string{
				"2011-12-29 08:00:00 -10:00:00", "2011-12-31 00:00:00 +14:00:00", "2011-12-31 08:00:00 +14:00:00"}},
		{"a monthly time on the day that Samoa skipped", "Pacific/Apia", "15 12 30 * *",
			"2011-12-01 00:00", "2012-02-01 00:00", []string{
				"2011-12-31 00:00:00 +14:00:00", "2012-01-30 12:15:00 +14:00:00"}},
		{"a starred hour has none on the day that Samoa skipped", "Pacific/Apia", "0 */12 * * *",
			"2011-12-29 00:00", "2012-01-01 00:00", []string{
				"2011-12-29 00:00:00 -10:00:00", "2011-12-29 12:00:00 -10:00:00",
				"2011-12-31 00:00:00 +14:00:00", "2011-12-31 12:00:00 +14:00:00"}},
		{"Kwajalein repeated nearly a day for good", "Pacific/Kwajalein", "0 12 * * *",
			"1969-09-29 00:00", "1969-10-02 00:00", []string{
				"1969-09-29 12:00:00 +11:00:00", "1969-09-30 12:00:00 +11:00:00", "1969-10-01 12:00:00 -12:00:00"}},
		{"Casablanca goes back for Ramadan", "Africa/Casablanca", "30 2 * * *",
			"2026-02-14 00:00", "2026-02-16 00:00", []string{
				"2026-02-14 02:30:00 +01:00:00", "2026-02-15 02:30:00 +01:00:00"}},
		{"Casablanca comes back after Ramadan", "Africa/Casablanca", "30 2 * * *",
			"2026-03-22 00:00", "2026-03-24 00:00", []string{
				"2026-03-22 03:00:00 +01:00:00", "2026-03-23 02:30:00 +01:00:00"}},
		{"Troll skips two hours", "Antarctica/Troll", "0 1,2,4 * * *",
			"2026-03-29 00:00", "2026-03-30 00:00", []string{
				"2026-03-29 03:00:00 +02:00:00", "2026-03-29 04:00:00 +02:00:00"}},
		{"Troll repeats two hours", "Antarctica/Troll", "30 1-3 * * *",
			"2026-10-25 00:00", "2026-10-26 00:00", []string{
				"2026-10-25 01:30:00 +02:00:00", "2026-10-25 02:30:00 +02:00:00", "2026-10-25 03:30:00 +00:00:00"}},
		{"Nepal moved by a quarter of an hour for good", "Asia/Kathmandu", "5 0 * * *",
			"1985-12-31 00:00", "1986-01-03 00:00", []string{
				"1985-12-31 00:05:00 +05:30:00", "1986-01-01 00:15:00 +05:45:00", "1986-01-02 00:05:00 +05:45:00"}},
		{"Caracas went back by half an hour for good", "America/Caracas", "45 2 * * *",
			"2007-12-09 00:00", "2007-12-10 00:00", []string{
				"2007-12-09 02:45:00 -04:00:00"}},
		{"Liberia skipped an odd number of seconds", "Africa/Monrovia", "10 0 * * *",
			"1972-01-06 00:00", "1972-01-08 00:00", []string{
				"1972-01-06 00:10:00 -00:44:30", "1972-01-07 00:44:30 +00:00:00"}},
		{"whole minutes of the wall clock count after an odd change", "Africa/Monrovia", "*/30 * * * *",
			"1972-01-06 23:00", "1972-01-07 02:00", []string{
				"1972-01-06 23:00:00 -00:44:30", "1972-01-06 23:30:00 -00:44:30",
				"1972-01-07 01:00:00 +00:00:00", "1972-01-07 01:30:00 +00:00:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loc := zone(t, tt.zone)
			start, err := time.ParseInLocation("2006-01-02 15:04", tt.start, loc)
			if err != nil {
				t.Fatal(err)
			}
			end, err := time.ParseInLocation("2006-01-02 15:04", tt.end, loc)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, due := range between(in(t, loc, tt.spec), start, end) {
				got = append(got, due.Format(layout))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q is due\n\t%q, want\n\t%q", tt.spec, got, tt.want)
			}
		})
	}
}

// Next depends on the instant alone, not on the zone of its argument, also in the
// second pass of a repeat.
func TestScheduleNextFromAnyZone(t *testing.T) {
	ny := zone(t, "America/New_York")
	secondPass := time.Date(2026, 11, 1, 6, 10, 0, 0, time.UTC) // 01:10 EST, after 01:30 EDT
	for _, tt := range []struct {
		spec string
		want time.Time
	}{
		{"30 1 * * *", time.Date(2026, 11, 2, 1, 30, 0, 0, ny)},
		{"59 1 * * *", time.Date(2026, 11, 2, 1, 59, 0, 0, ny)},
		{"0 2 * * *", time.Date(2026, 11, 1, 2, 0, 0, 0, ny)},
		{"*/30 * * * *", time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC)},
	} {
		s := in(t, ny, tt.spec)
		for _, loc := range []*time.Location{time.UTC, ny, zone(t, "Asia/Kolkata"), time.FixedZone("", 4711)} {
			got := s.Next(secondPass.In(loc))
			if !got.Equal(tt.want) || got.Location() != ny {
				t.Errorf("%q asked in %v: %v, want %v", tt.spec, loc, got, tt.want)
			}
		}
	}
}

// A starred schedule all of whose minutes are in gaps of its zone is never due, and
// Next returns. The same schedule with fixed times is due at the end of each gap.
func TestScheduleNextAlwaysInGap(t *testing.T) {
	loc := crafted(t, "AST0ADT,J60/2,J300/2") // no 02:xx on March 1
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := in(t, loc, "*/5 2 1 3 *").Next(start); !got.IsZero() {
		t.Errorf("due at %v, want never", got)
	}
	got := in(t, loc, "5 2 1 3 *").Next(start)
	if want := time.Date(2026, 3, 1, 3, 0, 0, 0, loc); !got.Equal(want) {
		t.Errorf("due at %v, want %v", got, want)
	}
}

// The era of the last day of a leap year lasts until midnight, if the changes of the
// zone follow a rule. Otherwise a search would visit 86,400 eras on that day.
func TestEraLastDayOfLeapYear(t *testing.T) {
	for _, rule := range []string{"EST5EDT,M3.2.0,M11.1.0", "AEST-10AEDT,M10.1.0,M4.1.0/3", "<-03>3"} {
		loc := crafted(t, rule)
		for hour := range 24 {
			now := time.Date(2028, 12, 31, hour, 0, 0, 0, time.UTC)
			midnight := time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)
			if end := time.Unix(cron.EraEnd(loc, now.Unix()), 0).UTC(); end.Before(midnight) {
				t.Errorf("%s: the era of %v ends at %v, want midnight or later", rule, now, end)
			}
		}
	}
}

// crafted returns a zone that follows a POSIX TZ rule and has no other changes.
func crafted(tb testing.TB, rule string) *time.Location {
	tb.Helper()
	header := func(counts ...byte) string {
		s := "TZif2" + string(make([]byte, 15))
		for _, n := range counts {
			s += "\x00\x00\x00" + string(rune(n))
		}
		return s
	}
	// Counts: UT and standard indicators, leap seconds, transitions, types, letters.
	const utc = "\x00\x00\x00\x00\x00\x00" + "AST\x00" // one type: offset, no DST, its name
	data := header(0, 0, 0, 0, 1, 4) + utc + header(0, 0, 0, 0, 1, 4) + utc + "\n" + rule + "\n"
	loc, err := time.LoadLocationFromTZData("Crafted", []byte(data))
	if err != nil {
		tb.Fatal(err)
	}
	return loc
}
