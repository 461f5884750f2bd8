package durable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// The last label that a handler sets is that of its run and of its job, cut to what is kept.
func TestSetLabel(t *testing.T) {
	for name, c := range map[string]struct {
		labels []string
		err    error
		want   string
	}{
		"none":      {},
		"success":   {labels: []string{"late"}, want: "late"},
		"last":      {labels: []string{"late", "timeout"}, err: executor.Permanent(errBoom), want: "timeout"},
		"taken off": {labels: []string{"late", ""}},
		"long":      {labels: []string{strings.Repeat("x", 100)}, want: strings.Repeat("x", durable.MaxLabel)},
		"no text":   {labels: []string{"a\x00b\xff"}, want: "a\uFFFDb\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New())
				kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					for _, label := range c.labels {
						durable.SetLabel(ctx, label)
					}
					return "", c.err
				})
				start(t, jobs)
				id := must(kind.Add(t.Context(), ""))
				job, err := jobs.Await(t.Context(), id)
				runs := must(jobs.History(t.Context(), id, 0, 10))
				if job.Label != c.want || len(runs) != 1 || runs[0].Label != c.want {
					t.Errorf("the job has %q and its runs are %+v, want %q", job.Label, runs, c.want)
				}
				if e, ok := errors.AsType[*durable.JobError](err); ok != (c.err != nil) || ok && e.Label != c.want {
					t.Errorf("Await: got %+v, want a JobError with the label: %v", err, c.err != nil)
				}
			})
		})
	}
}

// A run has the label that it has set itself, and none of the attempt before.
func TestSetLabelOfEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if job, _ := durable.Current(ctx); job.Attempt == 1 {
				durable.SetLabel(ctx, "busy")
				return "", errBoom
			}
			return "", nil
		}, durable.WithBackoff(executor.Backoff(time.Minute, time.Minute)))
		start(t, jobs)
		id := must(kind.Add(t.Context(), ""))
		time.Sleep(time.Second)
		if job := must(jobs.Get(t.Context(), id)); job.Label != "busy" {
			t.Errorf("between the attempts: got label %q, want busy", job.Label)
		}
		if job := must(jobs.Await(t.Context(), id)); job.Label != "" {
			t.Errorf("at the end: got label %q, want none", job.Label)
		}
		runs := must(jobs.History(t.Context(), id, 0, 10))
		if len(runs) != 2 || runs[0].Label != "" || runs[1].Label != "busy" {
			t.Errorf("got runs %+v, want the first with the label busy", runs)
		}
	})
}

// A label that is set elsewhere than in a handler is dropped.
func TestSetLabelElsewhere(t *testing.T) { durable.SetLabel(t.Context(), "x") }
