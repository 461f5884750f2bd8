package executor_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit/check"
)

// openFiles counts the descriptors of the process, where the system shows them.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not show the descriptors of a process")
	}
	return len(files)
}

// openFilesUntil counts them until there are as many as wanted, in vain for a
// few seconds at most.
func openFilesUntil(t *testing.T, good func(n int) bool) (n int) {
	t.Helper()
	for range 2000 {
		if n = openFiles(t); good(n) {
			break
		}
		<-time.After(time.Millisecond)
	}
	return n
}

// A scheduled pool with Core 0 has a worker and a descriptor for its alarm as
// long as something is scheduled, and neither when nothing is. In real time, as
// there are no descriptors in a bubble.
func TestIdleCoreZeroPoolHasNoDescriptor(t *testing.T) {
	const workers, alarms = "executor.(*Pool).work", "internal/alarm.(*waker).run"
	use := func(p *executor.ScheduledPool, more func()) {
		f := executor.Schedule(context.Background(), p, time.Hour, nopValue)
		more()
		if _, err := executor.Schedule(context.Background(), p, time.Millisecond, nopValue).Get(context.Background()); err != nil {
			t.Error(err)
		}
		if !f.Cancel() {
			t.Error("a task that waits could not be canceled")
		}
	}
	use(scheduled(t, 0), func() {}) // the runtime's poller opens some that stay
	expect(t, "workers before", check.Goroutines(workers, 0), 0)
	expect(t, "alarms before", check.Goroutines(alarms, 0), 0)
	before := openFiles(t)

	p := scheduled(t, 0)
	use(p, func() {
		if n := openFilesUntil(t, func(n int) bool { return n > before }); n <= before {
			t.Skip("alarms have no descriptors here")
		}
	})
	expect(t, "workers", check.Goroutines(workers, 0), 0)
	expect(t, "alarms", check.Goroutines(alarms, 0), 0)
	expect(t, "descriptors", openFilesUntil(t, func(n int) bool { return n <= before }), before)
	expect(t, "stage", p.Stats().Stage, executor.StageRunning)
}

// A pool that keeps no worker has no goroutine when it has nothing to do.
func TestIdlePoolWithoutCoreHasNoGoroutine(t *testing.T) {
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
