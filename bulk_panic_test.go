package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// If the executor does not come back from one of the tasks, those that it has
// are canceled: nobody holds their futures.
func TestInvokeAllLeavesNothingBehind(t *testing.T) {
	for end, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(1),
					Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error {
						leave()
						return nil
					})})
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					executor.InvokeAll(context.Background(), pool, testkit.UntilDone, testkit.UntilDone, testkit.UntilDone)
				}()
				if v := <-ended; v == nil != (end == "Goexit") {
					t.Errorf("recovered %v", v)
				}
				synctest.Wait()
				if s := pool.Stats(); s.Active != 0 || s.Queued != 0 || s.Canceled != 2 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}
