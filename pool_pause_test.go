package executor_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A pool that is paused begins nothing: what runs goes on, what waits and what is submitted waits for Resume, and as
// many tasks run then as there are workers.
func TestPoolPause(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"unbounded":   {Workers: 2},
		"bounded":     {Workers: 2, Queue: executor.Bounded(10)},
		"prioritized": {Workers: 2, Queue: executor.Prioritized()},
		"elastic":     {Max: 2, GrowWhenBusy: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, c)
				running, waiting := newBlocker(t), newBlocker(t)
				running.Fill(t, pool, 1)
				pool.Pause()
				waiting.Fill(t, pool, 5)
				s := waitStats(t, pool)
				expect(t, "paused", s.Paused, true)
				expect(t, "active", s.Active, 1)
				expect(t, "queued", s.Queued, 5)
				running.Release()
				expect(t, "active, once what ran has ended", waitStats(t, pool).Active, 0)
				pool.Resume()
				s = waitStats(t, pool)
				expect(t, "paused", s.Paused, false)
				expect(t, "active, once resumed", s.Active, 2)
				waiting.Release()
				expect(t, "succeeded", waitStats(t, pool).Succeeded, 6)
			})
		})
	}
}

// A pool that is paused has the room that its queue has: none with Handoff, though workers are idle.
func TestPoolPauseRoom(t *testing.T) {
	for name, c := range map[string]struct {
		queue executor.Queue
		room  int
	}{"handoff": {executor.Handoff(), 0}, "bounded": {executor.Bounded(3), 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 2, Max: 4, Queue: c.queue})
				pool.Prestart(2)
				synctest.Wait()
				pool.Pause()
				accepted := 0
				for range 10 {
					if pool.Go(t.Context(), testkit.Nop) == nil {
						accepted++
					}
				}
				expect(t, "accepted", accepted, c.room)
				expect(t, "rejected as saturated", waitStats(t, pool).Rejections.Saturated, int64(10-c.room))
				pool.Resume()
				expect(t, "succeeded", waitStats(t, pool).Succeeded, int64(c.room))
			})
		})
	}
}

// A submitter that waits for room in a pool that is paused is admitted after Resume.
func TestPoolPauseBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: executor.Block})
		pool.Pause()
		done := make(chan error)
		go func() { done <- pool.Go(t.Context(), testkit.Nop) }()
		expect(t, "blocked", waitStats(t, pool).Blocked, 1)
		pool.Resume()
		expect(t, "error", <-done, nil)
	})
}

// What a task waits for begins though the pool is paused, in the pool and in a share, so that the task goes on. Nothing
// else does.
func TestPoolPauseLetsPassWhatATaskWaitsFor(t *testing.T) {
	for _, workers := range []int{1, 2} {
		type kind struct {
			ex, others executor.Executor
			paused     *executor.Pool
		}
		for name, of := range map[string]func(*executor.Pool) kind{
			"pool": func(p *executor.Pool) kind { return kind{p, p, p} },
			"share": func(p *executor.Pool) kind {
				s := must(p.Share(executor.ShareConfig{}))
				return kind{s, s, s}
			},
			"rated share": func(p *executor.Pool) kind {
				s := must(p.Share(executor.ShareConfig{Rate: executor.Rate{PerSecond: 1}}))
				return kind{s, s, s}
			},
			"share of a paused pool": func(p *executor.Pool) kind {
				s := must(p.Share(executor.ShareConfig{}))
				return kind{s, s, p}
			},
			"key": func(p *executor.Pool) kind {
				k := executor.NewKeyed[int](p, 3)
				return kind{k.For(1), k.For(2), k.Pool()}
			},
		} {
			t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pool := executor.Fixed(workers)
					defer pool.Close()
					k := of(pool)
					var other *executor.Future[int]
					waiting := executor.Submit(t.Context(), k.ex, func(ctx context.Context) (int, error) {
						time.Sleep(time.Minute) // so that it is paused now
						other = executor.Submit(context.Background(), k.others, value(2))
						a, err := executor.All(ctx, k.ex, value(1), value(1))
						if err != nil {
							return 0, err
						}
						f := executor.Submit(context.Background(), k.ex, value(3))
						v, err := f.Get(ctx)
						return v + a[0], err
					})
					time.Sleep(time.Second)
					k.paused.Pause()
					v, err := waiting.Get(t.Context())
					expect(t, "error", err, nil)
					expect(t, "value", v, 4)
					time.Sleep(time.Hour)
					synctest.Wait()
					expect(t, "state of the other", other.State(), executor.Pending)
					k.paused.Resume()
					expect(t, "error of the other", other.Wait(t.Context()), nil)
				})
			})
		}
	}
}

// The shares of a pool pause with it. One that was paused itself remains so.
func TestPoolPauseShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 4})
		share := newShare(t, pool, executor.ShareConfig{})
		inner := newShare(t, share, executor.ShareConfig{})
		alone := newShare(t, pool, executor.ShareConfig{})
		alone.Pause()
		pool.Pause()
		made := newShare(t, pool, executor.ShareConfig{})
		all := []*executor.Pool{pool, share, inner, alone, made}
		var futures []*executor.Future[int]
		for _, p := range all {
			futures = append(futures, executor.Submit(t.Context(), p, value(1)))
		}
		state := func() (s string) {
			synctest.Wait()
			for i, f := range futures {
				if all[i].Stats().Paused != (f.State() == executor.Pending) {
					t.Errorf("pool %d is paused: %t, and its task is %v", i, all[i].Stats().Paused, f.State())
				}
				s += f.State().String() + " "
			}
			return s
		}
		expect(t, "paused", state(), "pending pending pending pending pending ")
		share.Resume()
		expect(t, "a share resumed", state(), "pending pending pending pending pending ")
		pool.Resume()
		expect(t, "resumed", state(), "succeeded succeeded succeeded pending succeeded ")
		alone.Resume()
		expect(t, "all resumed", state(), "succeeded succeeded succeeded succeeded succeeded ")
	})
}

// A shutdown ends a pause: what waits runs. So it is if a share of a pool that is paused is shut down, whatever queue
// the pool has.
func TestPoolPauseShutdown(t *testing.T) {
	for name, q := range map[string]executor.Queue{
		"unbounded": executor.Unbounded(), "bounded": executor.Bounded(1), "handoff": executor.Handoff(),
		"prioritized": executor.Prioritized(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := must(executor.New(executor.Config{Workers: 1, Queue: q, Reject: executor.Block}))
				share := must(pool.Share(executor.ShareConfig{Queue: executor.Unbounded()}))
				inner := must(share.Share(executor.ShareConfig{}))
				pool.Pause()
				share.Pause()
				for range 2 { // one of them waits for room, maybe
					go pool.Go(t.Context(), testkit.Nop)
				}
				synctest.Wait()
				for range 3 {
					executor.Submit(t.Context(), share, value(1))
					executor.Submit(t.Context(), inner, value(1))
				}
				inner.Close()
				expect(t, "succeeded in the inner share", inner.Stats().Succeeded, 3)
				expect(t, "succeeded in the share", waitStats(t, share).Succeeded, 3) // a lender counts after its borrower
				share.Close()
				expect(t, "succeeded", share.Stats().Succeeded, 6)
				s := waitStats(t, pool)
				expect(t, "paused", s.Paused, true)
				waiting := int64(s.Queued)
				expect(t, "dropped", len(pool.Drain(t.Context())), 0)
				expect(t, "paused, once drained", pool.Stats().Paused, false)
				expect(t, "of those that waited, succeeded", pool.Stats().Succeeded-s.Succeeded, waiting)
				pool.Pause()
				expect(t, "paused, once terminated", pool.Stats().Paused, false)
			})
		})
	}
}

// What is due while a scheduled pool is paused begins when the pool is resumed; for a series CatchUp decides.
func TestScheduledPoolPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{Workers: 2})
		start := time.Now()
		var runs []time.Duration
		must(pool.AtFixedRate(t.Context(), time.Minute, time.Minute, func(context.Context) error {
			runs = append(runs, time.Since(start))
			return nil
		}, executor.CatchUp(0)))
		once := executor.SubmitAfter(t.Context(), pool, 90*time.Second, func(context.Context) (time.Duration, error) {
			return time.Since(start), nil
		})
		time.Sleep(61 * time.Second)
		pool.Pause()
		time.Sleep(149 * time.Second) // to 3:30
		pool.Resume()
		v, err := once.Get(t.Context())
		expect(t, "error", err, nil)
		expect(t, "run once at", v, 210*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "runs", fmt.Sprint(runs), "[1m0s 3m30s 4m0s]")
	})
}

// A pool that is paused and unused makes no work for anybody: its clock stands still until Resume.
func TestPoolPauseIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{Workers: 1})
		executor.SubmitAfter(t.Context(), pool, time.Minute, value(1))
		share := newShare(t, pool.Pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 1}})
		executor.Submit(t.Context(), share, value(1))
		pool.Pause()
		time.Sleep(math.MaxInt32 * time.Second)
		pool.Resume()
		expect(t, "succeeded", waitStats(t, pool.Pool).Succeeded > 0, true)
	})
}

// A task that waits for its next attempt does not begin in a pool that is paused, and is tried again after Resume.
func TestPoolPauseRetry(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *executor.Pool{
		"fixed":     func(*testing.T) *executor.Pool { return executor.Fixed(2) },
		"single":    func(*testing.T) *executor.Pool { return executor.Single() },
		"scheduled": func(*testing.T) *executor.Pool { return executor.Scheduled(2).Pool },
		"key": func(t *testing.T) *executor.Pool {
			return executor.NewKeyed[int](newPool(t, executor.Config{Workers: 2}), 1).Pool()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := make(t)
				begun, attempts := time.Now(), []time.Duration(nil)
				f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
					if attempts = append(attempts, time.Since(begun)); len(attempts) < 3 {
						return 0, errTask
					}
					return 1, nil
				}, executor.Retry(3, func(int) time.Duration { return time.Minute }))
				time.Sleep(30 * time.Second)
				pool.Pause()
				time.Sleep(time.Hour)
				synctest.Wait()
				expect(t, "attempts while paused", len(attempts), 1)
				expect(t, "queued", pool.Stats().Queued, 1)
				pool.Resume()
				expect(t, "error", f.Wait(t.Context()), nil)
				expect(t, "attempts at", fmt.Sprint(attempts), "[0s 1h0m30s 1h1m30s]")
				pool.Close()
			})
		})
	}
}
