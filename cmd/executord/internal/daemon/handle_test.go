package daemon

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// The history says of a command that was never started that it was not, unless this daemon has ended the run: then it is
// begun again.
func TestHandledVerdictOnWhatWasNotStarted(t *testing.T) {
	for _, cause := range []error{nil, executor.ErrCanceled} {
		result := process.Result{Err: errors.New("the reason"), Stopped: cause != nil, Cause: cause}
		r := new(handled)
		var got *ending
		if err := r.verdict(result, r.outcomeOf(result)); !errors.As(err, &got) || err.Error() != "not started: the reason" ||
			got.label.Outcome != outcome.NotStarted || !errors.Is(err, executor.Permanent(err)) {
			t.Errorf("after %v: %v, %+v", cause, err, got)
		}
	}
}

// What this daemon has ended is run again, and stands in the history with its outcome; what it has not begun does not.
func TestHandledVerdictOnWhatWasCut(t *testing.T) {
	for cause, want := range map[error]outcome.Outcome{executor.ErrShutdown: outcome.Stopped, durable.ErrLeaseLost: outcome.Lost} {
		result := process.Result{Stopped: true, Cause: cause, Code: -1, Signal: "SIGTERM"}
		r := new(handled)
		r.tail.add([]byte("half of it"))
		err := r.verdict(result, r.outcomeOf(result))
		var end *ending
		if !errors.As(err, &end) {
			t.Fatalf("after %v: %v", cause, err)
		}
		got := view.Ended(catalog.Entry{}, durable.Job{}, durable.Run{Verdict: durable.RunSnoozed, Error: err.Error(), Label: end.label.String()})
		if got.Outcome != want || err.Error() != string(want)+": it was ended while it ran\nhalf of it" ||
			errors.Is(err, executor.Permanent(err)) {
			t.Errorf("after %v: %v, outcome %q", cause, err, got.Outcome)
		}
	}
}

// A run that the node begins when the drain has begun starts no command: it is left for later.
func TestHandledStartsNothingInDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commands := 0
		h := beginWith(t, Config{File: parse(t, "# name: a\n@yearly true\n")},
			func(context.Context, process.Command, process.Observer) process.Result {
				commands++
				return process.Result{}
			})
		h.leave()
		r := &handled{run: run{entry: h.entry("a"), job: h.File.Jobs[0], log: h.Log}}
		if err := r.handle(t.Context()); err != errDrain {
			t.Errorf("error %v", err)
		}
		h.end()
		if commands != 0 {
			t.Error("a command was started")
		}
	})
}

// Only times of the schedule have a jitter: not one at which somebody asks for a run.
func TestPlanJitters(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		schedule string
		at       time.Time
		late     time.Duration
		want     bool
	}{
		{"cron CRON_TZ=UTC 0 * * * *", noon, 0, true},
		{"cron CRON_TZ=UTC 0 * * * *", noon, time.Minute, true},
		{"cron CRON_TZ=UTC 0 * * * *", noon.Add(time.Second), 0, false},
		{"rate 90s", noon.Add(3 * time.Minute), 0, true},
		{"rate 90s", noon.Add(2 * time.Minute), 0, false},
	} {
		e := catalog.Entry{Job: durable.Job{Schedule: test.schedule, Anchor: noon}, Namespace: "n"}
		e.Spec.Jitter = time.Hour
		p := planOf(e, durable.Firing{Schedule: e.Job, Occurrence: test.at, Now: test.at.Add(test.late)}, nil, func(d time.Duration) time.Duration { return d / 2 })
		if got := p.Delay; got > 0 != test.want || test.want && got != 30*time.Minute+test.late {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
