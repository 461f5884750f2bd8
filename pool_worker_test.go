package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit/check"
)

// Keeping and dismissing workers.

// Core workers stay by default, however long they are idle.
func TestPoolWorkersOfCoreStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, KeepAlive: time.Second})
		mustGo(t, pool, func(context.Context) error { return nil })
		time.Sleep(time.Hour)
		expect(t, "workers", waitStats(t, pool).Workers, 1)
	})
}

// With AllowCoreTimeout each worker leaves after KeepAlive, not earlier, and the next task starts
// one; the setting holds after a shutdown (JDK-6233235, JDK-6268386).
func TestPoolWorkersCoreTimeout(t *testing.T) {
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

// Workers above Core leave after KeepAlive, the longest idle first, and never below Core, even if
// all time out in the same moment (JDK-6458662).
func TestPoolWorkersLeaveDownToCore(t *testing.T) {
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

// KeepAlive counts from the end of a worker's last task, and the worker that became idle first
// leaves first.
func TestPoolWorkersLongestIdleLeavesFirst(t *testing.T) {
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

// The worker that became idle last gets the next task, so that the others can leave.
func TestPoolWorkersLastIdleWorksFirst(t *testing.T) {
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

// Without KeepAlive a worker above Core leaves as soon as it has nothing to do, and not before the
// queue is empty.
func TestPoolWorkersNoKeepAlive(t *testing.T) {
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

// With Core 0 the last worker runs all waiting tasks before it leaves, and no other worker is
// started meanwhile.
func TestPoolWorkersLastRunsQueue(t *testing.T) {
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

// Workers are numbered from 1 as they are started, and an idle one is not replaced by a new one.
func TestPoolWorkersDoNotChurn(t *testing.T) {
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

// A task that comes in the moment in which the last worker may leave runs.
func TestPoolWorkersTaskAtTimeout(t *testing.T) {
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

// No goroutine without work.

// A pool that keeps no worker has no goroutine while it has nothing to do.
func TestPoolWorkersIdlePoolHasNone(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"handed over": {Max: 4, Queue: executor.Handoff(), Reject: executor.Block},
		"queued":      {Max: 1},
		"impatient":   {Core: 2, KeepAlive: 1, AllowCoreTimeout: true},
	} {
		t.Run(name, func(t *testing.T) {
			const workers = "executor.(*Pool)"
			expect(t, "goroutines before", check.Goroutines(workers, 0), 0)
			p := newPool(t, c)
			for range 8 {
				mustGo(t, p, nop)
			}
			expect(t, "goroutines", check.Goroutines(workers, 0), 0)
			expect(t, "stage", p.Stats().Stage, executor.StageRunning)
		})
	}
}

// Prestart.

// PrestartAll starts workers up to Core, once; raising Core with nothing queued starts none.
func TestPoolPrestartAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 6, Queue: executor.Bounded(1)})
		expect(t, "first", pool.PrestartAll(), 2)
		expect(t, "again", pool.PrestartAll(), 0)
		expect(t, "idle", waitStats(t, pool).Idle, 2)
		expect(t, "SetCore", pool.SetCore(4), nil)
		expect(t, "workers", waitStats(t, pool).Workers, 2)
		expect(t, "after SetCore", pool.PrestartAll(), 2)
		expect(t, "workers", waitStats(t, pool).Workers, 4)
	})
}

// Prestart starts one worker at a time, and none above Core.
func TestPoolPrestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 6, Queue: executor.Bounded(1)})
		for i, want := range []bool{true, true, false, false} {
			expect(t, "Prestart", pool.Prestart(), want)
			expect(t, "workers", waitStats(t, pool).Workers, min(i+1, 2))
		}
	})
}

// A prestarted worker counts as one of Core and gets the first task.
func TestPoolPrestartedWorkerWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff()})
		pool.Prestart()
		synctest.Wait()
		newBlocker(t).Fill(t, pool, 1)
		s := checkStats(t, pool)
		expect(t, "workers", s.Workers, 1)
		expect(t, "active", s.Active, 1)
	})
}

// With AllowCoreTimeout a prestarted worker leaves after KeepAlive.
func TestPoolPrestartedWorkerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 3, KeepAlive: time.Minute, AllowCoreTimeout: true})
		pool.PrestartAll()
		synctest.Wait()
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 3)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Prestart starts nothing in a pool that is shut down and has nothing to do.
func TestPoolPrestartAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []func(*executor.Pool){
			(*executor.Pool).Shutdown, func(p *executor.Pool) { p.ShutdownNow() },
		} {
			pool := newPool(t, executor.Config{Core: 4})
			block := newBlocker(t)
			block.Fill(t, pool, 1) // keeps it from terminating
			stop(pool)
			expect(t, "Prestart", pool.Prestart(), false)
			expect(t, "PrestartAll", pool.PrestartAll(), 0)
			block.Release()
			waitStats(t, pool)
			expect(t, "Prestart at the end", pool.Prestart(), false)
		}
	})
}

// A pool that is shut down while workers are being prestarted terminates.
func TestPoolPrestartDuringShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			pool := newPool(t, executor.Config{Core: 4})
			go pool.PrestartAll()
			go func() { pool.Go(context.Background(), func(context.Context) error { return nil }) }()
			pool.Shutdown()
			if err := pool.AwaitTermination(context.Background()); err != nil {
				t.Fatal(err)
			}
			expect(t, "workers", waitStats(t, pool).Workers, 0)
		}
	})
}

// Growth.

// With GrowWhenBusy a task goes to an idle worker first, then to a new one up to Max, then
// into the queue, and then to the policy; the workers above Core leave after KeepAlive.
func TestPoolGrowsWhenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1, Max: 4, KeepAlive: time.Minute,
			Growth: executor.GrowWhenBusy, Queue: executor.Bounded(2)})
		for range 3 {
			mustGo(t, pool, func(context.Context) error { return nil })
			expect(t, "workers while one is idle", waitStats(t, pool).Workers, 1)
		}
		block := newBlocker(t)
		block.Fill(t, pool, 4)
		expect(t, "workers", waitStats(t, pool).Workers, 4)
		block.Fill(t, pool, 2)
		expect(t, "queued", waitStats(t, pool).Queued, 2)
		err := pool.Go(t.Context(), nop)
		expectIs(t, "beyond the queue", err, executor.ErrSaturated)
		block.Release()
		expect(t, "workers after", waitStats(t, pool).Workers, 4)
		time.Sleep(time.Minute)
		expect(t, "workers after KeepAlive", waitStats(t, pool).Workers, 1)
	})
}

// Over an unbounded queue an elastic pool of no Core workers grows to Max, and tasks that
// wait run in order.
func TestPoolGrowsWhenBusyWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 16, Growth: executor.GrowWhenBusy})
		block := newBlocker(t)
		block.Fill(t, pool, 100)
		s := waitStats(t, pool)
		expect(t, "workers", s.Workers, 16)
		expect(t, "queued", s.Queued, 84)
		block.Release()
		expect(t, "workers after", waitStats(t, pool).Workers, 0)
	})
}

// Raising Max of an elastic pool starts workers for the tasks that wait.
func TestPoolGrowsWhenMaxIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Max: 1, Growth: executor.GrowWhenBusy})
		block := newBlocker(t)
		block.Fill(t, pool, 4)
		expect(t, "SetMax", pool.SetMax(10), nil)
		s := waitStats(t, pool)
		expect(t, "active", s.Active, 4)
		expect(t, "workers", s.Workers, 4)
	})
}
