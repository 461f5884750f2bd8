package executor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// A future that waits in one pool and is given to a second belongs to the first
// all the same: its body has the context of the first submission, and when the
// second runs it, it leaves the first one's queue.
func TestFutureInTwoPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		first := newPool(t, executor.Config{Core: 1})
		second := newPool(t, executor.Config{Core: 1})
		b := newBlocker(t)
		b.Fill(t, first, 1)
		f := executor.NewFuture(func(ctx context.Context) (any, error) { return ctx.Value(key{}), nil })
		for i, pool := range []*executor.Pool{first, second} {
			if err := pool.Execute(context.WithValue(t.Context(), key{}, i), f); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "Queued", waitStats(t, first).Queued, 0)
		v, err := f.Get(t.Context())
		expect(t, "value", v, any(0))
		expect(t, "error", err, nil)
	})
}

// Whoever learns that a future is done finds it gone from the queue.
func TestFutureLeavesBeforeItIsDone(t *testing.T) {
	for name, end := range map[string]func(*executor.Future[int]) bool{
		"Cancel":   (*executor.Future[int]).Cancel,
		"Abandon":  (*executor.Future[int]).Abandon,
		"Complete": func(f *executor.Future[int]) bool { return f.Complete(1) },
		"Fail":     func(f *executor.Future[int]) bool { return f.Fail(errTask) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 1})
				b := newBlocker(t)
				b.Fill(t, pool, 1)
				f := executor.Submit(t.Context(), pool, value(1))
				queued := -1
				f.OnDone(func() { queued = pool.Stats().Queued })
				expect(t, "ended", end(f), true)
				expect(t, "Queued when it is done", queued, 0)
			})
		})
	}
}
