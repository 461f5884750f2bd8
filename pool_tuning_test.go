package executor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Growing, shrinking and timing out by changes of the configuration, through
// the whole life of a pool: a change never touches a busy worker. It is the
// port of ConfigChanges, with its optional prestart, after which workers take
// tasks from the queue (JDK-6450200).
func TestPoolConfigChanges(t *testing.T) {
	const n = 3
	for _, prestart := range []bool{false, true} {
		t.Run(fmt.Sprintf("prestart=%v", prestart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: n, Max: 3 * n, KeepAlive: 3 * time.Minute, Queue: executor.Bounded(3 * n)})
				if prestart {
					expect(t, "prestarted", pool.PrestartAll(), n)
				}
				block := newBlocker(t)
				synctest.Wait()
				block.Fill(t, pool, 6*n)
				sizes := func(what string, workers, queued, largest int) {
					t.Helper()
					s := waitStats(t, pool)
					expect(t, what+": workers", s.Workers, workers)
					expect(t, what+": queued", s.Queued, queued)
					expect(t, what+": largest", s.Largest, largest)
				}
				sizes("filled", 3*n, 3*n, 3*n)

				expect(t, "SetMax", pool.SetMax(4*n), nil)
				sizes("max raised", 3*n, 3*n, 3*n)
				block.Fill(t, pool, n)
				sizes("grown", 4*n, 3*n, 4*n)

				expect(t, "SetMax", pool.SetMax(2*n), nil)
				sizes("max lowered", 4*n, 3*n, 4*n)
				block.Release()
				sizes("released", 2*n, 0, 4*n)
				expect(t, "all ran", block.Ended.Load(), 7*n)

				expect(t, "SetKeepAlive", pool.SetKeepAlive(7*time.Millisecond), nil)
				time.Sleep(7*time.Millisecond - 1)
				sizes("before keep-alive", 2*n, 0, 4*n)
				time.Sleep(time.Nanosecond)
				sizes("after keep-alive", n, 0, 4*n)

				expect(t, "SetAllowCoreTimeout", pool.SetAllowCoreTimeout(true), nil)
				sizes("core timed out", 0, 0, 4*n)

				pool.Shutdown()
				expired, cancel := context.WithCancel(t.Context())
				cancel()
				expect(t, "AwaitTermination", pool.AwaitTermination(expired), nil)
				s := checkStats(t, pool)
				expect(t, "Submitted == Completed", s.Submitted, s.Ended())
				expectIs(t, "rejects", pool.Go(t.Context(), block.Run), executor.ErrRejected)
			})
		})
	}
}

// A change of the configuration never ends the context of a task that runs
// (JDK-6576792).
func TestPoolConfigurationTouchesIdleWorkersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		pool := newPool(t, executor.Config{Core: n, KeepAlive: 1, Queue: executor.Handoff()})
		block := newBlocker(t)
		mustGo(t, pool, func(ctx context.Context) error {
			block.Run(ctx)
			for _, set := range []error{
				pool.SetCore(n), pool.SetCore(1), pool.SetMax(1), pool.SetKeepAlive(0), pool.SetKeepAlive(1),
				pool.SetAllowCoreTimeout(true), pool.SetReject(executor.Discard),
			} {
				expect(t, "setter", set, nil)
			}
			expect(t, "workers inside", pool.Stats().Workers, n)
			return ctx.Err()
		})
		for range n - 1 {
			mustGo(t, pool, func(ctx context.Context) error {
				block.Run(ctx)
				time.Sleep(time.Second)
				return ctx.Err()
			})
		}
		synctest.Wait()
		block.Release()
		s := waitStats(t, pool)
		expect(t, "workers while busy", s.Workers, n-1)
		time.Sleep(time.Second)
		s = waitStats(t, pool)
		expect(t, "Succeeded", s.Succeeded, n)
		expect(t, "workers afterwards", s.Workers, 1)
		time.Sleep(time.Second)
		expect(t, "workers in the end", waitStats(t, pool).Workers, 0)
	})
}

// Raising Core starts workers at once for the tasks that wait, and for no more
// than these (JDK-6522773).
func TestPoolRaisingCoreStartsWorkersNow(t *testing.T) {
	for _, c := range []struct{ queued, core, started int }{
		{10, 7, 7}, {3, 10, 4}, {0, 10, 1}, {10, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1, Max: 20})
			block := newBlocker(t)
			block.Fill(t, pool, 1+c.queued)
			expect(t, "SetCore", pool.SetCore(c.core), nil)
			s := waitStats(t, pool)
			expect(t, "workers", s.Workers, c.started)
			expect(t, "started", int(block.Started.Load()), c.started)
		})
	}
}

// Lowering Core makes surplus workers leave once they have been idle for
// KeepAlive, which counts from when they became idle.
func TestPoolLoweringCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 10, Max: 20, KeepAlive: 10 * time.Second})
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		block.Release()
		time.Sleep(4 * time.Second)
		expect(t, "SetCore", pool.SetCore(7), nil)
		expect(t, "workers at first", waitStats(t, pool).Workers, 10)
		time.Sleep(6*time.Second - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 10)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 7)
		time.Sleep(time.Hour)
		expect(t, "workers for good", waitStats(t, pool).Workers, 7)
		expect(t, "SetCore(0)", pool.SetCore(0), nil)
		expect(t, "workers at last", waitStats(t, pool).Workers, 0)
	})
}

// Raising KeepAlive keeps workers that are idle already.
func TestPoolRaisingKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, KeepAlive: time.Second})
		mustGo(t, pool, func(context.Context) error { return nil })
		waitStats(t, pool)
		expect(t, "SetKeepAlive", pool.SetKeepAlive(time.Minute), nil)
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 1)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Lowering KeepAlive holds for the time that workers have been idle already.
func TestPoolLoweringKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 2, KeepAlive: time.Hour, Queue: executor.Handoff()})
		mustGo(t, pool, func(context.Context) error { return nil })
		mustGo(t, pool, func(context.Context) error { time.Sleep(time.Minute); return nil })
		time.Sleep(3 * time.Minute)
		expect(t, "SetKeepAlive", pool.SetKeepAlive(150*time.Second), nil)
		expect(t, "workers at once", waitStats(t, pool).Workers, 1)
		time.Sleep(30*time.Second - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 1)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Lowering Max dismisses idle workers above it at once, whatever KeepAlive says.
func TestPoolLoweringMaxDismissesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 5, KeepAlive: time.Hour, Queue: executor.Handoff()})
		block := newBlocker(t)
		block.Fill(t, pool, 5)
		for range 3 {
			block.ReleaseOne()
		}
		expect(t, "idle", waitStats(t, pool).Idle, 3)
		expect(t, "SetMax", pool.SetMax(3), nil)
		s := waitStats(t, pool)
		expect(t, "idle after", s.Idle, 1)
		expect(t, "active after", s.Active, 2)
		expect(t, "SetMax", pool.SetMax(1), nil)
		s = waitStats(t, pool)
		expect(t, "idle at Max below the busy", s.Idle, 0)
		expect(t, "active at Max below the busy", s.Active, 2)
		block.Release()
		expect(t, "workers at last", waitStats(t, pool).Workers, 1)
	})
}

// A busy worker above a lowered Max leaves after its task, though others wait.
func TestPoolLoweringMaxDismissesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocker(t)
		pool := newPool(t, executor.Config{Core: 3})
		b.Fill(t, pool, 10)
		b.ReleaseOne()
		waitStats(t, pool) // its worker has the next, so that tasks wait behind the gate
		expect(t, "SetCore", pool.SetCore(1), nil)
		expect(t, "SetMax", pool.SetMax(1), nil)
		expect(t, "workers while all are busy", waitStats(t, pool).Workers, 3)
		for _, left := range []int{2, 1, 1} {
			b.ReleaseOne()
			expect(t, "workers after a task", waitStats(t, pool).Workers, left)
		}
		b.Release()
	})
}

// Turning core timeout on lets core workers leave that are idle for long
// enough, and turning it off again keeps those that are left.
func TestPoolSetAllowCoreTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 3, KeepAlive: time.Minute})
		pool.PrestartAll()
		synctest.Wait()
		time.Sleep(59 * time.Second)
		expect(t, "on", pool.SetAllowCoreTimeout(true), nil)
		expect(t, "off", pool.SetAllowCoreTimeout(false), nil)
		time.Sleep(time.Hour)
		expect(t, "workers kept", waitStats(t, pool).Workers, 3)
		expect(t, "on", pool.SetAllowCoreTimeout(true), nil)
		expect(t, "workers gone", waitStats(t, pool).Workers, 0)
	})
}
