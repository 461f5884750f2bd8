package howto

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A Reporter sends an error to an error tracker, such as Sentry or Rollbar. stack is nil unless the error is a panic.
type Reporter func(ctx context.Context, name string, err error, stack []byte)

// reportTasks returns hooks for a pool that report each run which fails or panics, also if its future has the error.
func reportTasks(report Reporter) executor.Hooks {
	return executor.Hooks{
		AfterTask: func(ctx context.Context, run executor.TaskInfo, err error) {
			if err == nil || errors.Is(err, executor.ErrStop) || errors.Is(err, context.Canceled) {
				return // ended by its caller, or by a shutdown
			}
			var stack []byte
			if panicked, ok := errors.AsType[*executor.PanicError](err); ok {
				stack = panicked.Stack
			}
			report(context.WithoutCancel(ctx), run.Name, err, stack) // ctx has ended, but has its values
		},
	}
}

// reportJobs returns hooks for durable jobs that report a job when its last attempt has failed. The pool makes the
// reports, because Failed must be quick. Close it after Run has returned.
func reportJobs(pool *executor.Pool, report Reporter) durable.Hooks {
	return durable.Hooks{
		Failed: func(job durable.Job, run durable.Run) {
			err := fmt.Errorf("job %s, attempt %d: %s", job.ID, run.Attempt, run.Error)
			slog.Error("a job failed for good", "kind", job.Kind, "err", err) // Failed replaces the line in the log
			pool.Go(context.Background(), func(ctx context.Context) error {
				report(ctx, job.Kind, err, nil)
				return nil
			})
		},
	}
}
