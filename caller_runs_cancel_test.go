package executor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// ShutdownNow cancels a body that the submitter runs, also in a pool that has
// terminated meanwhile.
func TestShutdownNowCancelsCallerRunsOfTerminatedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		err := pool.Execute(context.Background(), executor.Func(func(ctx context.Context) error {
			pool.Shutdown()
			block.Release()
			<-pool.Terminated()
			pool.ShutdownNow()
			if ctx.Err() == nil {
				t.Error("the context of a body that runs has not ended")
			}
			return nil
		}))
		if err != nil {
			t.Error(err)
		}
	})
}
