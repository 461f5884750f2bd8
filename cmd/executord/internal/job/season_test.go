package job

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// Each kind of exception has the times that it says, and their neighbours not.
func TestExceptionHasTimes(t *testing.T) {
	for _, test := range []struct{ text, in, out string }{
		{"2027-12-25", "2027-12-25 00:00, 2027-12-25 23:59", "2027-12-24 23:59, 2027-12-26 00:00, 2028-12-25 12:00"},
		{"12-25", "2027-12-25 12:00, 2031-12-25 12:00", "2027-12-26 00:00"},
		{"02-29", "2028-02-29 12:00", "2027-03-01 12:00"},
		{"2027-12-24..2028-01-02", "2027-12-24 00:00, 2028-01-02 23:59", "2027-12-23 23:59, 2028-01-03 00:00"},
		{"12-24..01-02", "2027-12-24 00:00, 2027-12-31 12:00, 2030-01-02 12:00", "2027-12-23 12:00, 2028-01-03 00:00"},
		{"07-01..08-31", "2027-07-01 00:00, 2027-08-31 23:59", "2027-06-30 12:00, 2027-09-01 00:00"},
		{"sat-sun", "2027-01-02 12:00, 2027-01-03 12:00", "2027-01-01 12:00, 2027-01-04 00:00"},
		{"fri-mon", "2027-01-01 12:00, 2027-01-04 12:00", "2027-01-05 12:00"},
		{"MON,wed", "2027-01-04 12:00, 2027-01-06 12:00", "2027-01-05 12:00"},
		{"09:00-17:30", "2027-01-01 09:00, 2027-01-01 17:29", "2027-01-01 08:59, 2027-01-01 17:30"},
		{"22:00-06:00", "2027-01-01 22:00, 2027-01-02 05:59, 2027-01-02 00:00", "2027-01-02 06:00, 2027-01-01 21:59"},
		{"fri 18:00-24:00", "2027-01-01 18:00, 2027-01-01 23:59", "2027-01-02 00:00, 2027-01-01 17:59, 2027-01-02 18:00"},
		{"fri 22:00-06:00", "2027-01-01 22:00, 2027-01-02 05:59", "2027-01-01 05:59, 2027-01-02 22:00"},
		{"2027-12-31 22:00-02:00", "2027-12-31 22:00, 2028-01-01 01:59", "2027-12-31 01:00, 2028-01-01 22:00"},
	} {
		s := Season{Except: []string{test.text}}
		for times, want := range map[string]string{test.in: "except " + test.text, test.out: ""} {
			for text := range strings.SplitSeq(times, ", ") {
				if got, err := s.Excludes(at(t, text)); got != want || err != nil {
					t.Errorf("%s, %s: %q, %v; want %q", test.text, text, got, err, want)
				}
			}
		}
	}
}

// What is no exception is an error.
func TestParseExceptionRefuses(t *testing.T) {
	for _, text := range []string{"", "xmas", "2027-02-29", "13-01", "2027-12-25..12-26", "2027-12-26..2027-12-25", "mon-", "25:00-26:00",
		"12:00", "12:00-12:00", "24:00-06:00", "12:00-00:00", "mon tue", "mon 12:00-13:00 x", "holidays"} {
		if _, err := ParseException(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// From and until bound a season, of which their days are parts.
func TestSeasonHasEnds(t *testing.T) {
	for _, test := range []struct{ from, until, due, want string }{
		{"2027-03-01", "2027-03-31", "2027-03-01 00:00", ""},
		{"2027-03-01", "2027-03-31", "2027-03-31 23:59", ""},
		{"2027-03-01", "2027-03-31", "2027-02-28 23:59", "it is before 2027-03-01"},
		{"2027-03-01", "2027-03-31", "2027-04-01 00:00", "it is after 2027-03-31"},
		{"2027-03-01 12:00", "2027-03-31 12:00", "2027-03-01 11:59", "it is before 2027-03-01 12:00"},
		{"2027-03-01 12:00", "2027-03-31 12:00", "2027-03-31 12:00", ""},
		{"2027-03-01 12:00", "2027-03-31 12:00", "2027-03-31 12:01", "it is after 2027-03-31 12:00"},
		{"", "", "2027-03-31 12:01", ""},
	} {
		if got, err := (Season{From: test.from, Until: test.until}).Excludes(at(t, test.due)); got != test.want || err != nil {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
}

// A file has an exception a line, with comments and names; what is wrong in it excludes nothing and is an error.
func TestSeasonReadsFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "holidays")
	text := "\ufeff2027-05-01\n# of 2027\n\n2027-12-25 Christmas Day\n12-31\tNew Year's Eve # half a day\nsat 18:00-24:00\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := Season{Except: []string{name}}
	for due, want := range map[string]string{
		"2027-05-01 03:00": "except 2027-05-01, in " + name,
		"2027-12-25 03:00": "except 2027-12-25 Christmas Day, in " + name,
		"2030-12-31 03:00": "except 12-31\tNew Year's Eve, in " + name,
		"2027-01-02 18:30": "except sat 18:00-24:00, in " + name,
		"2027-01-02 17:30": "",
	} {
		if got, err := s.Excludes(at(t, due)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", due, got, err, want)
		}
	}
	if err := os.WriteFile(name, []byte("xmas 2027\n12-25\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Excludes(at(t, "2027-12-24 03:00")); got != "" || err == nil || err.Error() != name+`:1: "xmas 2027" is not an exception` {
		t.Errorf("%q, %v", got, err)
	}
	if got, _ := s.Excludes(at(t, "2027-12-25 03:00")); got == "" {
		t.Error("a mistake in a line above hides an exception")
	}
	s.Except[0] += ".none"
	if got, err := s.Excludes(at(t, "2027-12-25 03:00")); got != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %q, %v", got, err)
	}
}

// The next time that counts is the one that is found by looking at each, however many do not count before it, on days
// of 23 and 25 hours, too.
func TestCalendarNextIsFirstTimeThatCounts(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	santiago, err := time.LoadLocation("America/Santiago") // whose clocks change at midnight
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []*time.Location{time.UTC, berlin, santiago} {
		for _, season := range []Season{
			{}, {From: "2026-09-08"}, {Until: "2026-09-05 20:00"}, {From: "2026-10-01", Until: "2026-09-01"},
			{Except: []string{"sat-sun"}}, {Except: []string{"22:00-06:00", "2026-09-06"}}, {Except: []string{"fri 18:00-24:00", "09-05..09-06"}},
		} {
			for _, start := range []time.Time{
				time.Date(2026, 9, 4, 12, 0, 0, 0, zone), time.Date(2026, 4, 3, 12, 0, 0, 0, zone), time.Date(2026, 10, 24, 12, 0, 0, 0, zone),
			} {
				every := Grid{Start: start, Every: 7 * time.Minute}
				calendar, _ := season.Calendar()
				got, end := start, start.AddDate(0, 0, 4)
				for want := every.Next(start); want.Before(end); want = every.Next(want) {
					if calendar.Excludes(want.In(zone)) != "" {
						continue
					}
					if got = calendar.Next(every, got, zone); !got.Equal(want) {
						t.Fatalf("%v in %v: %v, want %v", season, zone, got, want)
					}
				}
			}
		}
	}
	everySecond := Grid{Start: time.Date(2026, 11, 27, 23, 0, 0, 0, time.UTC), Every: time.Second}
	for _, test := range []struct {
		season Season
		want   string
	}{
		{Season{Except: []string{"11-28..02-28"}}, "2027-03-01 00:00"},
		{Season{From: "2036-01-01"}, "2036-01-01 00:00"},
		{Season{From: "2036-01-01", Until: "2035-01-01"}, "0001-01-01 00:00"},
		{Season{Except: []string{"sun-sat"}}, "0001-01-01 00:00"},
	} {
		calendar, _ := test.season.Calendar()
		if got := calendar.Next(everySecond, at(t, "2026-11-28 00:00"), time.UTC); got.Format("2006-01-02 15:04") != test.want {
			t.Errorf("%v: %v, want %s", test.season, got, test.want)
		}
	}
}
