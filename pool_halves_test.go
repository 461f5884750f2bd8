package executor_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// Tasks of an unbounded queue are shown, and given back, in the order in which
// they came, though some of them came before a worker took its last task and
// others after it.
func TestPoolUnboundedKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocker(t)
		pool := newPool(t, executor.Config{Core: 1})
		var want []executor.Runnable
		submit := func() { want = append(want, executor.Submit(context.Background(), pool, b.Value)) }
		b.Fill(t, pool, 2)
		submit()
		submit()
		b.ReleaseOne() // its worker takes the second, and two wait behind the gate
		waitStats(t, pool)
		submit()
		submit()
		if got := slices.Collect(pool.Waiting()); !slices.Equal(got, want) {
			t.Errorf("Waiting: %v, want %v", got, want)
		}
		var got []executor.Runnable
		for _, u := range pool.ShutdownNow() {
			got = append(got, u.Task())
		}
		if !slices.Equal(got, want) {
			t.Errorf("ShutdownNow: %v, want %v", got, want)
		}
		b.Release()
	})
}
