package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Core workers stay by default, however long they are idle.
func TestPoolKeepsCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 10, KeepAlive: time.Second})
		mustGo(t, pool, func(context.Context) error { return nil })
		time.Sleep(time.Hour)
		expect(t, "workers", waitStats(t, pool).Workers, 1)
	})
}

// With core timeout each worker leaves after KeepAlive, not earlier, and comes
// back with the next task; the setting survives a shutdown (JDK-6233235,
// JDK-6268386).
func TestPoolCoreTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 10, KeepAlive: 30 * time.Millisecond, AllowCoreTimeout: true})
		for range 3 {
			for i := range 10 {
				mustGo(t, pool, func(context.Context) error { return nil })
				expect(t, "workers", waitStats(t, pool).Workers, i+1)
			}
			time.Sleep(30*time.Millisecond - 1)
			expect(t, "workers before", waitStats(t, pool).Workers, 10)
			time.Sleep(time.Nanosecond)
			expect(t, "workers after", waitStats(t, pool).Workers, 0)
		}
		pool.Close()
		expect(t, "AllowCoreTimeout", pool.AllowCoreTimeout(), true)
	})
}

// Workers above Core leave after KeepAlive, those idle for longest first, and
// the pool never falls below Core, not even if all time out at the same moment
// (JDK-6458662).
func TestPoolLeavingIsOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			pool := newPool(t, executor.Config{Core: 4, Max: 10, KeepAlive: time.Second, Queue: executor.Handoff()})
			block := newBlocker(t)
			block.Fill(t, pool, 10)
			block.Release()
			synctest.Wait()
			time.Sleep(time.Second - 1)
			expect(t, "workers before", waitStats(t, pool).Workers, 10)
			time.Sleep(time.Nanosecond)
			expect(t, "workers after", waitStats(t, pool).Workers, 4)
			time.Sleep(time.Minute)
			expect(t, "workers for good", waitStats(t, pool).Workers, 4)
		}
	})
}

// A busy worker does not grow old: KeepAlive counts from the end of its task,
// and the worker that became idle first is the first to leave.
func TestPoolOldestIdleLeavesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := func(pool *executor.Pool, want int) {
			t.Helper()
			expect(t, "workers", waitStats(t, pool).Workers, want)
		}
		pool := newPool(t, executor.Config{Max: 3, KeepAlive: 10 * time.Second, Queue: executor.Handoff()})
		for i := range 3 {
			mustGo(t, pool, func(context.Context) error { time.Sleep(time.Duration(i+1) * time.Second); return nil })
		}
		time.Sleep(11*time.Second - 1)
		left(pool, 3)
		for i := range 3 {
			time.Sleep(time.Nanosecond)
			left(pool, 2-i)
			time.Sleep(time.Second - 1)
		}
	})
}

// The worker that became idle last is the first to get a task, so that the
// others can leave.
func TestPoolPrefersFreshWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 5, KeepAlive: time.Minute, Queue: executor.Handoff()})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		block.Release()
		synctest.Wait()
		for range 120 { // a trickle that one worker can do
			mustGo(t, pool, func(context.Context) error { return nil })
			time.Sleep(time.Second)
		}
		expect(t, "workers", waitStats(t, pool).Workers, 1)
	})
}

// Without KeepAlive a worker above Core leaves as soon as it has nothing to do,
// and not before the queue is empty.
func TestPoolNoKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Max: 3, Queue: executor.Bounded(2)})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		block.ReleaseOne()
		s := waitStats(t, pool)
		expect(t, "workers with a queue", s.Workers, 3)
		expect(t, "queued", s.Queued, 1)
		block.Release()
		expect(t, "workers at last", waitStats(t, pool).Workers, 1)
	})
}

// With Core zero the last worker runs all that waits before it leaves, and is
// not replaced by others meanwhile.
func TestPoolLastWorkerStays(t *testing.T) {
	for _, keepAlive := range []time.Duration{0, 1, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Max: 1, KeepAlive: keepAlive})
			workers := map[int]int{}
			for range 10 {
				mustGo(t, pool, func(context.Context) error {
					workers[pool.Stats().Largest]++
					time.Sleep(time.Hour) // longer than any KeepAlive
					return nil
				})
			}
			time.Sleep(11 * time.Hour)
			expect(t, "workers at last", waitStats(t, pool).Workers, 0)
			expect(t, "tasks with one worker", workers[1], 10)
		})
	}
}

// Workers are numbered from 1 as they are started; one that waits is not
// replaced, so that a pool in use does not churn.
func TestPoolDoesNotChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		highest := 0
		pool := newPool(t, executor.Config{Core: 2, Max: 2, KeepAlive: time.Millisecond, AllowCoreTimeout: true,
			Hooks: executor.Hooks{BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				highest = max(highest, info.Worker)
				return ctx
			}}})
		for range 1000 {
			mustGo(t, pool, func(context.Context) error { return nil })
			waitStats(t, pool)
		}
		expect(t, "highest worker", highest, 2)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		mustGo(t, pool, func(context.Context) error { return nil })
		waitStats(t, pool)
		expect(t, "worker after a rest", highest, 3)
	})
}

// A task that comes at the very moment at which the last worker may leave runs.
func TestPoolTaskAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, KeepAlive: time.Second, AllowCoreTimeout: true})
		runs := 0
		for range 1000 {
			mustGo(t, pool, func(context.Context) error { runs++; return nil })
			synctest.Wait()
			time.Sleep(time.Second) // wakes together with the pool's own timer
		}
		waitStats(t, pool)
		expect(t, "runs", runs, 1000)
	})
}
