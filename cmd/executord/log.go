package main

import (
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"
)

// newLog returns the log on w: text for people at a terminal, JSON for
// programs, or what was chosen. lost is called once, when it cannot be written
// any more.
func newLog(w *os.File, format string, lost func(error)) *slog.Logger {
	out := &logWriter{to: w, lost: lost}
	if format == "text" || format == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.New(slog.NewTextHandler(out, nil))
	}
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: secondsInJSON}))
}

// secondsInJSON writes durations as numbers of seconds. By itself, slog writes
// nanoseconds there, which look like seconds to nobody and overflow a double.
func secondsInJSON(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

// logWriter notices that nobody can read the log any more: its pipe is broken,
// or its terminal is gone. A daemon whose jobs run unseen is worse than none, so
// that is a reason to end; a full disk is not, since it may have room again.
type logWriter struct {
	to   io.Writer
	once sync.Once
	lost func(error)
}

func (w *logWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil && isGone(err) {
		w.once.Do(func() { w.lost(err) })
	}
	return n, err
}
