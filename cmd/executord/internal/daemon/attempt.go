package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/variables"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// run is one run of a job.
type run struct {
	entry    *entry
	job      job.Job
	number   int
	attempt  int
	failures int           // of its attempts
	rest     time.Duration // of the wait for the next attempt, if the outcome is delayed
	replaced bool          // during the wait for the next attempt
	due      time.Time
	log      *slog.Logger
	node     string // the name of the daemon in a store that daemons share
	veil     variables.Veil
	extra    []string // variables besides those that all runs have
	given    []string // parameters, NAME=value; nil for the defaults
	tail     tail     // of stderr, for the history
	told     *tail    // of all output, for notifications; nil if there are none
	kept     *record.Run
	stored   *record.Writer // for the history; nil if no store keeps it
	spans    spans
	causes   []string // the traceparents of the runs that it is after, of those that have one

	written  atomic.Int64 // bytes of the log that its lines have taken
	unlogged atomic.Int64 // lines beyond MaxOutput

	// before returns whether the last run before this one was bad, if the store knows. It is nil if no store keeps the
	// runs.
	before func(ctx context.Context) (bad, known bool)
}

// late returns how long after its due time the command was started. If it was not, began is zero, and late returns how
// long after its due time it is now.
func (r *run) late(began time.Time) time.Duration {
	if began.IsZero() {
		began = time.Now()
	}
	return max(began.Sub(r.due), 0) // the clock of a store may be ahead
}

// command runs the command.
func (r *run) command(ctx context.Context) process.Result {
	command, err := r.prepare()
	if err != nil {
		return process.Result{Err: err}
	}
	stdout, stderr := variables.Line{Veil: &r.veil}, variables.Line{Veil: &r.veil}
	result := r.entry.base.command(ctx, command, process.Observer{
		Started: func(pid int, began time.Time) {
			attrs := []any{about.Key, about.RunStarted, "due", stamp(r.due), "late", r.late(began), "pid", pid}
			if r.node != "" {
				attrs = append(attrs, "node", r.node)
			}
			if r.given != nil {
				attrs = append(attrs, "with", view.ShowParameters(r.given))
			}
			r.log.Info("run started", attrs...)
			r.entry.started(began)
			r.spans.started(pid)
			if r.failures == 0 {
				r.entry.tellStarted(r.number, r.due, began, r.late(began), r.job.Jitter)
			}
			r.kept.Change(func(v *view.Run) {
				if v.Started.IsZero() {
					v.Started = began
				}
			})
		},
		Output: func(stream process.Stream, line []byte, more bool) {
			veiled := &stdout
			if stream == process.Stderr {
				veiled = &stderr
			}
			if line = veiled.Hide(line, more); len(line) > 0 || !more {
				r.output(ctx, stream, line, more)
			}
		},
	})
	if result.Err != nil && !result.Stopped { // it may name the PATH, which may be from a file
		result.Err = errors.New(string(r.veil.Hide([]byte(result.Err.Error()))))
	}
	return result
}

// prepare returns what is run, with the environment of the run. Of a job of the store EXECUTORD_TOKEN is among the
// variables, and of a run that has a span TRACEPARENT and TRACESTATE.
func (r *run) prepare() (process.Command, error) {
	return environ.Command(r.job, environ.Run{
		Number: r.number, Attempt: r.attempt, Due: r.due, Given: r.given,
		Extra: append(slices.Clip(r.extra), r.spans.environment()...),
	}, &r.veil)
}

// errReplaced is the cause of the end of a run for which one of a later time begins.
var errReplaced = errors.New("the job is due again, and a run for that replaces this one")

// outcomeOf returns the outcome. What stopped the run may have come before the command was started, which then had no
// chance to end by itself either.
func (r *run) outcomeOf(result process.Result) outcome.Outcome {
	switch {
	case result.Stopped && errors.Is(result.Cause, process.ErrTimeout):
		return outcome.Timeout
	case result.Stopped && errors.Is(result.Cause, durable.ErrLeaseLost):
		return outcome.Lost
	case result.Stopped && errors.Is(result.Cause, errReplaced):
		return outcome.Replaced
	case result.Stopped && errors.Is(result.Cause, executor.ErrCanceled):
		return outcome.Canceled
	case result.Stopped:
		return outcome.Stopped
	case result.Err != nil:
		return outcome.NotStarted
	case !result.Exited() || !r.job.Succeeds(result.Code):
		return outcome.Failed
	}
	return outcome.OK
}

// reason returns why the attempt was not ok, "" if it was.
func (r *run) reason(result process.Result, o outcome.Outcome) string {
	var text string
	switch {
	case o == outcome.OK:
		return ""
	case o == outcome.Delayed:
		text = fmt.Sprintf("%s: executord ended before attempt %d", o, r.attempt+1)
	case result.Err != nil && (o == outcome.Replaced || o == outcome.Stopped || o == outcome.Lost):
		text = string(o) + ": before its command was started"
	case result.Err != nil: // whatever the outcome, as one may be canceled that waits for its turn
		text = "not started: " + result.Err.Error()
	case o == outcome.Timeout:
		text = fmt.Sprintf("timeout: it was ended after %v", r.job.Timeout)
	case o != outcome.Failed:
		text = string(o) + ": it was ended while it ran"
	default:
		text = result.Status()
	}
	if note := r.note(result); note != "" {
		text += " (" + note + ")"
	}
	return text
}

// note returns what else there is to say of how a run ended.
func (r *run) note(result process.Result) string {
	switch rest := result.Rest(); {
	case rest != "":
		return rest
	case r.replaced:
		return fmt.Sprintf("it was replaced before attempt %d", r.attempt+1)
	case result.Code == 127 && result.Signal == "" && len(r.job.Command.Args) == 0:
		return "the shell did not find the command; see its output"
	}
	return ""
}

// output logs one line that the command wrote. The line itself is the message,
// as what people look for in a log is what their programs say.
func (r *run) output(ctx context.Context, stream process.Stream, line []byte, more bool) {
	if stream == process.Stderr {
		r.tail.add(line)
	} else if !more && r.noteProgress(ctx, line) {
		return
	}
	if r.told != nil {
		r.told.add(line)
	}
	now := time.Now()
	if r.stored != nil {
		r.stored.Add(now, stream == process.Stderr, line)
	}
	r.kept.Output().Add(now, stream == process.Stderr, more, line)
	if !r.mayLog(line) {
		return
	}
	if admit := r.entry.base.Admit; admit != nil && !admit(ctx, lineSize(line)) {
		return
	}
	attrs := []slog.Attr{slog.String("stream", string(stream))}
	if more {
		attrs = append(attrs, slog.Bool("more", true))
	}
	r.log.LogAttrs(context.Background(), slog.LevelInfo, job.Printable(string(line)), attrs...)
}

// lineRest is about what a line takes in the log besides its text.
const lineRest = 100

// mayLog reports whether there is room for a line of the run, or counts it. The first without room is noted at once.
func (r *run) mayLog(line []byte) bool {
	most := r.entry.base.MaxOutput
	if most <= 0 || r.written.Add(int64(len(line)+lineRest)) <= most {
		return true
	}
	if r.unlogged.Add(1) == 1 {
		r.log.Warn("rest of the output not logged", "reason", fmt.Sprintf("the run has written %d MiB to the log", most>>20), "hint",
			"write less, or to a file, or set --max-output")
	}
	return false
}

// lineSize returns about how many bytes a line has in the log, at most: of a byte that is shown as an escape, \x1b, the
// backslash may be escaped too.
func lineSize(line []byte) int { return 5*len(line) + 512 }

// noteProgress notes how far the run has come, if a line says so.
func (r *run) noteProgress(ctx context.Context, line []byte) bool {
	if !r.job.Progress {
		return false
	}
	p, ok := parseProgress(line)
	if ok {
		r.kept.Change(func(v *view.Run) { v.Progress = &p })
		durable.Progress(ctx, p.Done, p.Total, p.Note)
	}
	return ok
}
