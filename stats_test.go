package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// While one task runs one worker is active; the counters follow tasks from the queue to their end.
func TestStatsScheduled(t *testing.T) {
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

// A periodic task counts as one, queued between its runs and active during them; its runs are
// counted apart.
func TestStatsPeriodicTask(t *testing.T) {
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

// Largest does not shrink when workers leave.
func TestStatsScheduledLargest(t *testing.T) {
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

// A task whose BeforeTask hook failed has not run: neither its future nor the pool counts a run,
// periodic or not.
func TestStatsRunsWithoutFunction(t *testing.T) {
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
