package durable_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A second Run returns an error that matches ErrInvalid.
func TestJobsRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		stop := start(t, jobs)
		stop()
		if err := jobs.Run(t.Context()); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
	})
}

// Each line of the log about a job names it by its key: its ID means nothing to a reader.
func TestLogNamesJobsByKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log strings.Builder
		jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		k := durable.Handle(jobs, "k", func(ctx context.Context, what string) (string, error) {
			switch what {
			case "panics":
				panic("no")
			case "refused": // what the store does when it takes this node for dead
				job, _ := durable.Current(ctx)
				if job.Epoch == 1 {
					must(store.Release(ctx, job.Owner, nil))
				}
			case "fails":
				return "", errors.New("no")
			}
			return "", nil
		})
		stop := start(t, jobs)
		want := map[string]string{"panics": "panicked", "refused": "was refused", "fails": "failed for good"}
		for what := range want {
			must(k.Add(t.Context(), what, durable.Key("key-of-"+what), durable.Attempts(1)))
		}
		time.Sleep(time.Minute)
		stop()
		for what, text := range want {
			found := false
			for line := range strings.Lines(log.String()) {
				found = found || strings.Contains(line, text) && strings.Contains(line, "key=key-of-"+what)
			}
			if !found {
				t.Errorf("%s: no line about that key in\n%s", text, &log)
			}
		}
	})
}

// A logger that panics ends nothing: neither the node, whose store fails, nor a handler's run.
func TestLoggerThatPanicsEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Logger = slog.New(angry{}) })
		k := durable.Handle(jobs, "k", func(_ context.Context, fail bool) (int, error) {
			if fail {
				panic("boom")
			}
			return 1, nil
		})
		start(t, jobs)
		time.Sleep(time.Second)
		line.down()
		time.Sleep(10 * time.Second)
		line.up()
		time.Sleep(10 * time.Second)
		id := must(k.Add(t.Context(), true, durable.Attempts(1)))
		if _, err := k.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) {
			t.Error(err)
		}
		must(k.Await(t.Context(), must(k.Add(t.Context(), false))))
	})
}

// angry is a handler of slog of which each method panics.
type angry struct{}

func (angry) Enabled(context.Context, slog.Level) bool  { return true }
func (angry) Handle(context.Context, slog.Record) error { panic("no log") }
func (angry) WithAttrs([]slog.Attr) slog.Handler        { panic("no attributes") }
func (angry) WithGroup(string) slog.Handler             { panic("no group") }
