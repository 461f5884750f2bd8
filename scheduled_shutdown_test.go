package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A delayed task still runs after Shutdown, at its time, and the pool ends after
// it.
func TestShutdownKeepsDelayedTasks(t *testing.T) {
	for _, core := range []int{0, 1, 4} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, core), newDiary()
			executor.Schedule(t.Context(), p, time.Hour, d.Value("hour"))
			executor.Schedule(t.Context(), p, 12*time.Millisecond, d.Value("soon"))
			executor.At(t.Context(), p, time.Now().Add(time.Minute), d.Value("minute"))
			p.Shutdown()
			expect(t, "time until termination", testkit.Termination(t, p), time.Hour)
			d.Check(t, "soon@12ms", "minute@1m0s", "hour@1h0m0s")
		})
	}
}

// With DropAtShutdown the delayed tasks are canceled at once, and the pool does
// not wait for them.
func TestShutdownDropsDelayedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Delayed: executor.DropAtShutdown})
		f := executor.Schedule(t.Context(), p, time.Hour, nopValue)
		g := executor.At(t.Context(), p, time.Now().Add(time.Hour), nopValue)
		p.Shutdown()
		expectIs(t, "outcome of Schedule", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome of At", g.Err(), executor.ErrCanceled)
		expect(t, "queued", p.Stats().Queued, 0)
		expect(t, "time until termination", testkit.Termination(t, p), 0)
	})
}

// A task that is due when the pool is shut down runs, whatever the policies say:
// one that was submitted without delay as well as one whose delay is over.
// JDK-8176254.
func TestShutdownRunsDueTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Delayed: executor.DropAtShutdown})
		d := newDiary()
		release := testkit.Occupy(t, p)
		ctx := t.Context()
		executor.Schedule(ctx, p, time.Second, d.Value("over"))
		executor.At(ctx, p, time.Now().Add(time.Second/2), d.Value("day"))
		executor.Schedule(ctx, p, time.Second+1, d.Value("dropped"))
		elapse(time.Second)
		p.Go(ctx, d.Func("go"))
		p.Execute(ctx, executor.Func(d.Func("execute")))
		executor.Submit(ctx, p, d.Value("submit"))
		executor.Schedule(ctx, p, 0, d.Value("schedule"))
		p.Shutdown()
		elapse(time.Second)
		release()
		testkit.Termination(t, p)
		d.Check(t, "day@2s", "over@2s", "go@2s", "execute@2s", "submit@2s", "schedule@2s")
	})
}

// Shutdown cancels periodic tasks that wait, also one that is due.
func TestShutdownDropsPeriodicTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		due, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("due"))
		later, _ := p.WithFixedDelay(t.Context(), time.Hour, time.Second, d.Func("later"))
		cron, _ := p.On(t.Context(), testkit.Hourly, d.Func("cron"))
		p.Shutdown()
		for _, f := range []*executor.ScheduledFuture[struct{}]{due, later, cron} {
			expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), executor.Canceled)
		}
		expect(t, "queued", p.Stats().Queued, 0)
		release()
		testkit.Termination(t, p)
		d.Check(t)
	})
}

// The periodic run that is in progress at Shutdown ends undisturbed; its task
// ends as canceled, not pending. JDK-8177632.
func TestShutdownDuringPeriodicRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			time.Sleep(time.Minute)
			expect(t, "the context has ended", ctx.Err(), nil)
			return nil
		})
		synctest.Wait()
		p.Shutdown()
		testkit.StateIs(t, "the task during its run", f, executor.Running)
		expect(t, "time until termination", testkit.Termination(t, p), time.Minute)
		expect(t, "state", f.State(), executor.Canceled)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expect(t, "runs", f.Runs(), 1)
	})
}

// The last run of a limited task that is in progress at Shutdown ends it well.
func TestShutdownDuringLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			time.Sleep(time.Minute)
			return nil
		}, executor.Times(1))
		synctest.Wait()
		p.Shutdown()
		testkit.Termination(t, p)
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// With KeepAfterShutdown periodic work goes on after Shutdown until it is
// canceled, and the pool ends then.
func TestShutdownKeepsPeriodicTasks(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Core: core, Periodic: executor.KeepAfterShutdown})
			d := newDiary()
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"))
			p.Shutdown()
			elapse(2500 * time.Millisecond)
			f.Cancel()
			expect(t, "time until termination", testkit.Termination(t, p), 0)
			d.Check(t, "x@0s", "x@1s", "x@2s")
		})
	}
}

// Periodic work that is kept holds the pool until it ends by itself.
func TestShutdownWaitsForKeptPeriodicTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Periodic: executor.KeepAfterShutdown})
		f, _ := p.WithFixedDelay(t.Context(), time.Second, time.Second, nop, executor.Times(3))
		p.Shutdown()
		expect(t, "time until termination", testkit.Termination(t, p), 3*time.Second)
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// ShutdownNow gives back tasks that are not due, of every kind, complete as
// canceled and to be run elsewhere. The JDK leaves them pending.
func TestShutdownNowGivesBackDelayedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var fs []*executor.ScheduledFuture[struct{}]
		for range 3 {
			fs = append(fs, executor.Schedule(t.Context(), p, time.Hour, d.Value("once"), executor.Named("once")))
			rate, _ := p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("rate"))
			delay, _ := p.WithFixedDelay(t.Context(), time.Hour, time.Hour, d.Func("delay"))
			day := executor.At(t.Context(), p, time.Now().Add(time.Hour), d.Value("day"))
			fs = append(fs, rate, delay, day)
		}
		synctest.Wait()
		unrun := p.ShutdownNow()
		expect(t, "given back", len(unrun), len(fs))
		given := make(map[executor.Runnable]executor.Dropped)
		for _, u := range unrun {
			given[u.Task()] = u
		}
		for _, f := range fs {
			u, ok := given[f]
			expect(t, "the future is given back", ok, true)
			expect(t, "its name", u.Name(), f.Name())
			expect(t, "its state", f.State(), executor.Canceled)
			expectIs(t, "its outcome", f.Err(), executor.ErrShutdown)
		}
		expect(t, "time until termination", testkit.Termination(t, p), 0)
		expect(t, "given back again", len(p.ShutdownNow()), 0)
		unrun[0].Run(t.Context())
		expect(t, "bodies that ran elsewhere", len(d.Names()), 1)
	})
}

// ShutdownNow cancels the contexts of what runs, one-shot or periodic, and gives
// that not back.
func TestShutdownNowCancelsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		waits := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		once := executor.Schedule(t.Context(), p, 0, executor.Callable(waits))
		beat, _ := p.AtFixedRate(t.Context(), 0, time.Second, waits)
		var queued []*executor.ScheduledFuture[struct{}]
		for range 3 {
			queued = append(queued, executor.Schedule(t.Context(), p, 0, executor.Callable(waits)))
		}
		synctest.Wait()
		expect(t, "given back", len(p.ShutdownNow()), len(queued))
		testkit.Termination(t, p)
		expectIs(t, "outcome of the one-shot", once.Err(), executor.ErrShutdown)
		expect(t, "state of the one-shot", once.State(), executor.Failed)
		expectIs(t, "outcome of the periodic task", beat.Err(), executor.ErrShutdown)
		expect(t, "state of the periodic task", beat.State(), executor.Canceled)
		for _, f := range queued {
			expect(t, "state of one that waited", f.State(), executor.Canceled)
		}
	})
}
