package cron_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// The times of @since begin at the first one, in the zone of the spec: those of days keep the time of day where clocks
// change, and those of a duration are as far apart in real time.
func TestSinceTimes(t *testing.T) {
	for _, c := range []struct{ spec, from, want string }{
		{"CRON_TZ=Europe/Berlin @since 2026-03-17 14:00 every 7d", "2026-03-01T00:00:00Z",
			"2026-03-17T14:00:00+01:00 2026-03-24T14:00:00+01:00 2026-03-31T14:00:00+02:00"},
		{"CRON_TZ=Europe/Berlin @since 2026-03-17 14:00 every 168h", "2026-03-24T13:00:00Z",
			"2026-03-31T15:00:00+02:00 2026-04-07T15:00:00+02:00"},
		{"CRON_TZ=Europe/Berlin @since 2020-01-01 00:00:30 every 2d", "2026-10-24T22:00:30Z",
			"2026-10-26T00:00:30+01:00 2026-10-28T00:00:30+01:00"},
		{"CRON_TZ=Europe/Berlin @since 2026-03-28 02:30 every 1d", "2026-03-28T12:00:00Z", // 02:30 is skipped
			"2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00"},
		{"CRON_TZ=Europe/Berlin @since 2026-03-29 02:30 every 1d", "2020-01-01T00:00:00Z",
			"2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00"},
		{"CRON_TZ=Europe/Berlin @since 2026-10-25 02:30 every 90m", "2020-01-01T00:00:00Z", // that is twice
			"2026-10-25T02:30:00+02:00 2026-10-25T03:00:00+01:00"},
		{"CRON_TZ=UTC @since 1965-02-03 04:05 every 30d", "1965-03-01T00:00:00Z",
			"1965-03-05T04:05:00Z 1965-04-04T04:05:00Z"},
		{"TZ=UTC  @Since 2026-12-01 14:00:30 Every 1H30M", "2026-12-02T00:00:00Z",
			"2026-12-02T00:30:30Z"},
	} {
		s := cron.MustParse(c.spec)
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at := range s.Upcoming(from) {
			if got = append(got, at.Format(time.RFC3339)); len(got) > strings.Count(c.want, " ") {
				break
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", c.spec, got, want)
		}
	}
}

// Each time of a day schedule is on the day that so many intervals are after the first, by a calendar that has no zone,
// and Prev finds the times that Next has found.
func TestSinceAgreesWithCalendar(t *testing.T) {
	for _, days := range []int{1, 2, 7, 14, 30, 31, 45, 100, 365, 1000, 3660} {
		spec := fmt.Sprintf("CRON_TZ=America/New_York @since 2025-11-30 18:15 every %dd", days)
		s := cron.MustParse(spec)
		zone := s.Location()
		first := time.Date(2025, 11, 30, 18, 15, 0, 0, zone)
		at := first.AddDate(-1, 0, 0)
		for n := range 50 {
			last := at
			at = s.Next(at)
			if want := time.Date(2025, 11, 30+n*days, 18, 15, 0, 0, zone); !at.Equal(want) {
				t.Fatalf("%s: got %v, want %v", spec, at, want)
			}
			if prev := s.Prev(at); n > 0 && !prev.Equal(last) || n == 0 && !prev.IsZero() {
				t.Fatalf("%s: Prev(%v) is %v, want %v", spec, at, prev, last)
			}
			if prev := s.Prev(at.Add(time.Nanosecond)); !prev.Equal(at) {
				t.Fatalf("%s: Prev just after %v is %v", spec, at, prev)
			}
		}
	}
}

// Only days are fixed times, which a clock that is set back does not repeat.
func TestSinceFixed(t *testing.T) {
	for period, want := range map[string]bool{"7d": true, "168h": false} {
		if got := cron.MustParse("@since 2026-12-01 14:00 every " + period).Fixed(); got != want {
			t.Errorf("every %s: fixed is %t", period, got)
		}
	}
}

// The text of a schedule parses to the same schedule, and its description has all of it.
func TestSinceText(t *testing.T) {
	for spec, words := range map[string]string{
		"CRON_TZ=Europe/Berlin @since 2026-12-01 14:00 every 7d":     "every 7 days at 14:00 from 2026-12-01 on, Europe/Berlin",
		"CRON_TZ=UTC @since 2026-12-01 14:00:05 every 1d":            "every day at 14:00:05 from 2026-12-01 on, UTC",
		"CRON_TZ=Europe/Berlin @since 2026-12-01 14:00:05 every 36h": "every 36h from 2026-12-01 14:00:05 on, Europe/Berlin",
	} {
		s := cron.MustParse(spec)
		text, err := s.MarshalText()
		if err != nil || string(text) != spec || s.String() != spec {
			t.Errorf("%s: text %s, string %s, error %v", spec, text, s, err)
		}
		if got := s.Describe(); got != words {
			t.Errorf("%s: described as %q, want %q", spec, got, words)
		}
	}
}

// A spec that is not valid says what is wrong, and how to write it.
func TestSinceErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"@since":                                        "a date, a time",
		"@since 2026-12-01 14:00 7d":                    "the word every",
		"@since 2026-12-01T14:00 every 7d":              "the word every",
		"@since 2026-13-01 14:00 every 7d":              "not a date",
		"@since 2026-02-30 14:00 every 7d":              "not a date",
		"@since 2026-12-01 24:00 every 7d":              "not a time of day",
		"@since 2026-12-01 14:00:00.5 every 7d":         "not a time of day",
		"@since 2026-12-01 14:00 every 0d":              "1d to 3660d",
		"@since 2026-12-01 14:00 every 3661d":           "1d to 3660d",
		"@since 2026-12-01 14:00 every -1h":             "at least one",
		"@since 2026-12-01 14:00 every 1500ms":          "whole seconds",
		"@since 2026-12-01 14:00 every week":            "neither days",
		"@since 2026-12-01 14:00 every 1 week":          "one interval",
		"@extended @since 2026-12-01 14:00 every 7d":    "may not follow",
		"@sinse 2026-12-01 14:00 every 7d":              `"@since"`,
		"CRON_TZ=Europe/Berlin @since 1 14:00 every 7d": "not a date",
	} {
		s, err := cron.Parse(spec)
		var e *cron.ParseError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || s != (cron.Schedule{}) {
			t.Errorf("%s: error %v, want one with %q", spec, err, want)
		}
	}
}
