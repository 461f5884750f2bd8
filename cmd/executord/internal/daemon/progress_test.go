package daemon

import (
	"strings"
	"testing"
)

// A line of progress has a count and a total; any other line is output.
func TestParseProgress(t *testing.T) {
	for line, want := range map[string]struct {
		done, total int64
		note        string
	}{
		"::progress 42/100 copying photos":           {42, 100, "copying photos"},
		"::progress 0/1":                             {0, 1, ""},
		"::progress 7/5 more than all":               {5, 5, "more than all"},
		"::progress 1/2  \x1b[31mred":                {1, 2, ` \x1b[31mred`},
		"::progress 1/2 " + strings.Repeat("é", 300): {1, 2, strings.Repeat("é", 200)},
	} {
		p, ok := parseProgress([]byte(line))
		if !ok || p.Done != want.done || p.Total != want.total || p.Note != want.note {
			t.Errorf("%q: %+v, %t", line, p, ok)
		}
	}
	for _, line := range []string{
		"", "::progress", "::progress ", "::progress 42", "::progress 42/", "::progress /100", "::progress -1/100", "::progress 1/0",
		"::progress a/b", "::progress 1/9223372036854775807", "::progress 99999999999999999999/1", " ::progress 1/2",
		"::PROGRESS 1/2", "::progress 1.5/2", "::progress 0x1/2",
	} {
		if p, ok := parseProgress([]byte(line)); ok {
			t.Errorf("%q: %+v", line, p)
		}
	}
}
