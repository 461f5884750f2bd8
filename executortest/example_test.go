package executortest_test

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/executortest"
)

// traced is an executor of a user's own, around another.
type traced struct{ executor.Executor }

func (t traced) Execute(ctx context.Context, task executor.Runnable) error {
	return t.Executor.Execute(ctx, executor.Func(func(ctx context.Context) error {
		// Here a span would begin, and end when Run returns.
		return task.Run(ctx)
	}))
}

// An executor of your own is tested in a test of your own, by a function that
// makes one.
func ExampleTestExecutor() {
	var t *testing.T // of func TestTraced(t *testing.T)
	executortest.TestExecutor(t, func(t *testing.T) executor.Executor {
		pool := executor.Fixed(2)
		t.Cleanup(pool.Close)
		return traced{pool}
	})
}
