package executortest

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// mortal is an executor that does not replace a worker that a task ends.
type mortal chan func()

func (m mortal) Execute(ctx context.Context, task executor.Runnable) error {
	m <- func() { task.Run(ctx) }
	return nil
}

// An executor that loses its workers to runtime.Goexit is found.
func TestFutureFindsLostWorkers(t *testing.T) {
	findExactly(t, only(futureChecks, "Outcomes", "All"), func(t *testing.T) executor.Executor {
		m := make(mortal, burst)
		t.Cleanup(func() { close(m) })
		for range 4 {
			go func() {
				for f := range m {
					f()
				}
			}()
		}
		return m
	}, "Outcomes")
}

// traced is an executor that puts something around each task of a pool, which no longer sees
// the future.
type traced struct{ *executor.Pool }

func (t traced) Execute(ctx context.Context, task executor.Runnable) error {
	return t.Go(ctx, func(ctx context.Context) error { return task.Run(ctx) })
}

// Futures over an executor that hides them from the pool below pass the suite.
func TestFutureOverDecorator(t *testing.T) {
	TestFuture(t, func(t *testing.T) executor.Executor {
		pool := executor.Fixed(4)
		t.Cleanup(pool.Close)
		return traced{pool}
	})
}
