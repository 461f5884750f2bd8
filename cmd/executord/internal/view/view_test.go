package view

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

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

// A run took as long as its command, and no time if that was not started. Of a run that says nothing it is all that was
// done for it.
func TestTookIsOfCommand(t *testing.T) {
	for label, want := range map[string]time.Duration{
		"": 5 * time.Second, "ok, took 3s": 3 * time.Second, "lost, took 2s": 2 * time.Second, "not started, took 0s": 0,
		"missed": 0, "excluded": 0, "delayed": 0, "canceled": 0,
	} {
		if got := Took(durable.Run{Label: label, Started: time.Unix(10, 0), Finished: time.Unix(15, 0)}); got != want {
			t.Errorf("%q took %v, want %v", label, got, want)
		}
	}
}
