package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// A future that fails with the error of a canceled one has that error.
func TestFailureByTheErrorOfACanceledFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Core: 1})
		first := executor.NewPromise[int]()
		first.Cancel()
		second := executor.Submit(t.Context(), p, first.Get)
		_, err := second.Get(context.Background())
		expect(t, "State", second.State(), executor.Failed)
		if !errors.Is(err, executor.ErrCanceled) {
			t.Errorf("Get gave the error %v, want that of the first future", err)
		}
		third := executor.NewPromise[int]()
		third.Fail(first.Err())
		if !errors.Is(third.Err(), executor.ErrCanceled) {
			t.Errorf("Err is %v after Fail, want that of the first future", third.Err())
		}
	})
}
