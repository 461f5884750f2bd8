package cron_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

const minuteLayout = "2006-01-02 15:04"

// firstDue returns the first n due times of spec in UTC from 2026 on, as text. 2026
// begins with a Thursday.
func firstDue(t *testing.T, spec string, n int) []string {
	t.Helper()
	var got []string
	for due := range in(t, time.UTC, spec).Upcoming(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		got = append(got, due.Format(minuteLayout))
		if len(got) == n {
			break
		}
	}
	return got
}

// Next returns a time strictly later than after, to the nanosecond, and due times are
// whole minutes.
func TestScheduleNextIsStrictlyLater(t *testing.T) {
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

// Next returns a later time in any year that it supports, and the zero Time beyond.
func TestScheduleNextAtExtremes(t *testing.T) {
	ny := zone(t, "America/New_York")
	for _, spec := range []string{"* * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 29 2 */6", "*/7 5 31 12 *"} {
		far := time.FixedZone("far", 23*60*60)
		for _, loc := range []*time.Location{time.UTC, ny, zone(t, "Antarctica/Troll"), far} {
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

// The zero Schedule is never due, and its other methods may be called.
func TestScheduleZeroIsNeverDue(t *testing.T) {
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

// @every adds real time to after, to the nanosecond, independent of clock changes.
func TestScheduleEvery(t *testing.T) {
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

// Next returns a time without a monotonic reading, which would ignore changes of the
// system clock.
func TestScheduleNextHasNoMonotonicReading(t *testing.T) {
	for _, spec := range []string{"* * * * *", "@every 1h"} {
		if got := cron.MustParse(spec).Next(time.Now()); strings.Contains(got.String(), "m=") {
			t.Errorf("%q: Next = %v", spec, got)
		}
	}
}

// String returns the spec in one spelling.
func TestScheduleString(t *testing.T) {
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

// Schedules with a star in the second, the minute or the hour, and fixed intervals, have no fixed times.
func TestScheduleFixed(t *testing.T) {
	for spec, fixed := range map[string]bool{
		"* * * * *": false, "*/15 * * * *": false, "30 * * * *": false, "*/5 2 * * *": false, "@hourly": false, "@every 1h": false,
		"30 2 * * *": true, "0,30 1-5 * * 1": true, "@daily": true, "CRON_TZ=UTC 0 0 1 * *": true,
	} {
		if s := cron.MustParse(spec); s.Fixed() != fixed {
			t.Errorf("%s: %t", spec, s.Fixed())
		}
	}
}

// Upcoming yields the times of repeated calls of Next, and stops when the loop ends.
func TestScheduleUpcoming(t *testing.T) {
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
