package cron_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

const minutes = "2006-01-02 15:04"

// firstDue formats the first few due times of spec in UTC after a Thursday's midnight.
func firstDue(t *testing.T, spec string, n int) []string {
	t.Helper()
	var got []string
	for due := range in(t, time.UTC, spec).Upcoming(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		got = append(got, due.Format(minutes))
		if len(got) == n {
			break
		}
	}
	return got
}

// Two spellings of one schedule are due at the same times.
func TestSpellings(t *testing.T) {
	for _, tt := range []struct{ spec, same string }{
		{"*/15 * * * *", "0,15,30,45 * * * *"},
		{"5/15 * * * *", "5,20,35,50 * * * *"},
		{"10-40/10 * * * *", "10,20,30,40 * * * *"},
		{"0-59 0-23 1-31 1-12 0-7", "* * * * *"},
		{"05 007 * * *", "5 7 * * *"},
		{"0 0 1 jan,Apr,JUL *", "0 0 1 1,4,7 *"},
		{"0 0 1 oct-dec *", "0 0 1 10-12 *"},
		{"0 0 1 jan-dec/6 *", "0 0 1 1,7 *"},
		{"0 0 * * sun", "0 0 * * 0"},
		{"0 0 * * 7", "0 0 * * 0"},
		{"0 0 * * 5-7", "0 0 * * 0,5,6"},
		{"0 0 * * fri-sun", "0 0 * * 0,5,6"},
		{"0 0 * * MON-SUN", "0 0 * * 0-6"},
		{"0 0 * * sun-tue", "0 0 * * 0-2"},
		{"0 0 * * sun-sun", "0 0 * * 0"},
		{"0 0 * * */2", "0 0 * * 0,2,4,6"},
		{"0 0 * * 1/2", "0 0 * * 1,3,5"},
		{"0 0 * * 7/1", "0 0 * * 7"},
		{"0 0 5-5 * *", "0 0 5 * *"},
		{"1,1,1-2 * * * *", "1,2 * * * *"},
		{" \t0  0\t* * *  \r\n", "0 0 * * *"},
		{"@yearly", "0 0 1 1 *"},
		{"@annually", "0 0 1 1 *"},
		{"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"},
		{"@daily", "0 0 * * *"},
		{"@Midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
		{"TZ=UTC 0 0 * * *", "0 0 * * *"},
	} {
		got, want := firstDue(t, tt.spec, 100), firstDue(t, tt.same, 100)
		if !slices.Equal(got, want) {
			t.Errorf("%q and %q differ:\n\t%q\n\t%q", tt.spec, tt.same, got[:9], want[:9])
		}
	}
}

// Restricted day fields are joined by or; a leading star, even with a step or in a
// list, makes it an and.
func TestDayRule(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want []string
	}{
		{"0 0 13 * fri", []string{"2026-01-02", "2026-01-09", "2026-01-13", "2026-01-16"}},
		{"0 0 13 * *", []string{"2026-01-13", "2026-02-13", "2026-03-13"}},
		{"0 0 * * fri", []string{"2026-01-02", "2026-01-09", "2026-01-16"}},
		{"0 0 */2 * fri", []string{"2026-01-09", "2026-01-23", "2026-02-13"}},
		{"0 0 13 * */2", []string{"2026-01-13", "2026-06-13", "2026-08-13"}},
		{"0 0 *,13 * fri", []string{"2026-01-02", "2026-01-09", "2026-01-16"}},
		{"0 0 1-31 * fri", []string{"2026-01-02", "2026-01-03", "2026-01-04"}},
		{"0 0 30 2 fri", []string{"2026-02-06", "2026-02-13", "2026-02-20"}},
		{"0 0 31 * *", []string{"2026-01-31", "2026-03-31", "2026-05-31", "2026-07-31"}},
	} {
		var got []string
		for _, s := range firstDue(t, tt.spec, len(tt.want)) {
			got = append(got, s[:len("2006-01-02")])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q is due on %q, want %q", tt.spec, got, tt.want)
		}
	}
}

// Leap days come every four years, but not in the years that end in 00, unless 400
// divides them.
func TestLeapDay(t *testing.T) {
	s := in(t, time.UTC, "0 0 29 2 *")
	after := time.Date(2092, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, year := range []int{2096, 2104, 2108} {
		after = s.Next(after)
		if want := time.Date(year, 2, 29, 0, 0, 0, 0, time.UTC); !after.Equal(want) {
			t.Fatalf("due at %v, want %v", after, want)
		}
	}
	if got := s.Next(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)); got.Year() != 2000 {
		t.Errorf("due at %v, want in 2000", got)
	}
	// Both at once: the Monday leap days on either side of 2100 lie 40 years apart.
	monday := in(t, time.UTC, "0 0 29 2 *").Upcoming(time.Date(2072, 1, 1, 0, 0, 0, 0, time.UTC))
	for due := range monday {
		if due.Weekday() == time.Monday {
			if due.Year() != 2072 {
				t.Errorf("first Monday leap day in %d, want 2072", due.Year())
			}
			break
		}
	}
	// Either one: leap days and the Mondays of February.
	got := firstDue(t, "0 0 29 2 1", 9)
	want := []string{"2026-02-02 00:00", "2026-02-09 00:00", "2026-02-16 00:00", "2026-02-23 00:00",
		"2027-02-01 00:00", "2027-02-08 00:00", "2027-02-15 00:00", "2027-02-22 00:00", "2028-02-07 00:00"}
	if !slices.Equal(got, want) {
		t.Errorf("due at %q, want %q", got, want)
	}
}

// Next is strictly later than after, to the nanosecond, and whole minutes are due
// on the minute.
func TestNextIsStrictlyLater(t *testing.T) {
	s := in(t, time.UTC, "* * * * *")
	minute := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	for _, tt := range []struct{ after, want time.Time }{
		{minute.Add(-1), minute},
		{minute, minute.Add(time.Minute)},
		{minute.Add(1), minute.Add(time.Minute)},
		{minute.Add(time.Minute - 1), minute.Add(time.Minute)},
		{time.Unix(-60, -1), time.Unix(-60, 0)},
		{time.Unix(-60, 1), time.Unix(0, 0)},
	} {
		if got := s.Next(tt.after); !got.Equal(tt.want) {
			t.Errorf("Next(%v) = %v, want %v", tt.after, got, tt.want)
		}
	}
}

// Next answers at the ends of time, in the first and the last common year, and for the zero Time.
func TestNextAtExtremes(t *testing.T) {
	ny := zone(t, "America/New_York")
	for _, spec := range []string{"* * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 29 2 */6", "*/7 5 31 12 *"} {
		for _, loc := range []*time.Location{time.UTC, ny, zone(t, "Antarctica/Troll"), time.FixedZone("far", 23*60*60)} {
			s := in(t, loc, spec)
			for _, year := range []int{-5_000_000, -1, 0, 1, 1969, 1970, 9999, 10_000, 5_000_000} {
				after := time.Date(year, 12, 31, 23, 59, 59, 0, loc)
				if got := s.Next(after); !got.After(after) || got.After(after.AddDate(41, 0, 0)) {
					t.Errorf("%q in %v: Next(%v) = %v", spec, loc, after, got)
				}
			}
			if got := s.Next(time.Time{}); !got.After(time.Time{}) {
				t.Errorf("%q in %v: Next of the zero Time is %v", spec, loc, got)
			}
			for _, unix := range []int64{math.MinInt64, math.MinInt64 / 2, 1 << 56, math.MaxInt64 / 2, math.MaxInt64} {
				if got := s.Next(time.Unix(unix, 0)); !got.IsZero() {
					t.Errorf("%q in %v: Next(Unix(%d)) = %v, want never", spec, loc, unix, got)
				}
			}
		}
	}
}

// The zero Schedule is never due and has all the other answers of a Schedule.
func TestZeroSchedule(t *testing.T) {
	var s cron.Schedule
	if got := s.Next(time.Now()); !got.IsZero() {
		t.Errorf("due at %v, want never", got)
	}
	for due := range s.Upcoming(time.Now()) {
		t.Errorf("due at %v, want never", due)
	}
	if s.String() != "" || s.Location() != time.UTC {
		t.Errorf("String %q, Location %v", s.String(), s.Location())
	}
}

// @every counts real time from after, to the nanosecond, whatever clocks do.
func TestEvery(t *testing.T) {
	ny := zone(t, "America/New_York")
	after := time.Date(2026, 3, 8, 1, 59, 59, 123456789, ny)
	for _, tt := range []struct {
		spec string
		want time.Duration
	}{
		{"@every 1h30m", 90 * time.Minute},
		{"@EVERY 90S", 90 * time.Second},
		{"@every 1ns", 1},
		{"@every 1.5us", 1500},
		{"@every 2562047h47m16.854775807s", math.MaxInt64},
	} {
		got := in(t, ny, tt.spec).Next(after.UTC())
		if !got.Equal(after.Add(tt.want)) || got.Location() != ny {
			t.Errorf("%q: Next = %v, want %v later", tt.spec, got, tt.want)
		}
	}
	if got := in(t, ny, "@every 24h").Next(time.Unix(math.MaxInt64-62135596800, 0)); !got.IsZero() {
		t.Errorf("at the end of time: %v, want never", got)
	}
}

// No result carries a monotonic reading, which would survive changes of the system clock.
func TestNextHasNoMonotonicReading(t *testing.T) {
	for _, spec := range []string{"* * * * *", "@every 1h"} {
		if got := cron.MustParse(spec).Next(time.Now()); strings.Contains(got.String(), "m=") {
			t.Errorf("%q: Next = %v", spec, got)
		}
	}
}

// The prefix overrides the zone of ParseIn, which overrides time.Local.
func TestLocation(t *testing.T) {
	tokyo := zone(t, "Asia/Tokyo")
	for _, tt := range []struct {
		spec string
		loc  *time.Location
		want string
	}{
		{"0 0 * * *", nil, time.Local.String()},
		{"0 0 * * *", tokyo, "Asia/Tokyo"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", tokyo, "Europe/Berlin"},
		{"TZ=UTC @every 1h", tokyo, "UTC"},
		{"\tTZ=Asia/Kolkata\t@daily", nil, "Asia/Kolkata"},
	} {
		s := in(t, tt.loc, tt.spec)
		if got := s.Location().String(); got != tt.want {
			t.Errorf("%q: Location %s, want %s", tt.spec, got, tt.want)
		}
		if got := s.Next(time.Unix(0, 0)).Location(); got != s.Location() {
			t.Errorf("%q: Next is in %v, want %v", tt.spec, got, s.Location())
		}
	}
	if got := cron.MustParse("0 0 * * *").Location(); got != time.Local {
		t.Errorf("without any zone: %v, want Local", got)
	}
}

// String gives the spec in one spelling.
func TestString(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"  0 \t0 * *   MON-Fri\n", "0 0 * * mon-fri"},
		{"@Daily", "@daily"},
		{"@EVERY 1H", "@every 1h"},
		{"TZ=Asia/Tokyo  0 0 * * *", "CRON_TZ=Asia/Tokyo 0 0 * * *"},
		{"CRON_TZ=UTC @hourly", "CRON_TZ=UTC @hourly"},
	} {
		if got := in(t, nil, tt.spec).String(); got != tt.want {
			t.Errorf("%q: String %q, want %q", tt.spec, got, tt.want)
		}
	}
}

// Upcoming yields what repeated Next gives, and stops when told.
func TestUpcoming(t *testing.T) {
	s := in(t, time.UTC, "0 9 * * mon")
	after := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	n := 0
	for due := range s.Upcoming(after) {
		after = s.Next(after)
		if !due.Equal(after) {
			t.Fatalf("due at %v, want %v", due, after)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d due times, want 3", n)
	}
}

// MustParse panics with the message of the error.
func TestMustParsePanics(t *testing.T) {
	defer func() {
		const want = `cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23`
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	cron.MustParse("0 25 * * *")
}
