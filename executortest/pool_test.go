package executortest

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// The suite for pools passes for every pool of package executor.
func TestPoolPassesForPools(t *testing.T) {
	for name, make := range presets {
		t.Run(name, func(t *testing.T) {
			TestPool(t, func(*testing.T) Pool { return make() })
		})
	}
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			TestPool(t, func(t *testing.T) Pool { return create(t, c) })
		})
	}
}

// shareOf returns a share of a new pool, which is closed at the end of the test.
func shareOf(t *testing.T, c executor.Config, s executor.ShareConfig) *executor.Pool {
	t.Helper()
	p := create(t, c)
	t.Cleanup(p.Close)
	share, err := p.Share(s)
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// The suites pass for shares.
func TestSuitesPassForShares(t *testing.T) {
	for name, c := range configs {
		for _, s := range []executor.ShareConfig{
			{},
			{Limit: 3, Queue: executor.Prioritized()},
			{Rate: executor.Rate{PerSecond: 1e6, Burst: 100}, Queue: executor.Bounded(64)},
		} {
			t.Run(name, func(t *testing.T) {
				TestExecutor(t, func(t *testing.T) executor.Executor { return shareOf(t, c, s) })
				TestFuture(t, func(t *testing.T) executor.Executor { return shareOf(t, c, s) })
				TestPool(t, func(t *testing.T) Pool { return shareOf(t, c, s) })
				TestHooks(t, func(t *testing.T, h executor.Hooks) Pool {
					s.Hooks = h
					return shareOf(t, c, s)
				})
			})
		}
	}
}

// The suite for pools passes for a pool that is too small, with every policy.
func TestPoolPassesForPoolsThatReject(t *testing.T) {
	for policy, reject := range policies {
		for name, c := range tooSmall {
			c.Reject = reject
			t.Run(policy+"/"+name, func(t *testing.T) {
				TestPool(t, func(t *testing.T) Pool { return create(t, c) })
			})
		}
	}
}

// A wake-up that a pool loses is found.
func TestPoolFindsLostWakeUp(t *testing.T) {
	if found := findings(t, poolChecks, poolWith(lostWakeUp)); len(found) == 0 {
		t.Error("no check fails")
	}
}

// A pool whose ShutdownNow has no effect after Shutdown is found.
func TestPoolFindsIgnoredShutdownNow(t *testing.T) {
	ignores := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, shutdownNow: func() []executor.Dropped {
			if p.Stats().Stage != executor.StageRunning {
				return nil
			}
			return p.ShutdownNow()
		}}
	}
	findExactly(t, poolChecks, poolWith(ignores), "ShutdownNowEndsContexts")
}

// A pool whose ShutdownNow returns tasks without completing their futures, as Java's
// does, is found.
func TestPoolFindsPendingFutures(t *testing.T) {
	hides := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
			return p.Execute(ctx, executor.Func(task.Run))
		}}
	}
	// SubmitsRaceShutdown fails too, if the shutdown is first.
	findAtLeast(t, poolChecks, poolWith(hides), "ShutdownNowReturnsDropped")
}

// A pool whose ShutdownNow returns no tasks is found.
func TestPoolFindsTasksNotReturned(t *testing.T) {
	keeps := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, shutdownNow: func() []executor.Dropped { p.ShutdownNow(); return nil }}
	}
	findAtLeast(t, poolChecks, poolWith(keeps), "ShutdownNowReturnsDropped")
}
