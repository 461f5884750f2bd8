package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// PrestartAll fills the pool up to Core, once; raising Core with nothing queued
// starts none by itself.
func TestPoolPrestartAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 6})
		expect(t, "first", pool.PrestartAll(), 2)
		expect(t, "again", pool.PrestartAll(), 0)
		expect(t, "idle", waitStats(t, pool).Idle, 2)
		expect(t, "SetCore", pool.SetCore(4), nil)
		expect(t, "workers", waitStats(t, pool).Workers, 2)
		expect(t, "after SetCore", pool.PrestartAll(), 2)
		expect(t, "workers", waitStats(t, pool).Workers, 4)
	})
}

// Prestart starts one worker at a time, and none beyond Core.
func TestPoolPrestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2, Max: 6})
		for i, want := range []bool{true, true, false, false} {
			expect(t, "Prestart", pool.Prestart(), want)
			expect(t, "workers", waitStats(t, pool).Workers, min(i+1, 2))
		}
	})
}

// A prestarted worker counts as one of Core: the first task goes to it.
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

// A prestarted worker leaves after KeepAlive if core workers may time out.
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

// Nothing is prestarted in a pool that is shut down and has nothing to do.
func TestPoolPrestartAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stop := range []func(*executor.Pool){(*executor.Pool).Shutdown, func(p *executor.Pool) { p.ShutdownNow() }} {
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
func TestPoolShutdownDuringPrestart(t *testing.T) {
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
