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

// policyReturning is a policy that does nothing with the task and returns err.
func policyReturning(err error) executor.RejectPolicy {
	return executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return err })
}

// A task that a policy neither took on nor refused is discarded: whatever shows its outcome fails
// with a *RejectedError that has the reason.
func TestRejectFuncForgetsTask(t *testing.T) {
	for name, submit := range map[string]func(*testing.T, *executor.Pool) error{
		"Submit": func(t *testing.T, p *executor.Pool) error {
			return executor.Submit(t.Context(), p, nopValue).Err()
		},
		"Execute": func(t *testing.T, p *executor.Pool) error {
			f := executor.NewTask(nopValue)
			expect(t, "Execute", p.Execute(t.Context(), f), nil)
			return f.Err()
		},
		"Retry": func(t *testing.T, p *executor.Pool) error {
			return executor.Submit(t.Context(), p, nopValue, executor.Retry(3, executor.Backoff(1, 1))).Err()
		},
		"Group": func(t *testing.T, p *executor.Pool) error {
			g := executor.NewGroup(context.Background(), p)
			g.Go(nop)
			return g.Wait()
		},
		"All": func(t *testing.T, p *executor.Pool) error {
			_, err := executor.All(context.Background(), p, nopValue, nopValue)
			return err
		},
		"Map": func(t *testing.T, p *executor.Pool) (err error) {
			for _, err = range executor.Map(t.Context(), p, 1, func(yield func(int) bool) { yield(1) },
				func(context.Context, int) (int, error) { return 0, nil }) {
			}
			return err
		},
		"Keyed": func(t *testing.T, p *executor.Pool) error {
			k := executor.NewKeyed[string](p, 1)
			k.Pool().Shutdown()
			expect(t, "policy", k.Pool().Reconfigure(func(s *executor.Settings) { s.Reject = policyReturning(nil) }), nil)
			return executor.Submit(t.Context(), k.For("a"), nopValue).Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dropped := 0
				p := newPool(t, executor.Config{Name: "mail", Workers: 1, Queue: executor.Handoff(), Reject: policyReturning(nil),
					Hooks: executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) { dropped++ }}})
				newBlocker(t).Fill(t, p, 1)
				err := submit(t, p)
				var rejected *executor.RejectedError
				if !errors.As(err, &rejected) || rejected.Executor != "mail" || !errors.Is(err, executor.ErrRejected) {
					t.Errorf("outcome: %v", err)
				}
				if dropped == 0 {
					t.Error("Hooks.Dropped was not called")
				}
				waitStats(t, p)
			})
		})
	}
}

// The same in a scheduled pool that is shut down, also of periodic work.
func TestRejectFuncForgetsScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Reject: policyReturning(nil)})
		p.Shutdown()
		s, err := p.AtFixedRate(t.Context(), 0, time.Second, nop)
		expect(t, "AtFixedRate", err, nil)
		after, err := p.GoAfter(t.Context(), 0, nop)
		expect(t, "After", err, nil)
		for name, f := range map[string]executor.Awaitable{
			"AtFixedRate": s, "After": after,
			"Schedule": executor.SubmitAfter(t.Context(), p, time.Second, nopValue),
			"At":       executor.SubmitAt(t.Context(), p, time.Now(), nopValue),
			"Retry": executor.SubmitAfter(t.Context(), p, time.Second, nopValue,
				executor.Retry(2, executor.Backoff(1, 1))),
		} {
			expectIs(t, name, f.Err(), executor.ErrRejected)
			expectIs(t, name, f.Err(), executor.ErrShutdown)
		}
		expect(t, "Rejected", p.Stats().Rejected, 5)
	})
}

// A policy that returns Kept keeps the task: it is pending until the policy's own code runs or
// completes it, or passes it to an executor, or the submitter's context ends.
func TestRejectFuncKeepsTask(t *testing.T) {
	for name, c := range map[string]struct {
		settle func(kept *executor.Task[int], cancel context.CancelFunc)
		want   error
	}{
		"runs": {func(f *executor.Task[int], _ context.CancelFunc) { f.Run(context.Background()) }, nil},
		"runs on a pool": {func(f *executor.Task[int], _ context.CancelFunc) {
			p := executor.Fixed(1)
			p.Execute(context.Background(), f)
			p.Close()
		}, nil},
		"completes": {func(f *executor.Task[int], _ context.CancelFunc) { f.Complete(1) }, nil},
		"fails":     {func(f *executor.Task[int], _ context.CancelFunc) { f.Fail(errTask) }, errTask},
		"ends":      {func(_ *executor.Task[int], cancel context.CancelFunc) { cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var kept *executor.Task[int]
				pool, _ := testkit.BusyPool(t, executor.RejectFunc(
					func(_ context.Context, r executor.Runnable, _ *executor.Pool) error {
						kept = r.(*executor.Task[int])
						return executor.ErrKept
					}))
				testkit.MustGo(t, pool, nop)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f := executor.Submit(ctx, pool, testkit.Value(1))
				testkit.StateIs(t, "the kept task", f, executor.Pending)
				expect(t, "Rejected", pool.Stats().Rejected, 1)
				c.settle(kept, cancel)
				synctest.Wait()
				expectIs(t, "outcome", f.Err(), c.want)
			})
		})
	}
}

// Kept is no error of a submission without a future.
func TestRejectFuncKeepsPlainTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, _ := testkit.BusyPool(t, policyReturning(executor.ErrKept))
		testkit.MustGo(t, pool, nop)
		testkit.MustGo(t, pool, nop)
		testkit.MustGo(t, pool, nop, executor.Named("x"))
	})
}

// A task that a policy has left in the hands of someone else is not discarded: another pool, this
// one, a policy of the package, or the goroutine that is running it.
func TestRejectFuncTookTaskOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := newPool(t, executor.Config{Workers: 1})
		busy := newBlocker(t)
		busy.Fill(t, other, 1)
		var running chan struct{}
		for name, take := range map[string]executor.RejectFunc{
			"another pool": func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error {
				return other.Execute(ctx, r)
			},
			"a key of it": func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error {
				return executor.NewKeyed[int](other, 1).For(1).Execute(ctx, r)
			},
			"DiscardOldest": executor.DiscardOldest.Reject,
			"a goroutine": func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error {
				go r.Run(ctx)
				<-running
				return nil
			},
		} {
			running = make(chan struct{})
			gate := make(chan struct{})
			pool, block := testkit.BusyPool(t, take)
			testkit.MustGo(t, pool, nop)
			f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
				close(running)
				<-gate
				return 1, nil
			})
			if err := f.Err(); err != executor.ErrNotDone {
				t.Errorf("%s: %v", name, err)
			}
			close(gate)
			block.Release()
			if name == "another pool" || name == "a key of it" {
				busy.ReleaseOne()
				busy.Fill(t, other, 1)
			}
			synctest.Wait()
			expect(t, name, f.Err(), nil)
		}
		busy.Release()
	})
}
