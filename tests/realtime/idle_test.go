package realtime

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/tests/internal/check"
	"github.com/executor-go/executor/tests/internal/testkit"
)

// openFiles returns the number of descriptors of the process, on systems that show it.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not show the descriptors of a process")
	}
	return len(files)
}

// openFilesUntil returns openFiles when good reports true for it, or after two seconds.
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

// A scheduled pool with Workers 0 has a worker and a descriptor for its alarm while something is
// scheduled, and neither otherwise. There are no descriptors in a bubble.
func TestScheduledPoolIdleHasNoDescriptor(t *testing.T) {
	const workers, alarms = "engine.(*Engine).work", "internal/alarm.(*waker).run"
	use := func(p *executor.ScheduledPool, more func()) {
		f := executor.SubmitAfter(context.Background(), p, time.Hour, testkit.NopValue)
		more()
		if _, err := executor.SubmitAfter(context.Background(), p, time.Millisecond,
			testkit.NopValue).Get(context.Background()); err != nil {
			t.Error(err)
		}
		if !f.Cancel() {
			t.Error("a task that waits could not be canceled")
		}
	}
	use(testkit.Scheduled(t, 0), func() {}) // the runtime's poller opens descriptors that stay
	check.Equal(t, "workers before", check.Goroutines(workers, 0), 0)
	check.Equal(t, "alarms before", check.Goroutines(alarms, 0), 0)
	before := openFiles(t)

	p := testkit.Scheduled(t, 0)
	use(p, func() {
		if n := openFilesUntil(t, func(n int) bool { return n > before }); n <= before {
			t.Skip("alarms have no descriptors here")
		}
	})
	check.Equal(t, "workers", check.Goroutines(workers, 0), 0)
	check.Equal(t, "alarms", check.Goroutines(alarms, 0), 0)
	check.Equal(t, "descriptors", openFilesUntil(t, func(n int) bool { return n <= before }), before)
	check.Equal(t, "stage", p.Stats().Stage, executor.StageRunning)
}
