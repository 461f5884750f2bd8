package view

import "testing"

// A bar is as full as the run has come, in as much room as a table has.
func TestProgressString(t *testing.T) {
	for want, p := range map[string]Progress{
		"[..........] 0%":                        {0, 3, ""},
		"[###.......] 33%":                       {1, 3, ""},
		"[##########] 100% all":                  {3, 3, "all"},
		"[#########.] 99% \\x1b[31mabcdefghijk…": {99, 100, "\x1b[31mabcdefghijklmnop"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}
