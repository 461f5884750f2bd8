// Package durabletest helps to test programs that use durable jobs: on a store in memory, in a bubble of
// testing/synctest where times pass at once.
package durabletest

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// New returns Jobs on a new store in memory, with a pool of four workers that ends with the test, and a log that
// discards its lines. Each change may set fields of the Config before that. It fails the test if the Config is invalid.
func New(t testing.TB, changes ...func(*durable.Config)) *durable.Jobs {
	t.Helper()
	c := durable.Config{Store: memory.New(), Logger: slog.New(slog.DiscardHandler)}
	for _, change := range changes {
		change(&c)
	}
	if c.Executor == nil {
		c.Executor = executor.Scheduled(4)
		t.Cleanup(c.Executor.Close)
	}
	jobs, err := durable.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// Start makes jobs run, until stop is called or the test ends, and fails the test if Run returns an error. Both wait
// for the handlers that run. Call it once, when the handlers are set.
func Start(t testing.TB, jobs *durable.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := jobs.Run(ctx); err != nil {
			t.Errorf("durabletest: Run: %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// idlePause is how long Idle waits between two looks at the store.
const idlePause = 10 * time.Millisecond

// Idle waits until all that was due has run: no job runs or is about to, and none waits whose time has come. What is
// due later, as an attempt after a failed one, does not count, nor do jobs that are paused or blocked. In a bubble the
// time that this takes passes at once.
//
// If ctx ends first the error matches its cause, and names a job that is not done: of a kind that no node handles, or
// that is paused, it waits for ever. Other errors are the store's.
func Idle(ctx context.Context, jobs *durable.Jobs) error {
	timer := time.NewTicker(idlePause)
	defer timer.Stop()
	for {
		job, busy, err := due(ctx, jobs)
		if err != nil || !busy {
			return err
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("durabletest: job %s of kind %q, key %q, is still %v: %w", job.ID, job.Kind, job.Key, job.State,
				context.Cause(ctx))
		}
	}
}

// due returns a job that runs, or whose time has come.
func due(ctx context.Context, jobs *durable.Jobs) (durable.Job, bool, error) {
	f := durable.Filter{Limit: 1000,
		States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running}}
	for {
		page, err := jobs.List(ctx, f)
		if err != nil {
			return durable.Job{}, false, err
		}
		now, err := jobs.Now(ctx)
		if err != nil {
			return durable.Job{}, false, err
		}
		for _, j := range page {
			if j.State == durable.Running || !j.Due.After(now) {
				return j, true, nil
			}
		}
		if len(page) < f.Limit {
			return durable.Job{}, false, nil
		}
		f.After = page[len(page)-1].ID
	}
}
