package durable_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A nil pointer that a handler returns as an error, whose methods panic, or panics
// with, fails the run as any error does, and the job says what it was.
func TestNilPointerAsErrorOfHandler(t *testing.T) {
	var err *fs.PathError
	for want, handler := range map[string]func(context.Context, int) (int, error){
		"*fs.PathError": func(context.Context, int) (int, error) { return 0, err },
		"task panicked": func(context.Context, int) (int, error) { panic(err) },
	} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, memory.New())
			k := durable.Handle(jobs, "k", handler)
			start(t, jobs)
			id := must(k.Schedule(t.Context(), 0, 1, durable.Attempts(2)))
			time.Sleep(time.Minute)
			j := must(jobs.Get(t.Context(), id))
			if j.State != durable.Dead || j.Runs != 2 || !strings.Contains(j.Error, want) {
				t.Errorf("%v after %d runs: %s", j.State, j.Runs, j.Error)
			}
		})
	}
}

// The hooks and counters of the pool tell the runs that fail from those that
// succeed, and the pool says nothing in the log that the jobs do not.
func TestHooksOfThePoolSeeWhatHandlersReturn(t *testing.T) {
	type traced struct{}
	no := errors.New("no")
	var panicked *executor.PanicError
	snoozed := false
	for name, c := range map[string]struct {
		handler func() (any, error)
		sees    func(error) bool
		runs    int
		failed  int64
	}{
		"value": {func() (any, error) { return 1, nil }, func(err error) bool { return err == nil }, 1, 0},
		"Done":  {func() (any, error) { return nil, executor.Stop }, func(err error) bool { return err == nil }, 1, 0},
		"snooze": {func() (any, error) {
			if snoozed = !snoozed; snoozed {
				return nil, durable.Snooze(time.Hour)
			}
			return 1, nil
		}, func(err error) bool { return err == nil }, 2, 0},
		"error": {func() (any, error) { return nil, no }, func(err error) bool { return err == no }, 3, 3},
		"panic": {func() (any, error) { panic(no) }, func(err error) bool { return errors.As(err, &panicked) && errors.Is(err, no) }, 3, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			var after []error
			pool := must(executor.NewScheduled(executor.ScheduledConfig{
				Core: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Hooks: executor.Hooks{
					BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
						return context.WithValue(ctx, traced{}, info.Name)
					},
					AfterTask: func(ctx context.Context, _ executor.TaskInfo, err error) {
						if ctx.Value(traced{}) != "k" {
							t.Errorf("%s: AfterTask has another context", name)
						}
						after = append(after, err)
					},
				},
			}))
			jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Executor = pool })
			k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (any, error) {
				if ctx.Value(traced{}) != "k" {
					t.Errorf("%s: the handler has another context", name)
				}
				return c.handler()
			})
			stop := start(t, jobs)
			if _, err := jobs.Await(t.Context(), must(k.Schedule(t.Context(), 0, 1, durable.Attempts(3)))); (err != nil) != (c.failed > 0) {
				t.Errorf("%s: %v", name, err)
			}
			stop()
			pool.Close()
			for _, err := range after {
				if !c.sees(err) {
					t.Errorf("%s: AfterTask got %v", name, err)
				}
			}
			if s := pool.Stats(); len(after) != c.runs || s.Failed != c.failed || s.Succeeded != int64(len(after))-c.failed {
				t.Errorf("%s: %d runs, %+v", name, len(after), s)
			}
			if log.Len() > 0 {
				t.Errorf("%s: the pool logged %s", name, &log)
			}
		})
	}
}

// The error of a job that was canceled before it ran says no more than that.
func TestJobErrorWithoutText(t *testing.T) {
	id := durable.NewID()
	err := &durable.JobError{ID: id, State: durable.Canceled}
	if got, want := err.Error(), "durable: job "+id.String()+" is canceled"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
