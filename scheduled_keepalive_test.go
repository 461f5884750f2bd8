package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A worker that hears the alarm in vain, since the task was canceled, is not any
// younger for that: it leaves when it has had no task for KeepAlive.
func TestLookInVainDoesNotKeepWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, KeepAlive: 10 * time.Second, AllowCoreTimeout: true})
		f := executor.Schedule(t.Context(), p, 5*time.Second, nopValue)
		elapse(time.Second)
		f.Cancel()
		elapse(9*time.Second - 1) // at 5 s the alarm goes off
		expect(t, "workers within the keep-alive time", waitStats(t, p).Workers, 1)
		elapse(2)
		expect(t, "workers after it", waitStats(t, p).Workers, 0)
	})
}

// Nor does it stay for one that became idle later.
func TestLookInVainKeepsOrderOfLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 2, KeepAlive: 10 * time.Second, AllowCoreTimeout: true})
		f := executor.Schedule(t.Context(), p, 6*time.Second, nopValue) // starts the first worker
		elapse(5 * time.Second)
		mustGo(t, p.Pool, nop) // starts the second
		f.Cancel()
		elapse(5*time.Second - 1) // at 6 s the first worker hears the alarm
		expect(t, "workers when none is idle for long", waitStats(t, p).Workers, 2)
		elapse(2)
		expect(t, "workers when one is", waitStats(t, p).Workers, 1)
		elapse(5 * time.Second)
		expect(t, "workers when both are", waitStats(t, p).Workers, 0)
	})
}
