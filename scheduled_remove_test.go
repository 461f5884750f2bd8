package executor_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Waiting tells the very futures that wait, and not the one that runs.
func TestScheduledWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		block := newBlocker(t)
		var fs []*executor.ScheduledFuture[int]
		for range 5 {
			fs = append(fs, executor.Schedule(t.Context(), p, time.Millisecond, block.Value))
		}
		elapse(time.Second)
		waiting := slices.Collect(p.Waiting())
		expect(t, "waiting", len(waiting), 4)
		for i, f := range fs {
			expect(t, "a future is among them", slices.Contains(waiting, executor.Runnable(f)), i > 0)
		}
	})
}

// Waiting tells what was given to Execute as such.
func TestScheduledWaitingRunnable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.Occupy(t, p)
		mine := new(testkit.Step)
		p.Execute(t.Context(), mine)
		f := executor.NewFuture(nopValue)
		p.Execute(t.Context(), f)
		waiting := slices.Collect(p.Waiting())
		if len(waiting) != 2 || !slices.Contains(waiting, executor.Runnable(mine)) || !slices.Contains(waiting, executor.Runnable(f)) {
			t.Errorf("waiting: %v", waiting)
		}
		expect(t, "Remove", p.Remove(mine), true)
		expect(t, "Remove again", p.Remove(mine), false)
		expect(t, "Remove of the future", p.Remove(f), true)
	})
}

// Remove takes out each task that waits once, and never one that runs.
func TestScheduledRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		block := newBlocker(t)
		running := executor.Schedule(t.Context(), p, 0, block.Value)
		synctest.Wait()
		fs := testkit.FarTasks(t, p, 4)
		expect(t, "Remove of a task that runs", p.Remove(running), false)
		for _, i := range []int{3, 0, 2, 1} {
			expect(t, "Remove", p.Remove(fs[i]), true)
			expect(t, "Remove again", p.Remove(fs[i]), false)
			expectIs(t, "outcome", fs[i].Err(), executor.ErrCanceled)
		}
		s := p.Stats()
		expect(t, "queued", s.Queued, 0)
		expect(t, "canceled", s.Canceled, 4)
	})
}

// Remove finds nothing in another pool, and not the wrong task.
func TestScheduledRemoveForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := scheduled(t, 1), scheduled(t, 1)
		fs, theirs := testkit.FarTasks(t, p, 2), testkit.FarTasks(t, other, 2)
		expect(t, "Remove", p.Remove(theirs[0]), false)
		expect(t, "Remove", other.Remove(fs[1]), false)
		expect(t, "queued", p.Stats().Queued, 2)
		expect(t, "queued", other.Stats().Queued, 2)
	})
}

// Purge has nothing to do in a pool that does not retain canceled tasks.
func TestPurgeWithoutRetained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		fs := testkit.FarTasks(t, p, 5)
		fs[1].Cancel()
		fs[3].Cancel()
		s := p.Stats()
		expect(t, "queued", s.Queued, 3)
		expect(t, "Purge", p.Purge(), 0)
	})
}

// A pool that retains canceled tasks shows them until Purge.
func TestRetainCanceledUntilPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		fs := testkit.FarTasks(t, p, 5)
		fs[1].Cancel()
		fs[3].Abandon()
		expect(t, "queued", p.Stats().Queued, 5)
		expect(t, "canceled", p.Stats().Canceled, 0)
		expect(t, "the canceled task waits", slices.Contains(slices.Collect(p.Waiting()), executor.Runnable(fs[1])), true)
		expect(t, "Purge", p.Purge(), 2)
		expect(t, "Purge again", p.Purge(), 0)
		s := checkStats(t, p)
		expect(t, "queued", s.Queued, 3)
		expect(t, "canceled", s.Canceled, 2)
	})
}

// A canceled task that is retained leaves the queue when it is due, and does not
// run.
func TestRetainCanceledUntilDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		d := newDiary()
		f := executor.Schedule(t.Context(), p, time.Second, d.Value("canceled"))
		executor.Schedule(t.Context(), p, 2*time.Second, d.Value("other"))
		f.Cancel()
		elapse(1500 * time.Millisecond)
		expect(t, "queued", waitStats(t, p).Queued, 1)
		elapse(time.Second)
		d.Check(t, "other@2s")
	})
}

// The worker that meets a canceled task which was retained does not show it to the
// hooks, and it is no run.
func TestRetainCanceledIsNotToldToHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Trace
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true, Hooks: log.Hooks()})
		executor.Schedule(t.Context(), p, time.Second, newDiary().Value("canceled")).Cancel()
		elapse(2 * time.Second)
		s := waitStats(t, p)
		expect(t, "queued", s.Queued, 0)
		expect(t, "runs", s.Runs, 0)
		expect(t, "completed", s.Ended(), 1)
		log.Check(t)
	})
}

// A canceled task that is retained can be removed.
func TestRetainCanceledRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		fs := testkit.FarTasks(t, p, 2)
		fs[0].Cancel()
		expect(t, "Remove", p.Remove(fs[0]), true)
		expect(t, "Remove again", p.Remove(fs[0]), false)
		expect(t, "queued", checkStats(t, p).Queued, 1)
	})
}

// SetRetainCanceled holds for tasks that are canceled from then on.
func TestSetRetainCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		fs := testkit.FarTasks(t, p, 4)
		fs[0].Cancel()
		p.SetRetainCanceled(true)
		fs[1].Cancel()
		expect(t, "queued while canceled tasks are retained", p.Stats().Queued, 3)
		p.SetRetainCanceled(false)
		fs[2].Cancel()
		expect(t, "queued while they are not", p.Stats().Queued, 2)
		expect(t, "Purge", p.Purge(), 1)
	})
}

// A shutdown does not wait for canceled tasks that were retained.
func TestRetainedTasksLeaveAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		for _, f := range testkit.FarTasks(t, p, 3) {
			f.Cancel()
		}
		p.Shutdown()
		begin := time.Now()
		p.AwaitTermination(context.Background())
		expect(t, "time until termination", time.Since(begin), 0)
	})
}

// A policy that is to keep what waits lets those stay that were canceled after the
// shutdown, and retained.
func TestRetainedTasksStayIfPolicyKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		fs := testkit.FarTasks(t, p, 3)
		p.Shutdown()
		fs[0].Cancel()
		p.SetDelayed(executor.KeepAfterShutdown)
		p.SetPeriodic(executor.KeepAfterShutdown)
		expect(t, "queued", waitStats(t, p).Queued, 3)
		p.SetDelayed(executor.DropAtShutdown)
		expect(t, "queued when they are dropped", waitStats(t, p).Queued, 0)
	})
}

// Purge after a shutdown lets the pool terminate if nothing else waits.
func TestPurgeTerminates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 2, RetainCanceled: true})
		fs := testkit.FarTasks(t, p, 3)
		p.Shutdown()
		for _, f := range fs {
			f.Cancel()
		}
		expect(t, "queued", waitStats(t, p).Queued, 3)
		expect(t, "Purge", p.Purge(), 3)
		begin := time.Now()
		p.AwaitTermination(context.Background())
		expect(t, "time until termination", time.Since(begin), 0)
	})
}
