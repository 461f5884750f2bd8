package outcome_test

import (
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
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
	} {
		if got := label.String(); got != text || outcome.ParseLabel(text) != label {
			t.Errorf("%+v: %q, which is read as %+v", label, got, outcome.ParseLabel(text))
		}
	}
	for _, text := range []string{"declined", "ok", "failed, attempt 1", "failed, attempt 03", "failed, attempt -1", "failed, attempt 3 ",
		"delayed, attempt 0", ", attempt 3", "timeout, ", "Timeout"} {
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
