package daemon

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// each is a trigger for every full minute.
type each struct{}

func (each) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

// Times that the pool leaves out are counted, each once.
func TestWatchedCountsWhatIsLeftOut(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	type gap struct{ n, first int }
	steps := []struct {
		name  string
		use   bool      // the job ran at the time given last
		after time.Time // the pool asks for the time after this
		want  int       // minute
		gap   gap
	}{
		{"at the start nothing is missed", false, at(0).Add(time.Second), 1, gap{}},
		{"in time", true, at(1), 2, gap{}},
		{"in time, but asked with the present", true, at(2).Add(59 * time.Second), 3, gap{}},
		{"asked with the time that was used", true, at(3), 4, gap{}},
		{"which has passed, so it asks again", false, at(6).Add(time.Second), 7, gap{3, 4}},
		{"too late by nothing", true, at(8), 9, gap{1, 8}},
		{"an hour of sleep", true, at(69).Add(time.Second), 70, gap{60, 10}},
		{"the clock was set back", false, at(30), 31, gap{}},
		{"and all is as before", true, at(31), 32, gap{}},
	}
	var got gap
	w := &watched{Trigger: each{}, missed: func(n int, first time.Time) { got = gap{n, int(first.Sub(at(0)).Minutes())} }}
	for _, step := range steps {
		got = gap{}
		if step.use {
			w.use()
		}
		if next := w.Next(step.after); !next.Equal(at(step.want)) || got != step.gap {
			t.Errorf("%s: next at %v, missed %v, want %v", step.name, next, got, step.gap)
		}
	}
}

// A run whose end came before its start was cut short, and has not failed by
// itself: the exit code depends on that.
func TestEndBeforeStart(t *testing.T) {
	for _, test := range []struct {
		cause error
		want  Counts
	}{
		{executor.ErrShutdown, Counts{Failed: 1, Interrupted: 1}},
		{executor.ErrCanceled, Counts{Failed: 1}},
	} {
		d := New(Config{Log: slog.New(slog.DiscardHandler)})
		e := newEntry(d, job.Job{Name: "late", Command: job.Command{Args: []string{"true"}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		r := &run{entry: e, job: e.job, number: 1, due: time.Now(), log: e.log}
		if err := r.execute(ctx); err != nil || e.mu.Counts != test.want {
			t.Errorf("%v: counts %+v, error %v; want %+v", test.cause, e.mu.Counts, err, test.want)
		}
	}
}

// Later variables win, and those of executord win over all.
func TestEnvironment(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("SHELL", "/bin/zsh")
	t.Setenv("HOME", "/root/of/all")
	t.Setenv("KEPT", "yes")
	t.Setenv("B", "the daemon's")
	d := New(Config{Log: slog.New(slog.DiscardHandler)})
	e := newEntry(d, job.Job{Name: "backup", Command: job.Command{
		Shell: "/bin/sh", Script: "x", Env: []string{"A=1", "A=2", "B=the file's", "EXECUTORD_JOB=mine"},
	}})
	r := &run{entry: e, job: e.job, number: 3, due: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	got := make(map[string]string)
	for _, variable := range r.environment() {
		name, value, _ := strings.Cut(variable, "=")
		got[name] = value
	}
	for name, want := range map[string]string{
		"PATH": defaultPath, "SHELL": "/bin/sh", "HOME": "/root/of/all", "KEPT": "yes", "A": "2", "B": "the file's",
		"EXECUTORD_JOB": "backup", "EXECUTORD_RUN": "3", "EXECUTORD_DUE": "2026-01-02T03:04:05Z",
	} {
		if got[name] != want {
			t.Errorf("%s=%s, want %s", name, got[name], want)
		}
	}
}

// What is special about the end of a run is told, and nothing else.
func TestAftermath(t *testing.T) {
	tests := []struct {
		result process.Result
		want   string
	}{
		{process.Result{}, ""},
		{process.Result{Code: 1}, ""},
		{process.Result{Code: -1, Signal: "SIGKILL", Stopped: true, Killed: true}, ""},
		{process.Result{Code: -1, Signal: "SIGTERM", Stopped: true, Killed: true}, "did not end when told to, and was killed"},
		{process.Result{Leftover: true}, "outlived the command and were ended"},
		{process.Result{Leftover: true, Killed: true}, "did not end when told to, and were killed"},
		{process.Result{Survived: true, Killed: true}, "still there"},
		{process.Result{Code: 127}, "did not find"},
	}
	for _, test := range tests {
		if got := aftermath(test.result); !strings.HasSuffix(got, test.want) && !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%+v: %q, want %q", test.result, got, test.want)
		}
	}
}

// The reason of the first step that was taken is the one that is told.
func TestWhy(t *testing.T) {
	first, cancel := context.WithCancelCause(context.Background())
	if got := reason(first); got != "" {
		t.Errorf("got %q", got)
	}
	cancel(errPatience)
	if got := reason(context.Background(), first); got != errPatience.Error() {
		t.Errorf("got %q", got)
	}
}
