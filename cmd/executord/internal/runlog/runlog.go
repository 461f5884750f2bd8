// Package runlog is the log of a daemon: short lines for people at a terminal, text, or JSON for programs.
package runlog

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/logwriter"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// Log is the log of run.
type Log struct {
	*slog.Logger
	*logwriter.Writer
}

// New returns the log on w: short lines for people at a terminal, JSON for
// programs, or what was chosen. lost is called once, when it cannot be written
// any more: its pipe is broken, or its terminal is gone. A daemon whose jobs run unseen
// is worse than none, so that is a reason to end; a full disk is not, since it may have
// room again. The caller closes the log.
func New(w *os.File, format string, lost func(error)) Log {
	if format == "auto" && terminal.Is(w) {
		format = "short"
	}
	look, width := terminal.LookOf(w), func() int { return terminal.WidthOf(w) }
	out := logwriter.New(logwriter.Config{To: w, IsGone: isGone, Gone: lost, Gap: func(d logwriter.Dropped) []byte {
		var line bytes.Buffer
		reason := "the log was not read"
		if d.Err != nil {
			reason = complaint.Cause(d.Err).Error()
		}
		slog.New(newHandler(&line, format, look, width)).Warn("lines of the log dropped", "count", d.Lines,
			"first", d.First.Truncate(time.Millisecond), "last", d.Last.Truncate(time.Millisecond), "reason", reason)
		return line.Bytes()
	}})
	return Log{slog.New(newHandler(out, format, look, width)), out}
}

func newHandler(w io.Writer, format string, look terminal.Look, width func() int) slog.Handler {
	switch format {
	case "short":
		return newShortLog(w, look, width)
	case "text":
		return slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: shortInText})
	}
	return slog.NewJSONHandler(job.PrintableWriter(w), &slog.HandlerOptions{ReplaceAttr: secondsInJSON})
}

// shortInText writes durations with four digits, or to the millisecond.
func shortInText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		d, unit := a.Value.Duration(), time.Duration(1)
		for unit < time.Millisecond && d.Abs()/unit >= 10_000 {
			unit *= 10
		}
		a.Value = slog.DurationValue(d.Round(unit))
	}
	return a
}

// secondsInJSON writes durations as numbers of seconds. By itself, slog writes
// nanoseconds there, which do not look like seconds and overflow a double.
func secondsInJSON(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

// isGone reports whether an error of writing means that the reader is gone for
// good.
func isGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) || errors.Is(err, os.ErrClosed)
}
