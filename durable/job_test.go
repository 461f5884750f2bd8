package durable_test

import (
	"testing"

	"github.com/executor-go/executor/durable"
)

// The numbers are in the databases of those who use this package: a change would give their jobs another meaning.
func TestStoredNumbersStay(t *testing.T) {
	for got, want := range map[any]int{
		durable.Waiting: 0, durable.Claimed: 1, durable.Running: 2, durable.Succeeded: 3, durable.Dead: 4, durable.Canceled: 5, durable.Paused: 6,
		durable.PendingNone: 0, durable.PendingCancel: 1, durable.PendingPause: 2,
		durable.RunSucceeded: 0, durable.RunFailed: 1, durable.RunCanceled: 2, durable.RunSkipped: 3, durable.RunLost: 4, durable.RunSnoozed: 5,
		durable.Low: -1, durable.Normal: 0, durable.High: 1,
	} {
		number := 0
		switch v := got.(type) {
		case durable.State:
			number = int(v)
		case durable.Pending:
			number = int(v)
		case durable.Verdict:
			number = int(v)
		case durable.Priority:
			number = int(v)
		}
		if number != want {
			t.Errorf("%T %v is %d, and %d in databases", got, got, number, want)
		}
	}
}

// The names are in logs, in JSON and in what people write for List.
func TestStoredNamesStay(t *testing.T) {
	for i, want := range []string{"waiting", "claimed", "running", "succeeded", "dead", "canceled", "paused"} {
		if got := durable.State(i).String(); got != want {
			t.Errorf("state %d is %q, want %q", i, got, want)
		}
	}
	for i, want := range []string{"succeeded", "failed", "canceled", "skipped", "lost", "snoozed"} {
		if got := durable.Verdict(i).String(); got != want {
			t.Errorf("verdict %d is %q, want %q", i, got, want)
		}
	}
}
