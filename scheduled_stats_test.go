package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// While one task runs there is one active worker; the counters follow tasks from
// the queue to their end.
func TestScheduledCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		s := waitStats(t, p)
		expect(t, "active at first", s.Active, 0)
		expect(t, "workers at first", s.Workers, 0)

		block := newBlocker(t)
		executor.Schedule(t.Context(), p, 0, block.Value)
		s = waitStats(t, p)
		expect(t, "active", s.Active, 1)
		expect(t, "workers", s.Workers, 1)
		expect(t, "completed", s.Ended(), 0)

		for range 3 {
			executor.Schedule(t.Context(), p, time.Minute, block.Value)
		}
		s = waitStats(t, p)
		expect(t, "queued", s.Queued, 3)
		expect(t, "idle", s.Idle, 1)
		expect(t, "submitted", s.Submitted, 4)

		elapse(time.Minute)
		s = waitStats(t, p)
		expect(t, "active", s.Active, 2)
		expect(t, "queued", s.Queued, 2)
		block.Release()
		s = waitStats(t, p)
		expect(t, "completed", s.Ended(), 4)
		expect(t, "active", s.Active, 0)
		expect(t, "submitted", s.Submitted, 4)
	})
}

// A periodic task counts as one, queued between its runs and active during them;
// the number of runs is counted apart.
func TestPeriodicTaskCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.AtFixedRate(t.Context(), 0, 2*time.Second, func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}, executor.Times(3))
		for i := range 3 {
			s := waitStats(t, p)
			expect(t, "active during a run", s.Active, 1)
			expect(t, "queued during a run", s.Queued, 0)
			elapse(time.Second)
			s = waitStats(t, p)
			expect(t, "active between runs", s.Active, 0)
			expect(t, "submitted", s.Submitted, 1)
			expect(t, "runs", s.Runs, int64(i+1))
			expect(t, "queued or done", s.Queued+int(s.Ended()), 1)
			elapse(time.Second)
		}
		expect(t, "succeeded", p.Stats().Succeeded, 1)
	})
}

// The largest number of workers is remembered when they have left.
func TestScheduledLargest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		expect(t, "largest at first", p.Stats().Largest, 0)
		block := newBlocker(t)
		block.Fill(t, p.Pool, 3)
		expect(t, "largest", p.Stats().Largest, 3)
		block.Release()
		p.Close()
		expect(t, "largest in the end", p.Stats().Largest, 3)
		expect(t, "workers in the end", p.Stats().Workers, 0)
	})
}

// A pool goes from running over shutdown to terminated, and is not terminated
// while a task runs or waits; its hook is called once, before that.
func TestScheduledStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool *executor.ScheduledPool
		hooked := 0
		pool = newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{Terminated: func() {
			hooked++
			expect(t, "stage in the hook", pool.Stage(), executor.StageTidying)
		}}})
		block := newBlocker(t)
		block.Fill(t, pool.Pool, 1)
		executor.Schedule(t.Context(), pool, time.Minute, nopValue)
		expect(t, "stage", pool.Stage(), executor.StageRunning)
		pool.Shutdown()
		expect(t, "stage while a task runs", pool.Stage(), executor.StageShutdown)
		block.Release()
		elapse(time.Second)
		expect(t, "stage while a task waits", pool.Stage(), executor.StageShutdown)
		expect(t, "time until termination", testkit.Termination(t, pool), 59*time.Second)
		expect(t, "stage", pool.Stage(), executor.StageTerminated)
		pool.Shutdown()
		pool.ShutdownNow()
		expect(t, "calls of the hook", hooked, 1)
	})
}

// A pool that never had a task terminates at once.
func TestScheduledShutdownOfUnusedPool(t *testing.T) {
	for _, core := range []int{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			p.Shutdown()
			expect(t, "stage", p.Stage(), executor.StageTerminated)
		})
	}
}

// A wait for termination that is given up tells so, and does not disturb the
// pool.
func TestScheduledAwaitTerminationGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		executor.Schedule(t.Context(), p, time.Hour, d.Value("x"))
		p.Shutdown()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		expectIs(t, "AwaitTermination", p.AwaitTermination(ctx), context.DeadlineExceeded)
		expect(t, "time until termination", testkit.Termination(t, p), 59*time.Minute)
		d.Check(t, "x@1h0m0s")
	})
}

// A task whose BeforeTask hook failed has not run: neither its future nor the
// pool counts a run, be it periodic or not.
func TestRunsWithoutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("no") },
		}})
		once := executor.Schedule(t.Context(), p, time.Second, nopValue)
		again, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, nop)
		elapse(time.Minute)
		for what, f := range map[string]*executor.ScheduledFuture[struct{}]{"one run": once, "series": again} {
			expect(t, what+": state", f.State(), executor.Failed)
			expect(t, what+": runs", f.Runs(), 0)
			expect(t, what+": last error", f.LastError(), nil)
		}
		expect(t, "runs of the pool", p.Stats().Runs, 0)
	})
}
