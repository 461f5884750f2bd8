package durable_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// What JSON has of jobs and runs is read as it was written, and unknown names are errors.
func TestJobJSONRoundTrip(t *testing.T) {
	roundTrip := func(v, got any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, got)
		}
		if back := reflect.ValueOf(got).Elem().Interface(); err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%v became %s and then %v: %v", v, text, back, err)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for s := durable.Waiting; s <= durable.Blocked; s++ {
		roundTrip(durable.Job{ID: durable.NewID(), Kind: "k", State: s, Due: at, Created: at, Updated: at},
			new(durable.Job))
	}
	for v := durable.RunSucceeded; v <= durable.RunSnoozed; v++ {
		roundTrip(durable.Run{Job: durable.NewID(), Occurrence: at, Started: at, Finished: at, Verdict: v},
			new(durable.Run))
	}
	for _, unmarshal := range []func([]byte) error{new(durable.State).UnmarshalText,
		new(durable.Verdict).UnmarshalText} {
		for _, s := range []string{"", "Canceled", "Verdict(9)"} {
			if err := unmarshal([]byte(s)); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "must be one of [") {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
}

// The numbers are in users' databases: a change would make other jobs of theirs.
func TestJobStoredNumbersStay(t *testing.T) {
	for got, want := range map[any]int{
		durable.Waiting: 0, durable.Claimed: 1, durable.Running: 2, durable.Succeeded: 3,
		durable.Dead: 4, durable.Canceled: 5, durable.Paused: 6,
		durable.PendingNone: 0, durable.PendingCancel: 1, durable.PendingPause: 2,
		durable.RunSucceeded: 0, durable.RunFailed: 1, durable.RunCanceled: 2,
		durable.RunSkipped: 3, durable.RunLost: 4, durable.RunSnoozed: 5,
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

// The names are in logs, in JSON and in users' filters.
func TestJobStoredNamesStay(t *testing.T) {
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
