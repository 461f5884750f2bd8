package cron_test

import (
	"slices"
	"testing"
	"time"
)

// A day must match one of two restricted day fields, but both of them if one begins
// with a star, even with a step or in a list.
func TestScheduleNextDayRule(t *testing.T) {
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

// A leap day is due every four years, but not in a year that ends in 00, unless it is
// a multiple of 400.
func TestScheduleNextLeapDay(t *testing.T) {
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
	// Leap days that are a Saturday or a Sunday.
	weekend := in(t, time.UTC, "0 0 29 2 */6").Next(time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC))
	if want := time.Date(2116, 2, 29, 0, 0, 0, 0, time.UTC); !weekend.Equal(want) {
		t.Errorf("due at %v, want %v", weekend, want)
	}
	// Leap days, and the Mondays of February.
	got := firstDue(t, "0 0 29 2 1", 9)
	want := []string{"2026-02-02 00:00", "2026-02-09 00:00", "2026-02-16 00:00", "2026-02-23 00:00",
		"2027-02-01 00:00", "2027-02-08 00:00", "2027-02-15 00:00", "2027-02-22 00:00", "2028-02-07 00:00"}
	if !slices.Equal(got, want) {
		t.Errorf("due at %q, want %q", got, want)
	}
}
