package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Whatever comes after Shutdown is rejected by every way in, and nothing of it
// runs; so it is when the pool has terminated without ever having had a task.
// JDK-8357146.
func TestScheduledRejectsAfterShutdown(t *testing.T) {
	for _, used := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, ctx := scheduled(t, 1), t.Context()
			if used {
				testkit.Occupy(t, p)
			}
			p.Shutdown()
			before := p.Stats()
			_, rate := p.AtFixedRate(ctx, 0, time.Second, nop)
			_, delay := p.WithFixedDelay(ctx, 0, time.Second, nop)
			_, on := p.On(ctx, testkit.Hourly, nop)
			errs := map[string]error{
				"Execute":        p.Execute(ctx, executor.Func(nop)),
				"Go":             p.Go(ctx, nop),
				"Submit":         executor.Submit(ctx, p, nopValue).Err(),
				"Schedule":       executor.Schedule(ctx, p, time.Second, nopValue).Err(),
				"At":             executor.At(ctx, p, time.Now(), nopValue).Err(),
				"AtFixedRate":    rate,
				"WithFixedDelay": delay,
				"On":             on,
			}
			for what, err := range errs {
				if !errors.Is(err, executor.ErrRejected) || !errors.Is(err, executor.ErrShutdown) {
					t.Errorf("%s: %v, want ErrRejected and ErrShutdown", what, err)
				}
			}
			after := waitStats(t, p)
			expect(t, "rejected", after.Rejected, int64(len(errs)))
			expect(t, "queued", after.Queued, before.Queued)
			expect(t, "runs", after.Runs, before.Runs)
			expect(t, "workers", after.Workers, before.Workers)
		})
	}
}

// A rejection policy of the user's is asked once for each task that comes too
// late, with the very future and this pool.
func TestScheduledRejectPolicyIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []executor.Runnable
		var pool *executor.ScheduledPool
		pool = newScheduled(t, executor.ScheduledConfig{Core: 1, Reject: executor.RejectFunc(
			func(_ context.Context, task executor.Runnable, p *executor.Pool) error {
				expect(t, "the pool", p, pool.Pool)
				asked = append(asked, task)
				if f, ok := task.(executor.Awaitable); ok {
					expect(t, "state of the task", f.State(), executor.Pending)
				}
				return nil
			})})
		pool.Shutdown()
		once := executor.Schedule(t.Context(), pool, time.Second, nopValue)
		rate, err := pool.AtFixedRate(t.Context(), 0, time.Second, nop)
		expect(t, "error", err, nil)
		mine := new(testkit.Step)
		pool.Execute(t.Context(), mine)
		expect(t, "asked", len(asked), 3)
		for i, want := range []executor.Runnable{once, rate, mine} {
			expect(t, "the task", asked[i], want)
		}
		expect(t, "state", once.State(), executor.Pending) // the policy's by now
		once.Cancel()
		rate.Cancel()
	})
}

// With Discard a task that comes too late fails as rejected, and its submission
// does not; CallerRuns aborts.
func TestScheduledRejectPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Reject: executor.Discard})
		p.Shutdown()
		f, err := p.AtFixedRate(t.Context(), 0, time.Second, nop)
		expect(t, "error of Discard", err, nil)
		expectIs(t, "outcome of Discard", f.Err(), executor.ErrRejected)
		for _, policy := range []executor.RejectPolicy{executor.CallerRuns, executor.DiscardOldest, executor.Block} {
			if err := p.SetReject(policy); err != nil {
				t.Fatal(err)
			}
			_, err = p.AtFixedRate(t.Context(), 0, time.Second, nop)
			expectIs(t, "error", err, executor.ErrShutdown)
		}
		expect(t, "runs", p.Stats().Runs, 0)
	})
}
