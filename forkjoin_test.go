package executor_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// forked gives a body that forks into two until depth is 0, where leaf is called,
// and that joins by Run and Get.
func forked(pool executor.Executor, depth int, leaf func() (int, error)) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if depth == 0 {
			return leaf()
		}
		half := forked(pool, depth-1, leaf)
		a, b := executor.Submit(ctx, pool, half), executor.Submit(ctx, pool, half)
		sum := 0
		for _, f := range []*executor.Future[int]{a, b} {
			f.Run(ctx)
			n, err := f.Get(ctx)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
}

// Tasks that wait for tasks of their own pool, each after Run of it, do not wait
// for ever, however few workers there are.
func TestForkAndJoinNeedNoFreeWorker(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			pool := testkit.Closing(t, executor.Fixed(workers))
			one := func() (int, error) { return 1, nil }
			sum, err := executor.Submit(t.Context(), pool, forked(pool, 8, one)).Get(t.Context())
			expect(t, "error", err, nil)
			expect(t, "sum", sum, 1<<8)
		})
	}
}

// What ends a forked task ends whoever joins it: an error, a panic, and Goexit.
func TestForkAndJoinFail(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		leaf func() (int, error)
		want error
	}{
		"error":  {func() (int, error) { return 0, boom }, boom},
		"panic":  {func() (int, error) { panic(boom) }, boom},
		"Goexit": {func() (int, error) { runtime.Goexit(); return 0, nil }, executor.ErrGoexit},
	} {
		for _, workers := range []int{1, 2} {
			synctest.Test(t, func(t *testing.T) {
				pool := testkit.Closing(t, executor.Fixed(workers))
				_, err := executor.Submit(t.Context(), pool, forked(pool, 4, c.leaf)).Get(t.Context())
				expectIs(t, name, err, c.want)
			})
		}
	}
}
