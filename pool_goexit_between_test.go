package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A task that a worker has been handed runs even if the worker's goroutine is
// lost to an OnDone function before it begins.
func TestGoexitInOnDoneBetweenTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1})
		hold, begun := make(chan struct{}), make(chan struct{})
		f, err := p.AtFixedRate(context.Background(), 0, time.Second, func(context.Context) error { close(begun); <-hold; return nil })
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		f.OnDone(runtime.Goexit)
		ran := false
		next := executor.Submit(context.Background(), p, func(context.Context) (int, error) { ran = true; return 1, nil })
		p.Shutdown() // drops the series after its run, keeps the task
		close(hold)
		next.Get(context.Background())
		expect(t, "ran", ran, true)
	})
}
