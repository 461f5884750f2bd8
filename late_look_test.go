package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// A body that first looks at its context after ShutdownNow has returned finds
// it ended, also if the submitter's context can end by itself.
func TestContextFirstLookedAtAfterShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		pool := executor.Fixed(1)
		stopped := make(chan struct{})
		seen := executor.Submit(ctx, pool, func(ctx context.Context) (error, error) {
			<-stopped
			return ctx.Err(), nil
		})
		synctest.Wait()
		pool.ShutdownNow()
		close(stopped)
		if err, _ := seen.Get(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ctx.Err() = %v after ShutdownNow, want context.Canceled", err)
		}
		pool.Close()
	})
}
