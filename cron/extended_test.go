package cron_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// dueOf returns the first due times of a schedule in 2026 and later, in its zone.
func dueOf(s cron.Schedule, n int) (got []string) {
	for due := range s.Upcoming(time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC)) {
		got = append(got, due.Format("2006-01-02 15:04:05"))
		if len(got) >= n {
			break
		}
	}
	return got
}

// What the documents of other programs say of their expressions holds for them here.
func TestExtendedOfOthers(t *testing.T) {
	quartz := cron.Extended{Seconds: true, Years: true, SundayIsOne: true, Location: time.UTC}
	plain := cron.Extended{Location: time.UTC}
	for _, tt := range []struct {
		of     string
		x      cron.Extended
		spec   string
		want   []string
		inText string
	}{
		// Quartz's tutorial.
		{"Quartz", quartz, "0 0 12 * * ?", []string{"2026-01-01 12:00:00", "2026-01-02 12:00:00"}, "0 12 * * *"},
		{"Quartz", quartz, "0 15 10 ? * *", []string{"2026-01-01 10:15:00", "2026-01-02 10:15:00"}, "15 10 * * *"},
		{"Quartz", quartz, "0 15 10 * * ? 2027", []string{"2027-01-01 10:15:00", "2027-01-02 10:15:00"}, "@extended 0 15 10 * * * 2027"},
		{"Quartz", quartz, "0 0/5 14,18 * * ?", []string{"2026-01-01 14:00:00", "2026-01-01 14:05:00"}, "0/5 14,18 * * *"},
		{"Quartz", quartz, "0 10,44 14 ? 3 WED", []string{"2026-03-04 14:10:00", "2026-03-04 14:44:00", "2026-03-11 14:10:00"}, "10,44 14 * 3 wed"},
		{"Quartz", quartz, "0 15 10 ? * MON-FRI", []string{"2026-01-01 10:15:00", "2026-01-02 10:15:00", "2026-01-05 10:15:00"}, "15 10 * * mon-fri"},
		{"Quartz", quartz, "0 15 10 ? * 2-6", []string{"2026-01-01 10:15:00", "2026-01-02 10:15:00", "2026-01-05 10:15:00"}, "15 10 * * mon-fri"},
		{"Quartz", quartz, "0 0 0 ? * 1", []string{"2026-01-04 00:00:00"}, "0 0 * * sun"},
		{"Quartz", quartz, "0 0 0 ? * 6-1", []string{"2026-01-02 00:00:00", "2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-09 00:00:00"}, "0 0 * * fri-sun"},
		{"Quartz", quartz, "0 0 0 ? * L", []string{"2026-01-03 00:00:00", "2026-01-10 00:00:00"}, "0 0 * * sat"},
		{"Quartz", quartz, "0 15 10 L * ?", []string{"2026-01-31 10:15:00", "2026-02-28 10:15:00"}, "@extended 15 10 L * *"},
		{"Quartz", quartz, "0 15 10 L-2 * ?", []string{"2026-01-29 10:15:00", "2026-02-26 10:15:00"}, "@extended 15 10 L-2 * *"},
		{"Quartz", quartz, "0 15 10 ? * 6L", []string{"2026-01-30 10:15:00", "2026-02-27 10:15:00"}, "@extended 15 10 * * friL"},
		{"Quartz", quartz, "0 15 10 ? * 6#3", []string{"2026-01-16 10:15:00", "2026-02-20 10:15:00"}, "@extended 15 10 * * fri#3"},
		// none in a month without a fifth
		{"Quartz", quartz, "0 0 0 ? * 4#5", []string{"2026-04-29 00:00:00", "2026-07-29 00:00:00"}, "@extended 0 0 * * wed#5"},
		{"Quartz", quartz, "0 0 12 1/5 * ?", []string{"2026-01-01 12:00:00", "2026-01-06 12:00:00"}, "0 12 1/5 * *"},
		{"Quartz", quartz, "0 0 0 15W * ?", []string{"2026-01-15 00:00:00", "2026-02-16 00:00:00", "2026-03-16 00:00:00"}, "@extended 0 0 15W * *"},
		{"Quartz", quartz, "0 0 0 1W * ?", []string{"2026-01-01 00:00:00", "2026-02-02 00:00:00", "2026-03-02 00:00:00"}, "@extended 0 0 1W * *"},
		// the 1st is a Saturday
		{"Quartz", quartz, "0 0 0 1W 8 ?", []string{"2026-08-03 00:00:00"}, "@extended 0 0 1W 8 *"},
		{"Quartz", quartz, "0 0 0 LW * ?", []string{"2026-01-30 00:00:00", "2026-02-27 00:00:00"}, "@extended 0 0 LW * *"},
		{"Quartz", quartz, "0 0 22-2 * * ?", []string{"2026-01-01 00:00:00", "2026-01-01 01:00:00", "2026-01-01 02:00:00", "2026-01-01 22:00:00"}, "@extended 0 22-2 * * *"},
		{"Quartz", quartz, "0 0 0 1 NOV-FEB ?", []string{"2026-01-01 00:00:00", "2026-02-01 00:00:00", "2026-11-01 00:00:00"}, "@extended 0 0 1 nov-feb *"},
		{"Quartz", quartz, "0/15 30 1 * * ?", []string{"2026-01-01 01:30:00", "2026-01-01 01:30:15"}, "@extended 0/15 30 1 * * *"},

		// crontab.guru's name for the OR of cron(5), and the plus.
		{"cron", plain, "0 0 13 * fri", []string{"2026-01-02 00:00:00", "2026-01-09 00:00:00", "2026-01-13 00:00:00"}, "0 0 13 * fri"},
		{"a plus", plain, "0 0 13 * +fri", []string{"2026-02-13 00:00:00", "2026-03-13 00:00:00", "2026-11-13 00:00:00"}, "@extended 0 0 13 * +fri"},
		{"both days", cron.Extended{BothDays: true, Location: time.UTC}, "0 0 1-7 * mon", []string{"2026-01-05 00:00:00", "2026-02-02 00:00:00"}, "@extended 0 0 1-7 * +mon"},
		{"a plus and a star", plain, "0 0 * * +mon", []string{"2026-01-05 00:00:00", "2026-01-12 00:00:00"}, "0 0 * * mon"},

		// Kubernetes takes a question mark for a star, in five fields.
		{"Kubernetes", plain, "0 3 ? * 1", []string{"2026-01-05 03:00:00", "2026-01-12 03:00:00"}, "0 3 * * 1"},
		{"Kubernetes", plain, "@daily", []string{"2026-01-01 00:00:00"}, "@daily"},
		{"Kubernetes", plain, "@every 1h", nil, "@every 1h"},

		// supercronic's sixth field is one of years.
		{"supercronic", cron.Extended{Years: true, Location: time.UTC}, "30 3 * * * 2027", []string{"2027-01-01 03:30:00"}, "@extended 0 30 3 * * * 2027"},
		{"supercronic", cron.Extended{Years: true, Location: time.UTC}, "30 3 * * * *", []string{"2026-01-01 03:30:00"}, "30 3 * * *"},
	} {
		s, err := tt.x.Parse(tt.spec)
		if err != nil {
			t.Errorf("%s: %v", tt.of, err)
			continue
		}
		if got := dueOf(s, len(tt.want)); len(tt.want) > 0 && !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q is due\n\tat   %q\n\twant %q", tt.of, tt.spec, got, tt.want)
		}
		if s.String() != tt.inText {
			t.Errorf("%s: %q has the text %q, want %q", tt.of, tt.spec, s, tt.inText)
		}
	}
}

// H and ~ choose values in their ranges, the same for a name at all times. Changed values would move the
// schedules of others: these stay.
func TestExtendedHashIsStable(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{"backup", "H H * * *", "13 15 * * *"},
		{"backup", "H(0-29)/10 0 * * *", "3,13,23 0 * * *"},
		{"backup", "H/15 * * * *", "13,28,43,58 * * * *"},
		{"backup", "~ 22~23 ~28 * *", "13 23 9 * *"},
		{"report", "H H * * *", "11 0 * * *"},
		{"report", "H H H * *", "11 0 5 * *"},
		{"nächtlich", "H H * H H", "7 19 * 4 0"},
		{"backup", "H(0-9),H(30-39) * * * *", "3,33 * * * *"},
		{"backup", "0 H(22-2) * * *", "0 2 * * *"},
		{"backup", "@extended H H H * * *", "@extended 36 13 15 * * *"},
	} {
		s, err := cron.Extended{Name: tt.name}.Parse(tt.spec)
		if err != nil || s.String() != tt.want {
			t.Errorf("%q of %q is %q, %v; want %q", tt.spec, tt.name, s, err, tt.want)
		}
	}
}

// H spreads names over all values of its range, evenly.
func TestExtendedHashSpreads(t *testing.T) {
	const names = 6000
	for _, tt := range []struct {
		spec string
		of   func(time.Time) int
		n    int
	}{
		{"H 0 * * *", time.Time.Minute, 60},
		{"0 H * * *", time.Time.Hour, 24},
		{"0 0 H * *", time.Time.Day, 28},
		{"0 0 ~ 1 *", time.Time.Day, 31},
		{"0 0 1 H *", func(t time.Time) int { return int(t.Month()) }, 12},
		{"0 0 * * H", func(t time.Time) int { return int(t.Weekday()) }, 7},
		{"H(10-19) 0 * * *", time.Time.Minute, 10},
		{"H/15 0 * * *", func(t time.Time) int { return t.Minute() % 15 }, 15},
		{"20~29/5 0 * * *", func(t time.Time) int { return t.Minute() % 5 }, 5},
	} {
		counts := make(map[int]int)
		for i := range names {
			s, err := cron.Extended{Name: fmt.Sprintf("job-%d", i), Location: time.UTC}.Parse(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			counts[tt.of(s.Next(time.Unix(0, -1)))]++
		}
		if len(counts) != tt.n {
			t.Errorf("%q: %d values, want %d", tt.spec, len(counts), tt.n)
		}
		for v, n := range counts {
			if mean := names / tt.n; n < mean*6/10 || n > mean*14/10 {
				t.Errorf("%q: the value %d has %d of %d names", tt.spec, v, n, names)
			}
		}
	}
}

// A wrong text of the extended language has an error with its place and what to write.
func TestExtendedErrors(t *testing.T) {
	named := cron.Extended{Name: "x"}
	for _, tt := range []struct {
		x    cron.Extended
		spec string
		want string
	}{
		{cron.Extended{}, "H * * * *", `cron: minute "H" in "H * * * *" (column 1): there is no name to compute it from; set Extended.Name, or write a value of your own`},
		{cron.Extended{}, "0 1~3 * * *", `cron: hour "1~3" in "0 1~3 * * *" (column 3): there is no name to compute it from; set Extended.Name, or write a value of your own`},
		{named, "H(5 * * * *", `cron: minute "H(5" in "H(5 * * * *" (column 1): after H comes a range in parentheses, or a step; write it as "H(0-29)" or "H(0-29)/10"`},
		{named, "H(0-29)5 * * * *", `cron: minute "H(0-29)5" in "H(0-29)5 * * * *" (column 1): after H comes a range in parentheses, or a step; write it as "H(0-29)" or "H(0-29)/10"`},
		{named, "H(0-60) * * * *", `cron: minute "60" in "H(0-60) * * * *" (column 5): must be 0 to 59`},
		{named, "H/60 * * * *", `cron: minute "H/60" in "H/60 * * * *" (column 1): the step is too long for 0 to 59 and selects only one value; leave the step out for one value`},
		{named, "H/0 * * * *", `cron: minute "H/0" in "H/0 * * * *" (column 1): a step must be at least 1; leave the step out for one value`},
		{named, "9~5 * * * *", `cron: minute "9~5" in "9~5 * * * *" (column 1): the range runs backwards; swap its ends`},
		{named, "0 0 L-31 * *", `cron: day-of-month "L-31" in "0 0 L-31 * *" (column 5): must be L, LW, or L-1 to L-30`},
		{named, "0 0 32W * *", `cron: day-of-month "32" in "0 0 32W * *" (column 5): must be 1 to 31`},
		{named, "0 0 * * L", `cron: day-of-week "L" in "0 0 * * L" (column 9): L needs a day before it; write "5L" for the last Friday of the month, or "6" for Saturdays`},
		{named, "0 0 * * 5#6", `cron: day-of-week "6" in "0 0 * * 5#6" (column 11): must be 1 to 5, or L for the last of the month`},
		{named, "0 ? * * *", `cron: hour "?" in "0 ? * * *" (column 3): must be 0 to 23; write "*"; the question mark is Quartz's`},
		{named, "0 0 31 * +mon 2027", `cron: "0 0 31 * +mon 2027": 6 fields, want 5 (minute hour day-of-month month day-of-week); after "@extended" 6 fields begin with seconds, and 7 end with years, too`},
		{named, "0 0 31 4W *", `cron: month "4W" in "0 0 31 4W *" (column 8): must be 1 to 12 or jan to dec`},
		{named, "0 0 31 4 *", `cron: day-of-month "31" in "0 0 31 4 *" (column 5): no day matches this, the month, the day of the week and the year, so it is never due`},
		{named, "0 0 1-7 * +mon#2", `cron: day-of-month "1-7" in "0 0 1-7 * +mon#2" (column 5): no day matches this, the month, the day of the week and the year, so it is never due`},
		{cron.Extended{Years: true}, "0 0 29 2 * 2026,2027", `cron: day-of-month "29" in "0 0 29 2 * 2026,2027" (column 5): no day matches this, the month, the day of the week and the year, so it is never due`},
		{cron.Extended{Years: true}, "0 0 1 1 * 1969", `cron: year "1969" in "0 0 1 1 * 1969" (column 11): must be 1970 to 2099`},
		{cron.Extended{Years: true}, "0 0 1 1 * 2027-2026", `cron: year "2027-2026" in "0 0 1 1 * 2027-2026" (column 11): the range runs backwards; swap its ends, or write "2027-2099,1970-2026" to continue past the end`},
		{cron.Extended{SundayIsOne: true}, "0 0 * * 0", `cron: day-of-week "0" in "0 0 * * 0" (column 9): must be 1 (Sunday) to 7 or sun to sat`},
		{cron.Extended{Seconds: true}, "0 0 * * *", `cron: "0 0 * * *": 5 fields, want 6 (second minute hour day-of-month month day-of-week); write "*" for a field that does not matter`},
		{named, "@extended 0 0 *", `cron: "@extended 0 0 *": 3 fields after @extended, want 5, 6 with seconds first, or 7 with years last, too`},
		{named, "@extended 0 0 * * @daily", `cron: day-of-week "@daily" in "@extended 0 0 * * @daily" (column 19): must be 0 to 7 or sun to sat`},
	} {
		s, err := tt.x.Parse(tt.spec)
		if err == nil {
			t.Errorf("%q became %q, want an error", tt.spec, s)
			continue
		}
		checkPlace(t, err)
		if err.Error() != tt.want {
			t.Errorf("%q:\n\tgot  %s\n\twant %s", tt.spec, err, tt.want)
		}
	}
}

// What ParseLenient notes, Extended notes, too, if asked.
func TestExtendedNotes(t *testing.T) {
	var notes []string
	x := cron.Extended{Name: "x", Note: func(e *cron.ParseError) { notes = append(notes, e.Text) }}
	s, err := x.Parse("*/90 H/24 * * *")
	if err != nil || !slices.Equal(notes, []string{"*/90", "H/24"}) {
		t.Errorf("%v, notes %q, error %v", s, notes, err)
	}
	notes = nil
	if _, err := x.Parse("*/90 25 * * *"); err == nil || notes != nil {
		t.Errorf("notes %q, error %v", notes, err)
	}
	x.Note = nil
	if _, err := x.Parse("*/90 H * * *"); err == nil {
		t.Error("no error without Note")
	}
}

// The text of an extended schedule is read by all that read schedules, and keeps its times.
func TestExtendedText(t *testing.T) {
	x := cron.Extended{Seconds: true, Name: "backup", Location: zone(t, "Asia/Tokyo")}
	s, err := x.Parse("*/20 H 3 LW * +mon-thu")
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.MarshalText()
	if err != nil || !strings.HasPrefix(string(text), "CRON_TZ=Asia/Tokyo @extended */20 ") {
		t.Fatalf("%s, %v", text, err)
	}
	var again cron.Schedule
	if err := again.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	lenient, _, err := cron.ParseLenient(string(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := dueOf(s, 50), dueOf(again, 50), dueOf(lenient, 50); !slices.Equal(a, b) || !slices.Equal(a, c) {
		t.Errorf("due at %q, read again %q and %q", a, b, c)
	}
}

// The text of a schedule is in the plain language if that has the same days, also where it writes Sunday at the end of
// a range, or at its begin, in another way; and each value is in the text once.
func TestExtendedTextOfRangesAndLists(t *testing.T) {
	for _, tt := range []struct{ spec, text string }{
		{"0 0 * * 5-0", "0 0 * * 5-7"},
		{"0 0 * * fri-0", "0 0 * * 5-7"},
		{"0 0 * * 7-2", "0 0 * * 0-2"},
		{"0 0 * * 7-wed/3", "0 0 * * 0-3/3"},
		{"0 0 * * 7-0", "0 0 * * 0-0"},
		{"0 0 * * 4,7-1,mon", "0 0 * * 4,0-1,mon"},
		{"0 0 * * fri-sun", "0 0 * * fri-sun"},
		{"0 0 * * fri-mon", "@extended 0 0 * * fri-mon"},
		{"2,0~3/1 0 * * *", "2,0,1,3 0 * * *"},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			s, err := cron.Extended{Name: "job", Location: time.UTC}.Parse(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != tt.text {
				t.Errorf("the text is %q, want %q", s, tt.text)
			}
			read, err := cron.ParseIn(s.String(), time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			if read != s {
				t.Errorf("the text means %v, want %v", read, s)
			}
		})
	}
}

// The seconds of a starred field follow the wall clock, and fixed ones are due once.
func TestExtendedSecondsAtClockChanges(t *testing.T) {
	ny := zone(t, "America/New_York")
	for _, tt := range []struct {
		spec         string
		spring, fall int
	}{
		{"*/20 30 2 * * *", 0, 3}, // no 02:30 in spring
		{"0,20,40 30 2 * * *", 1, 3},
		{"0,20,40 30 1 * * *", 3, 3},
		{"*/20 30 1 * * *", 3, 6},
	} {
		s, err := cron.Extended{Seconds: true, Location: ny}.Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		spring := len(between(s, time.Date(2026, 3, 8, 0, 0, 0, 0, ny), time.Date(2026, 3, 8, 12, 0, 0, 0, ny)))
		fall := len(between(s, time.Date(2026, 11, 1, 0, 0, 0, 0, ny), time.Date(2026, 11, 1, 12, 0, 0, 0, ny)))
		if spring != tt.spring || fall != tt.fall {
			t.Errorf("%q: %d in spring and %d in fall, want %d and %d", tt.spec, spring, fall, tt.spring, tt.fall)
		}
	}
}

// Years bound a schedule at both ends.
func TestExtendedYears(t *testing.T) {
	s := in(t, time.UTC, "@extended 0 0 0 29 2 * 2024-2032")
	for _, tt := range []struct{ at, prev, next string }{
		{"0001-01-01", "", "2024-02-29"},
		{"2025-06-01", "2024-02-29", "2028-02-29"},
		{"2032-02-29", "2028-02-29", ""},
		{"9999-12-31", "2032-02-29", ""},
	} {
		at, err := time.Parse(time.DateOnly, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		text := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format(time.DateOnly)
		}
		if prev, next := text(s.Prev(at)), text(s.Next(at)); prev != tt.prev || next != tt.next {
			t.Errorf("at %s: %q before and %q after, want %q and %q", tt.at, prev, next, tt.prev, tt.next)
		}
	}
}

// Prev returns an earlier time in any year that it supports, and the zero Time beyond.
func TestSchedulePrevAtExtremes(t *testing.T) {
	for _, spec := range []string{"* * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 29 2 */6", "@extended 0 0 L-30 * *"} {
		for _, loc := range []*time.Location{time.UTC, zone(t, "America/New_York"), zone(t, "Antarctica/Troll")} {
			s := in(t, loc, spec)
			for _, year := range []int{-5_000_000, -1, 0, 1, 1969, 1970, 9999, 10_000, 5_000_000} {
				before := time.Date(year, 1, 1, 0, 0, 0, 1, loc)
				if got := s.Prev(before); !got.Before(before) || got.Before(before.AddDate(-41, 0, 0)) {
					t.Errorf("%q in %v: Prev(%v) = %v", spec, loc, before, got)
				}
			}
			for _, unix := range []int64{-1 << 63, -1 << 56, 1 << 56, 1<<63 - 1} {
				if got := s.Prev(time.Unix(unix, 0)); !got.IsZero() {
					t.Errorf("%q in %v: Prev(Unix(%d)) = %v, want never", spec, loc, unix, got)
				}
			}
		}
	}
	if got := (cron.Schedule{}).Prev(time.Now()); !got.IsZero() {
		t.Errorf("the zero Schedule was due at %v", got)
	}
	loc := crafted(t, "AST0ADT,J60/2,J300/2") // no 02:xx on March 1
	if got := in(t, loc, "*/5 2 1 3 *").Prev(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); got.Year() > 1971 {
		t.Errorf("due at %v, which the zone skips", got)
	}
	if got := in(t, time.UTC, "@every 90s").Prev(time.Unix(100, 7)); !got.Equal(time.Unix(10, 7)) {
		t.Errorf("@every 90s: %v", got)
	}
}
