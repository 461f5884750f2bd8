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
