package page

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Durations have one unit and two or three digits, whatever they are.
func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1: "1 ns", 999: "999 ns", 1500: "1.5 µs", 12 * time.Millisecond: "12 ms", time.Second: "1 s",
		90 * time.Second: "1.5 min", 36 * time.Hour: "1.5 d", -time.Second: "−1 s",
		math.MaxInt64: "106752 d", math.MinInt64: "−106752 d",
	} {
		if got := strings.ReplaceAll(Short(d), noBreak, " "); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

// Counts have groups of three digits.
func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", -1000: "-1 000", 1234567: "1 234 567"} {
		if got := strings.ReplaceAll(Count(n), "\u202f", " "); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A time of today has no day.
func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		{}:                            "–",
		now.Add(-time.Hour):           "11:00:00",
		now.Add(-13 * time.Hour):      "2026-03-28 23:00:00",
		now.Add(12*time.Hour - 1):     "23:59:59",
		now.Add(12*time.Hour + 1):     "2026-03-30 00:00:00",
		now.In(time.FixedZone("", 1)): "12:00:00",
	} {
		if got := Clock(at, now); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
		if want != "–" {
			want += " UTC"
		}
		if got := ClockZone(at, now); got != want {
			t.Errorf("%v with its zone: %q, want %q", at, got, want)
		}
	}
}

// Lines keeps the ends of lines, and nothing else that can't be seen.
func TestLines(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a\nb": "a\nb", "a\r\nb\n": "a\nb\n", "\x1b[1m\u202e": `\x1b[1m\u202e`, "a\rb": `a\rb`, "\xff": `\xff`,
	} {
		if got := Lines(s, 100); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := Lines("12345\n67890", 8); got != "12345\n67…" {
		t.Errorf("of two lines the first 8 runes are %q", got)
	}
}

// Lines keeps no more than it may, whatever the text has: not of empty lines either, nor of what is escaped.
func TestLinesAreLimited(t *testing.T) {
	for s, want := range map[string]string{
		strings.Repeat("\n", 100):                  "\n\n\n\n\n\n\n\n…",
		"\x01\x01\x01\x01\n\x01\x01\x01\x01\n\n\n": `\x01\x01\x01\x01` + "\n" + `\x01\x01\x01…`,
		strings.Repeat("a\n", 100):                 "a\na\na\na\n…",
		"1234567\n":                                "1234567\n",
		"1234567\n8":                               "1234567\n…",
		"12345678\n":                               "12345678…",
		"12345678":                                 "12345678",
		strings.Repeat("\x01", 9) + "\nmore":       strings.Repeat(`\x01`, 8) + "…",
	} {
		if got := Lines(s, 8); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// The sign of a class is that of its pill.
func TestSignIsOfPill(t *testing.T) {
	css, err := Style.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	for class, pill := range map[string]string{
		"": ".pill", "good": ".pill.good", "bad": ".pill.bad", "busy": ".pill.busy", "held": ".pill.held", "other": ".pill.other",
	} {
		if rule := pill + "::before { content: '" + Sign(class) + "'"; !strings.Contains(string(css), rule) {
			t.Errorf("the style has no %s", rule)
		}
	}
}
