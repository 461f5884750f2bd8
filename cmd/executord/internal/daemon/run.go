package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/variables"
	"github.com/executor-go/executor/durable"
)

// run is one run of a job.
type run struct {
	entry    *entry
	job      job.Job
	number   int
	attempt  int
	failures int           // of its attempts
	letGo    atomic.Bool   // for the store it is over
	rest     time.Duration // of the wait for the next attempt, if the outcome is delayed
	due      time.Time
	log      *slog.Logger
	node     string // the name of the daemon in a store that daemons share
	veil     variables.Veil
	extra    []string // variables besides those that all runs have
	tail     tail     // of stderr, for the history
	told     *tail    // of all output, for notifications; nil if there are none
	kept     *record.Run
	stored   io.Writer // for the history; nil if no store keeps it

	written  atomic.Int64 // bytes of the log that its lines have taken
	unlogged atomic.Int64 // lines beyond MaxOutput
}

// execute runs the command and accounts for it: one line at the start, one at the end, and the output between them. ctx
// ends when the run is to end. At the end, skipped returns how many times of the job have passed meanwhile.
func (r *run) execute(ctx context.Context, skipped func(outcome.Outcome) int) (process.Result, outcome.Outcome) {
	d := r.entry.daemon
	d.running.Add(1)
	defer d.running.Add(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer r.entry.hold(r.number, cancel)()
	r.entry.begin()
	r.kept = d.Record.Begin(record.Facts{
		Job: r.job.Name, Number: r.number, Attempt: r.attempt, Node: r.node, Due: r.due,
	})
	if d.notifier.Any() {
		r.told = new(tail)
	}
	o, interrupted := outcome.Failed, false
	var end func(*record.Facts)
	defer func() { // after a panic, too
		r.entry.finish(o, interrupted)
		r.kept.End(end)
	}()

	result, ended := r.attempts(ctx)
	o = ended
	// A run that is lost before the drain is begun again, and says nothing of how the daemon will end.
	interrupted = o == outcome.Stopped || o == outcome.Lost && d.leaving.Err() != nil
	skips := skipped(o)
	text := r.failure(result, o)
	end = func(f *record.Facts) { f.Outcome, f.Took, f.Error, f.Skipped = o, result.Took, text, skips }
	r.report(result, o, skips)
	r.tellEnded(result, o, text, r.entry.recovers(o))
	return result, o
}

// failure returns what stands in the history of a run that is not ok, "" for one that is: why, and the end of what it
// wrote to standard error.
func (r *run) failure(result process.Result, o outcome.Outcome) string {
	var text string
	switch {
	case o == outcome.OK:
		return ""
	case o == outcome.Delayed:
		text = fmt.Sprintf("%s: executord ended before attempt %d", o, r.attempt+1)
	case result.Err != nil: // whatever the outcome, as one may be canceled that waits for its turn
		text = "not started: " + result.Err.Error()
	case o == outcome.Timeout:
		text = fmt.Sprintf("timeout: it was ended after %v", r.job.Timeout)
	case o != outcome.Failed:
		text = string(o) + ": it was ended while it ran"
	case result.Signal != "":
		text = "killed by " + result.Signal
	default:
		text = fmt.Sprintf("exit status %d", result.Code)
	}
	if note := note(result); note != "" {
		text += " (" + note + ")"
	}
	if r.failures > 1 && o != outcome.Delayed {
		text += fmt.Sprintf(", after %d attempts", r.failures)
	}
	if written := r.tail.String(); written != "" {
		text += "\n" + written
	}
	return text
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
	c := r.job.Command
	args := c.Args
	if len(args) == 0 {
		args = []string{c.Shell, "-c", c.Script}
	}
	as, dir, err := userOf(c)
	if err != nil {
		return process.Result{Err: err}
	}
	setup, err := setupOf(c)
	if err != nil {
		return process.Result{Err: err}
	}
	env, err := r.environment()
	if err != nil {
		return process.Result{Err: err}
	}
	result := r.entry.daemon.command(ctx, process.Command{
		Args:    withSelf(args),
		Env:     env,
		Dir:     dir,
		As:      as,
		Stdin:   c.Stdin,
		Setup:   setup,
		Timeout: r.job.Timeout,
	}, process.Observer{
		Started: func(pid int, began time.Time) {
			attrs := []any{"due", stamp(r.due), "late", r.late(began), "pid", pid}
			if r.node != "" {
				attrs = append(attrs, "node", r.node)
			}
			r.log.Info("run started", attrs...)
			r.entry.started(began)
			if r.failures == 0 {
				r.tellStarted(began)
			}
			r.kept.Change(func(f *record.Facts) {
				if f.PID = pid; f.Started.IsZero() {
					f.Started = began
				}
			})
		},
		Output: func(stream process.Stream, line []byte, more bool) { r.output(ctx, stream, r.veil.Hide(line), more) },
	})
	if result.Err != nil && !result.Stopped { // it may name the PATH, which may be from a file
		result.Err = errors.New(string(r.veil.Hide([]byte(result.Err.Error()))))
	}
	return result
}

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

// report logs the end of the run.
func (r *run) report(result process.Result, o outcome.Outcome, skips int) {
	late := r.late(result.Began)
	if result.Err != nil && o != outcome.Delayed {
		r.log.Error("run not started", "due", stamp(r.due), "late", late, "reason", result.Err.Error(), "skipped", skips)
		return
	}
	level := slog.LevelError
	switch o {
	case outcome.OK, outcome.Delayed:
		level = slog.LevelInfo
	case outcome.Canceled, outcome.Replaced:
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.String("outcome", string(o)), slog.Int("exit", result.Code)}
	if result.Signal != "" {
		attrs[1] = slog.String("signal", result.Signal)
	}
	attrs = append(attrs, slog.Duration("took", result.Took), slog.Duration("late", late), slog.Int("skipped", skips))
	if note := note(result); note != "" {
		attrs = append(attrs, slog.String("note", note))
	}
	if n := r.unlogged.Load(); n > 0 {
		attrs = append(attrs, slog.Int64("unlogged", n))
	}
	r.log.LogAttrs(context.Background(), level, "run ended", attrs...)
}

// note returns what else there is to say of how a run ended.
func note(result process.Result) string {
	switch {
	case result.Survived:
		return "processes of this run could not be killed and are still there"
	case result.Leftover && result.Killed:
		return "background processes outlived the command, did not end after SIGTERM, and were killed"
	case result.Leftover:
		return "background processes outlived the command and were ended"
	case result.Stopped && result.Killed && result.Signal != "SIGKILL":
		return "part of its processes did not end after SIGTERM, and was killed"
	case result.Code == 127 && result.Signal == "":
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
	if r.stored != nil {
		r.stored.Write(record.Encode(stream == process.Stderr, line))
	}
	r.kept.Output().Add(time.Now(), stream == process.Stderr, more, line)
	if !r.mayLog(line) {
		return
	}
	if admit := r.entry.daemon.Admit; admit != nil {
		release, ok := admit(ctx, lineSize(line))
		if !ok {
			return
		}
		defer release()
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
	most := r.entry.daemon.MaxOutput
	if most <= 0 || r.written.Add(int64(len(line)+lineRest)) <= most {
		return true
	}
	if r.unlogged.Add(1) == 1 {
		r.log.Warn("the rest is not logged", "reason", fmt.Sprintf("the run has written %d MiB to the log", most>>20), "hint",
			"write less, or to a file, or set --max-output")
	}
	return false
}

// lineSize returns about how many bytes a line has in the log, at most: of a byte that is shown as an escape, \x1b, the
// backslash may be escaped too.
func lineSize(line []byte) int { return 5*len(line) + 512 }
