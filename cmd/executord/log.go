package main

import (
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// newLog returns the log on w: text for people at a terminal, JSON for
// programs, or what was chosen. lost is called once, when it cannot be written
// any more.
func newLog(w *os.File, format string, lost func(error)) *slog.Logger {
	out := &logWriter{to: w, lost: lost}
	if format == "text" || format == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: shortInText}))
	}
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: secondsInJSON}))
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

// logWriter notices that the log cannot be read any more: its pipe is broken,
// or its terminal is gone. A daemon whose jobs run unseen is worse than none, so
// that is a reason to end; a full disk is not, since it may have room again.
//
// Then a line may have been written in part. The next one begins a line of its
// own, so that it is not lost, too. A slog.Handler has one Write at a time.
type logWriter struct {
	to   io.Writer
	torn bool // the last line has no end
	once sync.Once
	lost func(error)
}

func (w *logWriter) Write(p []byte) (int, error) {
	if w.torn {
		if _, err := w.to.Write([]byte("\n")); err == nil {
			w.torn = false
		}
	}
	n, err := w.to.Write(p)
	if n > 0 {
		w.torn = n < len(p)
	}
	if err != nil && isGone(err) {
		w.once.Do(func() { w.lost(err) })
	}
	return n, err
}
