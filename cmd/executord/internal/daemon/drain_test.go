package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
)

// stuck is a log whose reader takes its time for lines of one kind.
type stuck struct {
	slog.Handler
	msg   string
	takes time.Duration
}

func (h stuck) Enabled(context.Context, slog.Level) bool { return true }

func (h stuck) Handle(_ context.Context, r slog.Record) error {
	if r.Message == h.msg {
		time.Sleep(h.takes)
	}
	return nil
}

func (h stuck) WithAttrs([]slog.Attr) slog.Handler { return h }

// Each time of a job is a run, or skipped, or missed, also those that executord did
// not come to before its end.
func TestTimesBeforeTheDrainAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, err := crontab.Parse("tab", []byte("# name: a\n@every 1m true\n# name: b\n@every 1m true\n"))
		if err != nil {
			t.Fatal(err)
		}
		d := New(Config{File: file, Log: slog.New(stuck{slog.DiscardHandler, "run skipped", 150 * time.Second})})
		drain, cancel := context.WithCancelCause(t.Context())
		if err := d.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range d.entries {
			e.mu.Lock()
			e.mu.running = true // a run that goes on, so that none is started
			e.mu.Unlock()
		}
		time.Sleep(70 * time.Second) // the one is skipped, and the other waits for the line that says so
		cancel(errPatience)
		d.drain(Ends{Drain: drain, Stop: t.Context(), Kill: t.Context()})
		for _, e := range d.entries {
			if told := e.mu.Skipped + e.mu.Missed; told != 3 { // up to the end of the line
				t.Errorf("%s: of 3 times, %d were skipped and %d missed", e.job.Name, e.mu.Skipped, e.mu.Missed)
			}
		}
	})
}

// A time that waits for the end of its jitter when the drain begins is told as one
// that is missed because of that.
func TestJitterEndsWithTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, err := crontab.Parse("tab", []byte("# name: a\n@every 1h true\n"))
		if err != nil {
			t.Fatal(err)
		}
		file.Jobs[0].Jitter = 10_000 * time.Hour
		var log bytes.Buffer
		d := New(Config{File: file, Log: slog.New(slog.NewTextHandler(&log, nil))})
		drain, cancel := context.WithCancelCause(t.Context())
		if err := d.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		cancel(errPatience)
		d.drain(Ends{Drain: drain, Stop: t.Context(), Kill: t.Context()})
		if text := log.String(); strings.Count(text, `msg="runs missed" job=a count=1 `) != 1 || !strings.Contains(text, `reason="the drain began before executord came to it"`) {
			t.Errorf("logged %s", text)
		}
	})
}
