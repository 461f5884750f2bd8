package testkit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Inline is the simplest executor: it runs each task in the goroutine that submits it.
// It is not one of package executor, and knows nothing of futures.
type Inline struct{}

// Execute runs the task.
func (Inline) Execute(ctx context.Context, task executor.Runnable) error {
	task.Run(ctx)
	return nil
}

// Rejecting returns an executor that rejects every task with err.
func Rejecting(err error) executor.Executor { return rejecting{err} }

type rejecting struct{ err error }

func (r rejecting) Execute(context.Context, executor.Runnable) error { return r.err }

// TriggerFunc is a function as a Trigger.
type TriggerFunc func(time.Time) time.Time

// Next calls f.
func (f TriggerFunc) Next(t time.Time) time.Time { return f(t) }

// Hourly is a Trigger at each full hour.
var Hourly = TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Hour).Add(time.Hour) })

// OverExecutors runs test with an executor that runs tasks in the caller and with pools of several
// shapes.
func OverExecutors(t *testing.T, test func(t *testing.T, ex executor.Executor)) {
	t.Helper()
	for name, c := range map[string]executor.Config{
		"one worker":     {Workers: 1},
		"six workers":    {Workers: 6},
		"handoff":        {Max: 100, Queue: executor.Handoff()},
		"caller runs":    {Workers: 1, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
		"blocks":         {Workers: 1, Queue: executor.Bounded(1), Reject: executor.Block},
		"prioritized":    {Workers: 1, Queue: executor.Prioritized()},
		"core times out": {Workers: 2, KeepAlive: time.Second, KeepNone: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, NewPool(t, c)) })
		})
	}
	t.Run("scheduled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, Closing(t, executor.Scheduled(1))) })
	})
	t.Run("inline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, Inline{}) })
	})
}
