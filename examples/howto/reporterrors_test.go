package howto

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// reports collects what is reported, as lines with the name, the error, and whether there is a stack.
type reports struct {
	mu    sync.Mutex
	lines []string
}

func (r *reports) report(ctx context.Context, name string, err error, stack []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprint(name, ": ", err, " ", stack != nil, " ", ctx.Err()))
}

func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Errors and panics are reported once each; what was canceled is not.
func TestReportTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reports
		pool, err := executor.New(executor.Config{Workers: 1, Hooks: reportTasks(r.report), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		pool.Submit(t.Context(), func(context.Context) error { return errors.New("no disk") }, executor.Named("save")).Wait(t.Context())
		pool.Submit(t.Context(), func(context.Context) error { panic("oh") }, executor.Named("load")).Wait(t.Context())
		pool.Submit(t.Context(), func(context.Context) error { return nil }, executor.Named("fine")).Wait(t.Context())
		slow := pool.Submit(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, executor.Named("slow"))
		synctest.Wait()
		slow.Cancel()
		pool.Close()
		lines := r.all()
		if len(lines) != 2 || lines[0] != "save: no disk false <nil>" ||
			!strings.HasPrefix(lines[1], "load: ") || !strings.HasSuffix(lines[1], " true <nil>") {
			t.Errorf("reported %q", lines)
		}
	})
}

// A job is reported after its last attempt, and not before.
func TestReportJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reports
		pool := executor.Fixed(1)
		t.Cleanup(pool.Close) // after the node has stopped
		jobs := durabletest.New(t, func(c *durable.Config) { c.Hooks = reportJobs(pool, r.report) })
		mail := durable.Handle(jobs, "mail", func(context.Context, int) (int, error) { return 0, errors.New("refused") },
			durable.WithBackoff(executor.Backoff(time.Minute, time.Minute)))
		durabletest.Start(t, jobs)
		if _, err := mail.Add(t.Context(), 1, durable.Attempts(2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if lines := r.all(); len(lines) != 0 {
			t.Errorf("reported after the first attempt: %q", lines)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if lines := r.all(); len(lines) != 1 || !strings.HasPrefix(lines[0], "mail: job ") || !strings.Contains(lines[0], "attempt 2: refused") {
			t.Errorf("reported %q, want the last attempt", lines)
		}
	})
}
