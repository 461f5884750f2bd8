package executortest_test

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/executortest"
)

// traced is an executor that adds spans to another one.
type traced struct{ executor.Executor }

func (t traced) Execute(ctx context.Context, task executor.Runnable) error {
	return t.Executor.Execute(ctx, executor.Func(func(ctx context.Context) error {
		// A span begins here, and ends when Run returns.
		return task.Run(ctx)
	}))
}

// The test of an executor passes a function to the suite that creates one.
func ExampleTestExecutor() {
	var t *testing.T // of func TestTraced(t *testing.T)
	executortest.TestExecutor(t, func(t *testing.T) executor.Executor {
		pool := executor.Fixed(2)
		t.Cleanup(pool.Close)
		return traced{pool}
	})
}
