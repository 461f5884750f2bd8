package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// This file is about scheduled tasks that somebody else than their pool runs: a
// rejection policy, another pool, or whoever holds the future.

// rejecting makes a pool that is shut down and has policy decide.
func rejecting(t *testing.T, policy executor.RejectFunc) *executor.ScheduledPool {
	p := newScheduled(t, executor.ScheduledConfig{Core: 1, Reject: policy})
	p.Shutdown()
	return p
}

// A rejected periodic task that the policy runs has that one run, and is done
// then: nobody repeats it.
func TestPolicyRunsRejectedPeriodicTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiary()
		p := rejecting(t, func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error { return task.Run(ctx) })
		for _, submit := range []func() (*anyFuture, error){
			func() (*anyFuture, error) { return p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x")) },
			func() (*anyFuture, error) { return p.WithFixedDelay(t.Context(), 0, time.Second, d.Func("x")) },
			func() (*anyFuture, error) { return p.On(t.Context(), testkit.Hourly, d.Func("x")) },
		} {
			f, err := submit()
			if err != nil {
				t.Errorf("error %.80v", err)
				continue
			}
			expect(t, "state", f.State(), executor.Succeeded)
			expect(t, "outcome", f.Err(), nil)
		}
		elapse(2 * time.Hour)
		d.Check(t, "x@0s", "x@0s", "x@0s")
	})
}

// A rejected periodic task that the policy gives to a plain pool has one run
// there: a plain pool knows no schedule.
func TestPlainPoolTakesRejectedPeriodicTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, plain := newDiary(), newPool(t, executor.Config{Core: 1})
		p := rejecting(t, func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return plain.Execute(ctx, task)
		})
		f, err := p.AtFixedRate(t.Context(), 0, time.Hour, d.Func("x"), executor.Times(5))
		expect(t, "error", err, nil)
		elapse(time.Second)
		d.Check(t, "x@0s")
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// A rejected task that the policy gives to another scheduled pool has one run
// there, at once: its schedule was that of the pool which rejected it.
func TestScheduledPoolTakesRejectedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var other *executor.ScheduledPool
		p := rejecting(t, func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			return other.Execute(ctx, task)
		})
		time.Sleep(time.Hour) // so that the clocks of the two pools differ
		other = scheduled(t, 1)
		d := newDiary()
		executor.Schedule(t.Context(), p, time.Minute, d.Value("once"))
		executor.At(t.Context(), p, time.Now().Add(time.Minute), d.Value("day"))
		p.AtFixedRate(t.Context(), time.Minute, time.Second, d.Func("rate"), executor.Times(3))
		elapse(time.Minute)
		d.Check(t, "once@0s", "day@0s", "rate@0s")
	})
}

// A one-shot that is run by hand while it waits is done and leaves the queue, so
// that a shutdown does not wait for its time.
func TestRunByHandLeavesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f := executor.Schedule(t.Context(), p, time.Hour, d.Value("x"))
		expect(t, "Run", f.Run(t.Context()), nil)
		expect(t, "state", f.State(), executor.Succeeded)
		expect(t, "queued", p.Stats().Queued, 0)
		p.Shutdown()
		expect(t, "time until termination", testkit.Termination(t, p), 0)
		d.Check(t, "x@0s")
	})
}

// A periodic task that somebody runs by hand at the moment when it is due is not
// lost: it goes on, or is done, but does not stay pending for ever.
func TestRunByHandDoesNotLosePeriodicTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", 5*time.Second))
		f.Run(t.Context())
		before := f.Runs()
		elapse(time.Minute)
		if !f.State().Done() && f.Runs() < before+10 {
			t.Errorf("the task is %v after %d runs, due in %v", f.State(), f.Runs(), f.Delay())
		}
	})
}

// A scheduled task that is given to its pool again is a plain Runnable there: it
// does not run a second time.
func TestScheduledTaskGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f := executor.Schedule(t.Context(), p, time.Second, d.Value("x"))
		elapse(time.Minute)
		expect(t, "error", p.Execute(t.Context(), f), nil)
		elapse(time.Minute)
		d.Check(t, "x@1s")
	})
}

// ShutdownNow does not give back what was canceled and retained.
func TestShutdownNowOmitsRetained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, RetainCanceled: true})
		fs := testkit.FarTasks(t, p, 3)
		fs[1].Cancel()
		unrun := p.ShutdownNow()
		expect(t, "given back", len(unrun), 2)
		for _, u := range unrun {
			expect(t, "the canceled task is given back", u.Task() == fs[1], false)
		}
	})
}
