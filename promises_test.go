package executor_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A pool without work takes a task, whoever has seen the outcome of the one before, and however:
// a worker whose outcome is known is free.
func TestPoolHandoffTakesTaskAfterOutcome(t *testing.T) {
	ctx := context.Background()
	one := func(context.Context) (int, error) { return 1, nil }
	for name, again := range map[string]func(ex executor.Executor) error{
		"Get": func(ex executor.Executor) error {
			_, err := executor.Submit(ctx, ex, one).Get(ctx)
			return err
		},
		"Join": func(ex executor.Executor) error {
			f := executor.Submit(ctx, ex, one)
			f.Join(ctx)
			return f.Err()
		},
		"All": func(ex executor.Executor) error {
			_, err := executor.All(ctx, ex, one)
			return err
		},
		"Group": func(ex executor.Executor) error {
			g := executor.NewGroup(ctx, ex)
			g.Go(nop)
			return g.Wait()
		},
		"Map": func(ex executor.Executor) error {
			for _, err := range executor.Map(ctx, ex, 1, slices.Values([]int{1, 2, 3}),
				func(context.Context, int) (int, error) { return 0, nil }) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff()})
		wide := newPool(t, executor.Config{Core: 2})
		share := newShare(t, wide, executor.ShareConfig{Limit: 1, Queue: executor.Handoff()})
		for on, ex := range map[string]executor.Executor{"pool": pool, "share": share} {
			for n := range 2000 {
				if err := again(ex); err != nil {
					t.Errorf("%s after %s, try %d: %v", on, name, n, err)
					break
				}
			}
		}
	}
}

// Close finishes what is queued, with what that forks by its own context. What comes from
// outside is too late.
func TestPoolCloseFinishesForks(t *testing.T) {
	forks := map[string]func(ctx context.Context, p *executor.Pool) error{
		"Submit": func(ctx context.Context, p *executor.Pool) error {
			_, err := executor.Submit(ctx, p, value(1)).Get(ctx)
			return err
		},
		"Group": func(ctx context.Context, p *executor.Pool) error {
			g := executor.NewGroup(ctx, p)
			g.Go(nop)
			g.Go(nop)
			return g.Wait()
		},
		"All": func(ctx context.Context, p *executor.Pool) error {
			_, err := executor.All(ctx, p, value(1), value(2))
			return err
		},
		"Map": func(ctx context.Context, p *executor.Pool) error {
			for _, err := range executor.Map(ctx, p, 2, slices.Values([]int{1, 2, 3}),
				func(context.Context, int) (int, error) { return 0, nil }) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, fork := range forks {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1})
			var fs []*executor.Future[int]
			for range 3 {
				fs = append(fs, executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					time.Sleep(time.Second)
					return 0, fork(ctx, pool)
				}))
			}
			synctest.Wait()
			pool.Shutdown()
			expectIs(t, "from outside", pool.Go(t.Context(), nop), executor.ErrShutdown)
			pool.Close()
			for _, f := range fs {
				expect(t, name, f.Err(), nil)
			}
		})
	}
}

// A group in a task of a full pool is run by its waiter, whatever the policy.
func TestGroupInTaskOfFullPool(t *testing.T) {
	for name, policy := range map[string]executor.RejectPolicy{"Abort": executor.Abort, "Block": executor.Block} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Core: 1, Queue: executor.Bounded(2), Reject: policy})
			n := 0
			_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				g := executor.NewGroup(ctx, pool)
				for range 10 {
					g.Go(func(context.Context) error { n++; return nil })
				}
				return 0, g.Wait()
			}).Get(t.Context())
			expect(t, name+": error", err, nil)
			expect(t, name+": ran", n, 10)
			_, err = executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				sum := 0
				for v, err := range executor.Map(ctx, pool, 8, slices.Values([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}),
					func(_ context.Context, i int) (int, error) { return i, nil }) {
					if err != nil {
						return 0, err
					}
					if sum += v; sum > 20 {
						break // with calls that were not made
					}
				}
				return sum, nil
			}).Get(t.Context())
			expect(t, name+": Map", err, nil)
		})
	}
}

// A wait for a child with a limit of its own gets the child's value in a full pool, and ends at
// its limit if the child takes longer, which goes on.
func TestFutureGetByTaskWithLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		var child *executor.Future[int]
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if v, err := executor.Submit(ctx, pool, value(42)).Get(short); v != 42 || err != nil {
				t.Errorf("a quick child: %d, %v", v, err)
			}
			child = executor.Submit(ctx, pool, func(context.Context) (int, error) {
				time.Sleep(time.Minute)
				return 1, nil
			})
			start := time.Now()
			_, err := child.Get(short)
			expectIs(t, "a slow child", err, context.DeadlineExceeded)
			expect(t, "wait", time.Since(start), time.Second)
			return 0, nil
		})
		expect(t, "error", f.Join(t.Context()), nil)
		pool.Close() // waits for the child
		expect(t, "the child's state", child.State(), executor.Succeeded)
	})
}

// Functions of a group that wait for tasks by key on the same pool get them, though they hold
// all its workers.
func TestGroupWaitsForKeyedOfItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 2} {
			pool := newPool(t, executor.Config{Core: workers})
			keyed := newKeyed[int](t, pool, 1)
			g := executor.NewGroup(t.Context(), pool)
			var mu sync.Mutex
			sum := 0
			for i := range 20 {
				g.Go(func(ctx context.Context) error {
					v, err := executor.Submit(ctx, keyed.For(i%3), func(context.Context) (int, error) {
						time.Sleep(time.Millisecond)
						return i, nil
					}).Get(ctx)
					mu.Lock()
					sum += v
					mu.Unlock()
					return err
				})
			}
			expect(t, "error", g.Wait(), nil)
			expect(t, "sum", sum, 190)
		}
	})
}

// A task that waits for its next attempt keeps its place: in a pool of a single worker, and
// among those of its key. Elsewhere others go on.
func TestRetryKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		single := executor.Single()
		defer single.Close()
		keyed := newKeyed[string](t, pool, 1)
		for name, c := range map[string]struct {
			ex   executor.Executor
			want []string
		}{
			"Single": {single, []string{"first", "first", "second"}},
			"Keyed":  {keyed.For("k"), []string{"first", "first", "second"}},
			"Fixed":  {pool, []string{"first", "second", "first"}},
		} {
			var ran []string
			first := executor.Submit(t.Context(), c.ex, func(context.Context) (int, error) {
				if ran = append(ran, "first"); len(ran) < 2 {
					return 0, errTask
				}
				return 1, nil
			}, executor.Retry(5, func(int) time.Duration { return time.Minute }))
			second := executor.Submit(t.Context(), c.ex, func(context.Context) (int, error) {
				ran = append(ran, "second")
				return 2, nil
			})
			first.Join(t.Context())
			second.Join(t.Context())
			if !slices.Equal(ran, c.want) {
				t.Errorf("%s: ran %v, want %v", name, ran, c.want)
			}
		}
	})
}

// A pool knows a task that waits for its next attempt: it is never rejected, is found by Remove,
// returned by ShutdownNow and Drain, and ends at once at a shutdown.
func TestRetryBelongsToItsPool(t *testing.T) {
	wait := func(t *testing.T, c executor.Config) (*executor.Pool, *executor.Future[int]) {
		pool := newPool(t, c)
		f := executor.Submit(t.Context(), pool, func(context.Context) (int, error) { return 0, errTask },
			executor.Retry(3, func(int) time.Duration { return time.Hour }), executor.Named("x"))
		synctest.Wait()
		return pool, f
	}
	synctest.Test(t, func(t *testing.T) {
		pool, f := wait(t, executor.Config{Core: 1})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dropped := pool.ShutdownNow()
		if len(dropped) != 1 || dropped[0].Task() != any(f) || dropped[0].Name() != "x" {
			t.Errorf("ShutdownNow returned %v", dropped)
		}
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome", f.Err(), errTask)
		pool.Drain(ctx)

		start := time.Now()
		pool, f = wait(t, executor.Config{Core: 1})
		pool.Close()
		expect(t, "Close took", time.Since(start), 0)
		expectIs(t, "outcome", f.Err(), executor.ErrShutdown)
		expectIs(t, "outcome", f.Err(), errTask)

		pool, f = wait(t, executor.Config{Core: 1})
		expect(t, "Remove", pool.Remove(f), true)
		expectIs(t, "outcome", f.Err(), executor.ErrCanceled)

		pool, f = wait(t, executor.Config{Core: 1, Queue: executor.Handoff()})
		b := newBlocker(t)
		b.Fill(t, pool, 1)
		time.Sleep(90 * time.Minute) // the attempt is due, and the pool is full
		expect(t, "state", f.State(), executor.Pending)
		b.Release()
		time.Sleep(3 * time.Hour)
		if err := f.Err(); !errors.Is(err, errTask) || errors.Is(err, executor.ErrRejected) {
			t.Errorf("the last attempt ends with %v", err)
		}

		g := executor.NewGroup(t.Context(), newPool(t, executor.Config{Core: 1}))
		for i := range 2 {
			g.Go(func(context.Context) error { return errors.New(strconv.Itoa(i)) },
				executor.Retry(2, func(int) time.Duration { return time.Hour }))
		}
		expect(t, "a group fails", g.Wait() != nil, true)
	})
}
