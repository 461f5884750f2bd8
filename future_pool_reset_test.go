package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A task that a pool has accepted resolves though somebody is about to run it by
// RunAndReset when its turn comes.
func TestRunAndResetDoesNotLoseTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		run := func(context.Context) error { time.Sleep(time.Minute); return nil }
		once := executor.Schedule(t.Context(), p, time.Second, executor.Callable(run))
		series, err := p.AtFixedRate(t.Context(), time.Second, time.Hour, run, executor.Times(2))
		expect(t, "error of AtFixedRate", err, nil)
		time.Sleep(time.Second - 1)
		go once.RunAndReset(t.Context())
		go series.RunAndReset(t.Context())
		elapse(5 * time.Hour)
		expect(t, "state of a task with one run", once.State(), executor.Succeeded)
		expect(t, "state of a series", series.State(), executor.Succeeded)
	})
}
