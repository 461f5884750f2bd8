package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A text that is wrapped loses nothing but blanks.
func TestWrapKeepsText(t *testing.T) {
	for range 2000 {
		var b strings.Builder
		for range rand.IntN(60) {
			b.WriteRune([]rune("ab 日 ")[rand.IntN(5)])
		}
		room := 2 + rand.IntN(20)
		lines := Wrap(b.String(), room)
		for _, line := range lines {
			if Columns(line) > room {
				t.Fatalf("%q has more than %d columns", line, room)
			}
		}
		without := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := strings.Join(lines, ""); without(got) != without(b.String()) {
			t.Fatalf("%q, want %q", lines, b.String())
		}
	}
}

// What is cut fits, is a begin of the text with a sign behind it, and is no shorter than it has to be.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abc", 1, "…"}, {"", 0, ""}, {"a", 0, "…"}, {"a", -1, "…"},
		{"日本", 4, "日本"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"e\u0301e\u0301", 1, "…"}, {"e\u0301abc", 3, "e\u0301a…"},
		{"a\u0301bc", 2, "a\u0301…"}, {strings.Repeat("x", 8<<20), 4, "xxx…"},
	} {
		if got := Cut(test.text, test.most); got != test.want {
			t.Errorf("%.20q at most %d: %q, want %q", test.text, test.most, got, test.want)
		}
	}
}
