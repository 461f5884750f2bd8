package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// An orderly shutdown does not cancel a body that its submitter runs under
// CallerRuns, even if the pool terminates meanwhile.
func TestShutdownLeavesCallerRunsBodyAlone(t *testing.T) {
	body := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Minute): // the pool terminates during this
			return nil
		}
	}
	for _, c := range []struct {
		name string
		run  func(context.Context, *executor.Pool) error
	}{
		{"future", func(ctx context.Context, pool *executor.Pool) error {
			return executor.Submit(ctx, pool, executor.Callable(body)).Err()
		}},
		{"plain", func(ctx context.Context, pool *executor.Pool) (got error) {
			err := pool.Go(ctx, func(ctx context.Context) error {
				got = body(ctx)
				return nil
			})
			if err != nil {
				return err
			}
			return got
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				pool, err := executor.New(executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.CallerRuns})
				if err != nil {
					t.Fatal(err)
				}
				busy := func(context.Context) error { time.Sleep(time.Second); return nil }
				if err := pool.Go(ctx, busy); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second/2, pool.Shutdown)
				if err := c.run(ctx, pool); err != nil {
					t.Errorf("the body that the submitter runs was disturbed: %v", err)
				}
				pool.Close()
			})
		})
	}
}
