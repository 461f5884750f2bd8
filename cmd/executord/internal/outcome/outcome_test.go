package outcome_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// A run took as long as its command, and no time if that was not started. Of a run that says nothing it is all that was
// done for it.
func TestTookIsOfCommand(t *testing.T) {
	for label, want := range map[string]time.Duration{
		"": 5 * time.Second, "ok, took 3s": 3 * time.Second, "lost, took 2s": 2 * time.Second, "not started, took 0s": 0,
		"missed": 0, "excluded": 0, "delayed": 0, "canceled": 0,
	} {
		if got := outcome.Took(durable.Run{Label: label, Started: time.Unix(10, 0), Finished: time.Unix(15, 0)}); got != want {
			t.Errorf("%q took %v, want %v", label, got, want)
		}
	}
}

// Each outcome is in the lists once. What is a failure is bad, and what is bad is an error.
func TestOutcomeListsAreWhole(t *testing.T) {
	seen := make(map[outcome.Outcome]bool)
	for i, o := range outcome.All() {
		if seen[o] || (o == outcome.InProgress) != (i == 0) {
			t.Errorf("%s is there again, or is not in its place", o)
		}
		if seen[o] = true; o.IsFailure() && !o.IsBad() || o.IsBad() && !o.IsError() {
			t.Errorf("%s is a failure %t, bad %t, an error %t", o, o.IsFailure(), o.IsBad(), o.IsError())
		}
	}
	for _, o := range outcome.Counted() {
		if !seen[o] {
			t.Errorf("%s is counted, and not in the list", o)
		}
	}
}
