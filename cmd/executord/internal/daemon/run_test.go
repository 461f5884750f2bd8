package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// newRun returns a run of a job that is not logged.
func newRun(t *testing.T, j job.Job) *run {
	t.Helper()
	d, err := New(Config{Log: slog.New(slog.DiscardHandler), Store: Memory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.pool.Close() })
	e := d.entry(j.Name)
	return &run{entry: e, job: j, number: 3, due: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), log: e.log}
}

// A run that was ended before its command was started was interrupted, and has not failed by itself: the exit code
// depends on that.
func TestRunEndedBeforeItsStartIsInterrupted(t *testing.T) {
	for _, test := range []struct {
		cause error
		want  Counts
	}{
		{executor.ErrShutdown, Counts{Runs: 1, Failed: 1, Interrupted: 1}},
		{executor.ErrCanceled, Counts{Runs: 1, Failed: 1}},
	} {
		r := newRun(t, job.Job{Name: "late", Command: job.Command{Args: []string{"true"}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		r.entry.begin()
		r.execute(ctx, func(context.Context) int { return 0 })
		if r.entry.mu.Counts != test.want {
			t.Errorf("%v: counts %+v; want %+v", test.cause, r.entry.mu.Counts, test.want)
		}
	}
}

// A run that is lost while the daemon drains was not waited for: it counts as interrupted.
func TestRunLostInDrainIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Memory()
		down := &silent{Store: s.Store}
		s.Store, s.Lease, s.Name = down, 5*time.Second, "x"
		h := begin(t, Config{File: parse(t, "# name: a\n@every 10m sleep 2m\n"), Store: s})
		time.Sleep(10*time.Minute + 30*time.Second)
		h.drain(errPatience)
		down.set(true)
		time.Sleep(10 * time.Second)
		down.set(false)
		<-h.done
		if h.sum.Runs != 1 || h.sum.Interrupted != 1 {
			t.Errorf("%+v\n%s", h.sum, h.log.String())
		}
	})
}

// A run that was interrupted has the outcome of what did that.
func TestRunOutcomeSaysWhatEndedIt(t *testing.T) {
	ended := process.Result{Code: -1, Signal: "SIGTERM", Stopped: true}
	for _, test := range []struct {
		result process.Result
		cause  error
		want   outcome.Outcome
	}{
		{process.Result{}, nil, outcome.OK},
		{process.Result{}, process.ErrTimeout, outcome.OK}, // it ended just before
		{process.Result{Code: 1}, nil, outcome.Failed},
		{process.Result{Err: errors.New("no such program")}, nil, outcome.NotStarted},
		{ended, process.ErrTimeout, outcome.Timeout},
		{ended, executor.ErrCanceled, outcome.Canceled},
		{ended, executor.ErrShutdown, outcome.Stopped},
		{ended, durable.ErrLeaseLost, outcome.Lost},
		{ended, nil, outcome.Stopped}, // the third signal
	} {
		test.result.Cause = test.cause
		if got := new(run).outcomeOf(test.result); got != test.want {
			t.Errorf("%+v because of %v: %s, want %s", test.result, test.cause, got, test.want)
		}
	}
}

// An exit code is well if the job says so, and 0 is only where it is among them; a signal never is.
func TestRunSucceedsByItsCodes(t *testing.T) {
	for _, test := range []struct {
		codes  []int
		result process.Result
		want   outcome.Outcome
	}{
		{nil, process.Result{Code: 3}, outcome.Failed},
		{[]int{0, 3}, process.Result{Code: 3}, outcome.OK},
		{[]int{0, 3}, process.Result{}, outcome.OK},
		{[]int{0, 3}, process.Result{Code: 1}, outcome.Failed},
		{[]int{3}, process.Result{}, outcome.Failed},
		{[]int{0, 255}, process.Result{Code: -1, Signal: "SIGTERM"}, outcome.Failed},
		{[]int{0, 3}, process.Result{Code: 3, Stopped: true, Cause: process.ErrTimeout}, outcome.Timeout},
	} {
		r := &run{job: job.Job{SuccessCodes: test.codes}}
		if got := r.outcomeOf(test.result); got != test.want {
			t.Errorf("codes %v, %+v: %s, want %s", test.codes, test.result, got, test.want)
		}
	}
}

// What is special about the end of a run is noted, and nothing else.
func TestRunNote(t *testing.T) {
	tests := []struct {
		result process.Result
		want   string
	}{
		{process.Result{}, ""},
		{process.Result{Code: 1}, ""},
		{process.Result{Code: -1, Signal: "SIGKILL", Stopped: true, Killed: true}, ""},
		{process.Result{Code: -1, Signal: "SIGTERM", Stopped: true, Killed: true}, "did not end after SIGTERM, and was killed"},
		{process.Result{Leftover: true}, "outlived the command and were ended"},
		{process.Result{Leftover: true, Killed: true}, "did not end after SIGTERM, and were killed"},
		{process.Result{Survived: true, Killed: true}, "still there"},
		{process.Result{Code: 127}, "did not find"},
	}
	for _, test := range tests {
		if got := new(run).note(test.result); !strings.HasSuffix(got, test.want) && !strings.Contains(got, test.want) ||
			(got == "") != (test.want == "") {
			t.Errorf("%+v: %q, want %q", test.result, got, test.want)
		}
	}
	list := run{job: job.Job{Command: job.Command{Args: []string{"program"}}}}
	if got := list.note(process.Result{Code: 127}); got != "" {
		t.Errorf("without a shell: %q", got)
	}
}

// Later variables win, and those of executord win over all.
func TestRunEnvironment(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("SHELL", "/bin/zsh")
	t.Setenv("HOME", "/root/of/all")
	t.Setenv("KEPT", "yes")
	t.Setenv("B", "the daemon's")
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "env"), filepath.Join(dir, "secret")
	if err := errors.Join(
		os.WriteFile(file, []byte("A=of a file\nC=of a file\nD=of a file\nEXECUTORD_RUN=9\n"), 0o600),
		os.WriteFile(secret, []byte("a secret\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, job.Job{Name: "backup", Command: job.Command{
		Shell: "/bin/sh", Script: "x", Env: []string{"A=1", "A=2", "B=the file's", "D=the file's", "EXECUTORD_JOB=mine"},
		EnvFiles: []string{file}, Secrets: []string{"D=" + secret},
	}})
	got := make(map[string]string)
	command, err := r.prepare()
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range command.Env {
		name, value, _ := strings.Cut(variable, "=")
		got[name] = value
	}
	for name, want := range map[string]string{
		"PATH": environ.DefaultPath, "SHELL": "/bin/sh", "HOME": "/root/of/all", "KEPT": "yes", "A": "2", "B": "the file's",
		"C": "of a file", "D": "a secret",
		"EXECUTORD_JOB": "backup", "EXECUTORD_RUN": "3", "EXECUTORD_DUE": "2026-01-02T03:04:05Z",
	} {
		if got[name] != want {
			t.Errorf("%s=%s, want %s", name, got[name], want)
		}
	}
}
