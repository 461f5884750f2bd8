package durable_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// newJobs gives Jobs on the store, with a pool of four workers that the test
// closes.
func newJobs(t *testing.T, store durable.Store, change ...func(*durable.Config)) *durable.Jobs {
	t.Helper()
	c := durable.Config{Store: store, Name: "node", Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&c)
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

// lazy makes a node look and beat seldom, for tests that last for days.
func lazy(c *durable.Config) { c.Poll, c.Lease = 10*time.Minute, time.Hour }

// start runs jobs until the function returned is called, or the test ends.
func start(t *testing.T, jobs *durable.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// must gives v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A job's result is what its handler returned for its payload.
func TestResultIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		double := durable.Handle(jobs, "double", func(ctx context.Context, n int) (int, error) { return 2 * n, nil })
		start(t, jobs)
		id := must(double.Schedule(t.Context(), time.Minute, 21))
		begun := time.Now()
		if got := must(double.Await(t.Context(), id)); got != 42 {
			t.Errorf("result is %d", got)
		}
		if d := time.Since(begun); d < time.Minute {
			t.Errorf("it was there after %v", d)
		}
	})
}

// A handler sees the values of Run's context, though not its end.
func TestHandlersSeeTheValuesOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (any, error) {
			time.Sleep(time.Second)
			return ctx.Value(key{}), ctx.Err()
		})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		done := make(chan error, 1)
		go func() { done <- jobs.Run(ctx) }()
		synctest.Wait()
		id := must(k.Schedule(t.Context(), 0, ""))
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := must(k.Await(t.Context(), id)); got != "value" {
			t.Errorf("the handler saw %v", got)
		}
	})
}
