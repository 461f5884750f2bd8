package page

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Printable returns s for people: characters that can't be seen, or change the direction of the text, are escaped as in
// Go, and the text is cut after most runes.
func Printable(s string, most int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Lines returns a text of several lines for people, of which at most most runes are kept.
func Lines(s string, most int) string {
	n, rest := 0, ""
	for i := range s {
		if n++; n > most {
			s, rest = s[:i], "…"
			break
		}
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(Printable(strings.TrimRight(line, "\r\n"), most))
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String() + rest
}

// Short returns d with two or three digits and one unit, such as "12 ms".
func Short(d time.Duration) string {
	if d < 0 {
		return "−" + Short(-max(d, -math.MaxInt64))
	}
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"},
		{time.Microsecond, "µs"}} {
		if d >= u.unit {
			v := float64(d) / float64(u.unit)
			digits := 0
			if v < 9.95 {
				digits = 1
			}
			return strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0") + noBreak + u.name
		}
	}
	if d == 0 {
		return "0" + noBreak + "s"
	}
	return strconv.FormatInt(int64(d), 10) + noBreak + "ns"
}

const noBreak = "\u00a0" // a space at which a line does not end

// Age returns how long ago something was, to the second.
func Age(d time.Duration) string {
	if d < time.Second {
		return "0" + noBreak + "s"
	}
	return Short(d.Truncate(time.Second))
}

// Count returns n with groups of three digits.
func Count[N int | int64 | uint64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// PerSecond returns a rate for people, or a dash if it is negative, which means unknown.
func PerSecond(rate float64) string {
	switch {
	case rate < 0:
		return "–"
	case rate < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(rate, 'f', 1, 64), ".0")
	}
	return Count(int64(math.Round(rate)))
}

// Since returns how long ago, or in how long, a time is.
func Since(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return "–"
	case d >= time.Second:
		return "in" + noBreak + Short(d.Truncate(time.Second))
	case d > -time.Second:
		return "now"
	default:
		return Short((-d).Truncate(time.Second)) + noBreak + "ago"
	}
}

// ClockZone is Clock with the zone, for a time that stands alone.
func ClockZone(t, now time.Time) string {
	if t.IsZero() {
		return Clock(t, now)
	}
	return Clock(t, now) + t.In(now.Location()).Format(" MST")
}

// Clock returns a time in the zone of now, with the day unless that is today.
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return "–"
	}
	t = t.In(now.Location())
	if y, m, d := now.Date(); t.After(time.Date(y, m, d, 0, 0, 0, 0, now.Location())) &&
		t.Before(time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// ErrorTitle returns the heading of a page that has nothing but an error, by the status of the answer.
func ErrorTitle(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "Bad address"
	case http.StatusForbidden:
		return "Not allowed"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusConflict:
		return "Not possible now"
	case http.StatusServiceUnavailable:
		return "No data now"
	}
	return "That did not work"
}

// Sign returns the sign of a class of pills, as page.css has it, for where there is no pill.
func Sign(class string) string {
	switch class {
	case "good":
		return "✓"
	case "bad":
		return "✕"
	case "busy":
		return "▶"
	case "held":
		return "‖"
	case "other":
		return "!"
	}
	return "○"
}
