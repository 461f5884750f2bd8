package cron_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// A schedule that is written as text and read again has the same times, its zone
// included.
func TestScheduleTextRoundTrip(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		spec string
		loc  *time.Location
		text string
	}{
		{"@daily", nil, "@daily"},
		{"30 2 * * *", tokyo, "CRON_TZ=Asia/Tokyo 30 2 * * *"},
		{"30 2 * * *", time.UTC, "CRON_TZ=UTC 30 2 * * *"},
		{"TZ=Europe/Berlin  0 5 * * MON", tokyo, "CRON_TZ=Europe/Berlin 0 5 * * mon"},
		{"@every 90s", nil, "@every 90s"},
	} {
		before, err := cron.ParseIn(test.spec, test.loc)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(before)
		if want := `"` + test.text + `"`; err != nil || string(data) != want {
			t.Errorf("%s: %s, %v; want %s", test.spec, data, err, want)
		}
		var after cron.Schedule
		if err := json.Unmarshal(data, &after); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
		if a, b := before.Next(now), after.Next(now); !a.Equal(b) || a.Location().String() != b.Location().String() {
			t.Errorf("%s: next at %v, after the round trip at %v", test.spec, a, b)
		}
	}
}

// The zero Schedule is the empty text.
func TestScheduleTextOfZero(t *testing.T) {
	s := cron.MustParse("@daily")
	if text, err := (cron.Schedule{}).MarshalText(); err != nil || len(text) != 0 {
		t.Errorf("%q, %v", text, err)
	}
	if err := s.UnmarshalText(nil); err != nil || s != (cron.Schedule{}) {
		t.Errorf("%v, %v", s, err)
	}
}

// A zone that cannot be read again by its name has no text.
func TestScheduleTextOfUnnamedZone(t *testing.T) {
	for _, test := range []struct {
		name   string
		offset int
		want   string
	}{
		{"ship", 5400, `its zone "ship" is not in the time zone database`},
		{"", 0, `its zone "" is not in the time zone database`},
		{"Local", 3600, `its zone "Local" is not in the time zone database`},
		{"UTC", 3600, `its zone "UTC" differs from the one of that name in the time zone database`},
		{"Europe/Berlin", 3600, `its zone "Europe/Berlin" differs from the one of that name`}, // as in winter
		{"Europe/Berlin", 7200, `its zone "Europe/Berlin" differs from the one of that name`}, // as in summer
	} {
		s, err := cron.ParseIn("@daily", time.FixedZone(test.name, test.offset))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := s.MarshalText(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("zone %q: %q, %v; want an error with %q", test.name, text, err, test.want)
		}
	}
}

// A text that is not valid is the error of Parse, and changes nothing.
func TestScheduleUnmarshalTextInvalid(t *testing.T) {
	s := cron.MustParse("@daily")
	if err := s.UnmarshalText([]byte("61 * * * *")); err == nil || s != cron.MustParse("@daily") {
		t.Errorf("%v, %v", s, err)
	}
}
