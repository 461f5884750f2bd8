package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// run is one run of a job.
type run struct {
	*entry
	number int
	due    time.Time
	log    *slog.Logger
}

// errPatience is why the runs are ended when a drain takes too long.
var errPatience = errors.New("the drain took longer than --drain-timeout")

// execute runs the command and accounts for it: one line at the start, one at
// the end, and the output between them. ctx ends with the job's timeout, and
// when the daemon stops.
func (r *run) execute(ctx context.Context) error {
	failed, cut := true, false
	defer func() { r.finish(failed, cut) }() // also after a panic: the job must not count as running for ever

	late := time.Since(r.due)
	c := r.job.Command
	args := c.Args
	if len(args) == 0 {
		args = []string{c.Shell, "-c", c.Script}
	}
	result := r.daemon.supervisor.Run(ctx, process.Command{
		Args:  args,
		Env:   r.environment(),
		Dir:   c.Dir,
		Stdin: c.Stdin,
	}, process.Observer{
		Started: func(pid int) {
			r.log.Info("run started", "due", stamp(r.due), "late", late, "pid", pid)
		},
		Output: r.output,
	})

	timeout := result.Stopped && errors.Is(context.Cause(ctx), executor.ErrTimeout)
	failed, cut = !result.OK(), result.Stopped && !timeout
	// The line is written before the job is idle again, so that in the log the
	// end of a run comes before the start of the next.
	r.report(result, late, timeout, r.skips())
	return nil
}

// report logs the end of the run.
func (r *run) report(result process.Result, late time.Duration, timeout bool, skips int) {
	if result.Err != nil {
		r.log.Error("run not started", "due", stamp(r.due), "late", late, "why", result.Err.Error(), "skipped", skips)
		return
	}
	level, outcome := slog.LevelInfo, "ok"
	switch {
	case timeout:
		level, outcome = slog.LevelError, "timeout"
	case result.Stopped:
		level, outcome = slog.LevelError, "stopped"
	case !result.OK():
		level, outcome = slog.LevelError, "failed"
	}
	attrs := []slog.Attr{slog.String("outcome", outcome), slog.Int("exit", result.Code)}
	if result.Signal != "" {
		attrs[1] = slog.String("signal", result.Signal)
	}
	attrs = append(attrs, slog.Duration("took", result.Took), slog.Duration("late", late), slog.Int("skipped", skips))
	if note := aftermath(result); note != "" {
		attrs = append(attrs, slog.String("note", note))
	}
	r.log.LogAttrs(context.Background(), level, "run ended", attrs...)
}

// aftermath tells what else is to know of how a run ended.
func aftermath(result process.Result) string {
	switch {
	case result.Survived:
		return "processes of this run could not be killed and are still there"
	case result.Leftover && result.Killed:
		return "background processes outlived the command, did not end when told to, and were killed"
	case result.Leftover:
		return "background processes outlived the command and were ended"
	case result.Stopped && result.Killed && result.Signal != "SIGKILL":
		return "part of its processes did not end when told to, and was killed"
	case result.Code == 127 && result.Signal == "":
		return "the shell did not find the command; see its output"
	}
	return ""
}

// output logs one line that the command wrote. The line itself is the message,
// as what people look for in a log is what their programs say.
func (r *run) output(stream process.Stream, line []byte, more bool) {
	attrs := []slog.Attr{slog.String("stream", string(stream))}
	if more {
		attrs = append(attrs, slog.Bool("more", true))
	}
	r.log.LogAttrs(context.Background(), slog.LevelInfo, job.Printable(string(line)), attrs...)
}
