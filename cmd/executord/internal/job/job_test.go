package job

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Printable leaves text as it is and makes everything else visible.
func TestPrintable(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{`plain \ text`, `plain \ text`},
		{"tab\tstays", "tab\tstays"},
		{"grüße, 世界 🙂", "grüße, 世界 🙂"},
		{"\x1b[31mred\x7f", `\x1b[31mred\x7f`},
		{"a\xffb\xe4\xb8", `a\xffb\xe4\xb8`},
		{"zero\x00", `zero\x00`},
		{"bidi \u202e", `bidi \u202e`},
		{"mark \u200f", `mark \u200f`},
		{"line \u2028", `line \u2028`},
		{"\u200bnothing\ufeff", `\u200bnothing\ufeff`},
		{"\ufffd", "\ufffd"},
		{"1\u202f234,5\u00a0km", "1\u202f234,5\u00a0km"}, // as French has it
		{"東京\u3000大阪", "東京\u3000大阪"},
		{"می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"},
	}
	for _, test := range tests {
		if got := Printable(test.in); got != test.want {
			t.Errorf("Printable(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestClosest(t *testing.T) {
	known := []string{"name", "schedule", "command", "timeout", "env"}
	tests := []struct{ word, want string }{
		{"nmae", "name"},
		{"Schedule", "schedule"},
		{"comand", "command"},
		{"time_out", "timeout"},
		{"timezones", ""},
		{"x", ""},
		{"", ""},
		{strings.Repeat("name", 1000), ""},
	}
	for _, test := range tests {
		if got := Closest(test.word, known); got != test.want {
			t.Errorf("Closest(%.20q) = %q, want %q", test.word, got, test.want)
		}
	}
}

// Words are quoted so that a shell would read the same arguments.
func TestCommandText(t *testing.T) {
	c := Command{Args: []string{"/bin/ls", "-l", "a b", "", "it's", "$x"}}
	if got, want := c.Text(), `/bin/ls -l 'a b' '' 'it'\''s' '$x'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c = Command{Script: "ls -l | cat"}
	if got := c.Text(); got != c.Script {
		t.Errorf("got %s", got)
	}
}

// A blank that is not the common one is shown as an escape where it may be what is
// wrong.
func TestMistakeShowsBlanks(t *testing.T) {
	m := Mistake{File: "f", Line: 3, Text: "0 5 * * *\u00a0/bin/x", What: "what"}
	if got, want := m.String(), "f:3: what\n    0 5 * * *\\u00a0/bin/x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The name of a job is one word of at most 64 bytes, in any script, of characters
// that can be seen where they are.
func TestValidName(t *testing.T) {
	for name, valid := range map[string]bool{
		"backup": true, "db/nightly_1.2-b": true, "größe": true, strings.Repeat("x", 64): true,
		"": false, "a b": false, "a:1": false, "a\xff": false, "a\n": false,
		strings.Repeat("x", 65): false, strings.Repeat("ö", 33): false,
		"हिन्दी": true, "ไทย/ที่": true, "e\u0301te\u0301": true, "o\u0323\u0302": true,
		"\u0301e": false, "a/\u0301": false, "1\u0301": false, "-\u20e3": false, "a.\u093f": false,
		"a\ufe0f": false, "a\u034f": false, "a\u200d": false, "\u3164": false, "1\u20e3": false,
	} {
		if ValidName(name) != valid {
			t.Errorf("%q: %v", name, !valid)
		}
	}
}

// A long line is cut between characters, and control characters do not reach
// the terminal, wherever they are.
func TestMistakeShowsTextSafely(t *testing.T) {
	m := Mistake{File: "f\n", Line: 3, Text: "\x1b" + strings.Repeat("é", 100), What: "what\r", Hint: "hint\u009b"}
	want := "f\\n:3: what\\r\n    \\x1b" + strings.Repeat("é", 79) + "...\n    hint: hint\\u009b"
	if got := m.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The times of @every lie on a grid through the start, whenever one asks: also
// before it, as when the clock was wrong at the start and was set back by years.
func TestScheduleEveryKeepsGrid(t *testing.T) {
	s, _, err := ParseSchedule("@every 10s", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 7_900_000, time.UTC)
	trigger := s.From(start)
	at := func(seconds float64) time.Time {
		return start.Truncate(time.Millisecond).Add(time.Duration(seconds * float64(time.Second)))
	}
	for _, test := range []struct{ after, want time.Time }{
		{start, at(10)},
		{at(-100), at(-90)},
		{at(-99.9), at(-90)},
		{at(-1), at(0)},
		{at(-86400 * 365), at(-86400*365 + 10)},
		{at(10), at(20)},
		{at(10.3), at(20)},
		{at(19.999), at(20)},
		{at(59), at(60)},
		{at(86400 * 365), at(86400*365 + 10)},
	} {
		if got := trigger.Next(test.after); !got.Equal(test.want) {
			t.Errorf("Next(%v) = %v, want %v", test.after, got, test.want)
		}
	}
}

// A prefix in the schedule wins over the zone that is given.
func TestScheduleZone(t *testing.T) {
	for text, want := range map[string]string{
		"0 9 * * *":                    "UTC",
		"CRON_TZ=Asia/Tokyo 0 9 * * *": "Asia/Tokyo",
	} {
		s, _, err := ParseSchedule(text, time.UTC)
		if err != nil || s.Location().String() != want {
			t.Errorf("%s: zone %v, error %v", text, s.Location(), err)
		}
	}
}

// @reboot is due at no time, in any case of its letters.
func TestScheduleAtStart(t *testing.T) {
	for _, text := range []string{"@reboot", "@Reboot"} {
		s, _, err := ParseSchedule(text, time.UTC)
		if err != nil || !s.AtStart || s.From(time.Now()) != nil {
			t.Errorf("%s: %+v, error %v", text, s, err)
		}
	}
}

// The daemon's own zone has the name that it has everywhere, or Local if it is
// not known.
func TestZoneName(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	defer func(local *time.Location) { time.Local = local }(time.Local)
	for _, test := range []struct {
		tz    string
		local *time.Location
		want  string
	}{
		{"Europe/Berlin", berlin, "Europe/Berlin"},
		{":Europe/Berlin", berlin, "Europe/Berlin"},
		{"", time.UTC, "UTC"},
		{"Europe/Berlin", time.FixedZone("", 3600), "Local"}, // not what package time says
		{"Nowhere/Else", time.UTC, "Local"},
		{filepath.Join(t.TempDir(), "none"), time.UTC, "UTC"}, // absolute on any system
	} {
		t.Setenv("TZ", test.tz)
		time.Local = time.FixedZone("Local", 0)
		*time.Local = *test.local
		s, _, e := ParseSchedule("@daily", time.Local)
		if e != nil {
			t.Fatal(e)
		}
		if got := s.ZoneName(); got != test.want {
			t.Errorf("TZ=%s: %s, want %s", test.tz, got, test.want)
		}
	}
	s, _, _ := ParseSchedule("@daily", berlin)
	if got := s.ZoneName(); got != "Europe/Berlin" {
		t.Errorf("a zone that is named: %s", got)
	}
}

// The shell of Windows, however it is written, does not take -c; others do.
func TestTakesC(t *testing.T) {
	for shell, takes := range map[string]bool{
		"/bin/sh": true, "/opt/cmd": true, "/bin/mycmd.exe": true, `C:\Git\bin\bash.exe`: true,
		`C:\Windows\System32\cmd.exe`: false, "c:/windows/system32/CMD.EXE": false, `C:\Windows\System32\cmd`: false,
	} {
		if TakesC(shell) != takes {
			t.Errorf("%s: %v", shell, !takes)
		}
	}
}

// A schedule since an instant has no fields of days that may be meant otherwise.
func TestParseScheduleSince(t *testing.T) {
	s, notes, err := ParseSchedule("@since 2026-12-01 14:00 every 7d", time.UTC)
	if err != nil || len(notes) > 0 || len(s.Gaps()) > 0 {
		t.Errorf("notes %v, gaps %v, error %v", notes, s.Gaps(), err)
	}
	wall, ok := s.Wall()
	if first := wall.Next(time.Unix(0, 0)); !ok || !first.Equal(time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("on the wall: %t, first at %v", ok, first)
	}
}
