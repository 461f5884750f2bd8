package outcome_test

import (
	"math"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// A label is read as it was written, and no other text is one.
func TestLabelIsReadAsWritten(t *testing.T) {
	for label, text := range map[outcome.Label]string{
		{}:                                        "",
		{Outcome: outcome.Timeout}:                "timeout",
		{Outcome: outcome.OK, Attempts: 3}:        "ok, attempt 3",
		{Outcome: outcome.NotStarted}:             "not started",
		{Outcome: outcome.Failed, Attempts: 12}:   "failed, attempt 12",
		{Outcome: outcome.Delayed}:                "delayed",
		{Outcome: outcome.Delayed, Attempts: 1}:   "delayed, attempt 1",
		{Outcome: outcome.Stopped, Attempts: 100}: "stopped, attempt 100",

		{Outcome: outcome.OK, Timed: true, Took: 3*time.Millisecond + 40}:              "ok, took 3.00004ms",
		{Outcome: outcome.Canceled, Timed: true}:                                       "canceled, took 0s",
		{Outcome: outcome.Delayed, Attempts: 1, Timed: true, Took: 90 * time.Second}:   "delayed, attempt 1, took 1m30s",
		{Outcome: outcome.NotStarted, Attempts: 1e6, Timed: true, Took: math.MaxInt64}: "not started, attempt 1000000, took 2562047h47m16.854775807s",
	} {
		if got := label.String(); got != text || outcome.ParseLabel(text) != label {
			t.Errorf("%+v: %q, which is read as %+v", label, got, outcome.ParseLabel(text))
		}
		if len(text) > durable.MaxLabel {
			t.Errorf("%q has %d bytes", text, len(text))
		}
	}
	for _, text := range []string{"declined", "ok", "failed, attempt 1", "failed, attempt 03", "failed, attempt -1", "failed, attempt 3 ",
		"delayed, attempt 0", ", attempt 3", "timeout, ", "Timeout",
		"ok, took ", "ok, took 90s", "ok, took 1", ", took 1s", "took 1s", "ok, took 1s, attempt 2", "ok, took 1s, took 1s"} {
		if got := outcome.ParseLabel(text); got != (outcome.Label{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// One attempt of a run that was not put off needs no number.
func TestLabelOmitsFirstAttempt(t *testing.T) {
	for label, text := range map[outcome.Label]string{
		{Outcome: outcome.OK, Attempts: 1}:      "",
		{Outcome: outcome.Timeout, Attempts: 1}: "timeout",
	} {
		if got := label.String(); got != text {
			t.Errorf("%+v: %q, want %q", label, got, text)
		}
	}
}

// What a label has of due times that were missed before a run is read as it was written, and is short enough.
func TestBeforeIsReadAsWritten(t *testing.T) {
	first := time.Date(2026, 12, 31, 23, 59, 59, 123456000, time.UTC)
	for _, n := range []int{1, 100_000} {
		text := "run 1000000, " + outcome.Before(n, first)
		if got, at := outcome.ParseBefore(text); got != n || !at.Equal(first) {
			t.Errorf("%q is read as %d from %v", text, got, at)
		}
		if len(text) > durable.MaxLabel {
			t.Errorf("%q has %d bytes", text, len(text))
		}
	}
	for _, text := range []string{"run 7", "left out, missed: x", "run 7, missed 3", "run 7, missed 0 from 2026-12-31T23:59:59Z", "run 7, missed 3 from now"} {
		if n, at := outcome.ParseBefore(text); n != 0 || !at.IsZero() {
			t.Errorf("%q is read as %d from %v", text, n, at)
		}
	}
}
