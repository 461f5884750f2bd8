package daemon

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// The last lines are kept, whole as far as there is room, and it is marked that
// there were others.
func TestTailKeepsLastLines(t *testing.T) {
	short := new(tail)
	for _, line := range []string{"one", "", "t\x00o"} {
		short.add([]byte(line))
	}
	if got := short.String(); got != "one\n\nt\\x00o" {
		t.Errorf("%q", got)
	}

	long := new(tail)
	for i := range 1000 {
		long.add(fmt.Appendf(nil, "line %03d", i))
	}
	lines := strings.Split(long.String(), "\n")
	if len(long.String()) > tailSize+4 || lines[0] != "..." || lines[len(lines)-1] != "line 999" || len(lines) < 200 {
		t.Errorf("%d bytes in %d lines, from %q to %q", len(long.String()), len(lines), lines[0], lines[len(lines)-1])
	}

	one := new(tail)
	one.add([]byte(strings.Repeat("x", 100_000) + "end"))
	if got := one.String(); len(got) != tailSize || !strings.HasSuffix(got, "xend") || !utf8.ValidString(got) {
		t.Errorf("of one long line: %d bytes", len(got))
	}
}

// Of a line that is too long, the end is kept that begins with a whole character,
// or the whole escape of one.
func TestTailBeginsWithACharacter(t *testing.T) {
	for _, test := range []struct{ begin, unit string }{
		{"", "世"}, {"\x01", "世"}, {"\x01", "é"}, {"", "\x1b"}, {"x", "\u202e"}, {"é", "\xff"},
	} {
		for n := range 8 {
			line := test.begin + strings.Repeat(test.unit, tailSize) + strings.Repeat("x", n)
			one := new(tail)
			one.add([]byte(line))
			shown := job.Printable(test.unit)
			got := strings.TrimSuffix(one.String(), strings.Repeat("x", n))
			if strings.Trim(strings.ReplaceAll(got, shown, ""), "x") != "" || len(one.String()) > tailSize ||
				len(one.String()) <= tailSize-len(shown) {
				t.Errorf("of %q and many of %q: %d bytes, from %.20q", test.begin, test.unit, len(one.String()), one)
			}
		}
	}
}
