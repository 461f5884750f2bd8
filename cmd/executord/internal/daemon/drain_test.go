package daemon

import (
	"context"
	"log/slog"
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
