package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// At most so many functions of a group with a limit run at once, and so many do as long as there are more. Those that wait
// take no room in the executor, whatever that is, and whoever waits for the group.
func TestGroupSetLimit(t *testing.T) {
	for name, make := range map[string]func(*testing.T) executor.Executor{
		"pool": func(t *testing.T) executor.Executor { return newPool(t, executor.Config{Workers: 8}) },
		"bounded": func(t *testing.T) executor.Executor {
			return newPool(t, executor.Config{Workers: 3, Queue: executor.Handoff()})
		},
		"share": func(t *testing.T) executor.Executor {
			return newShare(t, newPool(t, executor.Config{Workers: 8}), executor.ShareConfig{Queue: executor.Bounded(3)})
		},
		"scheduled": func(t *testing.T) executor.Executor { return newScheduled(t, executor.ScheduledConfig{Workers: 8}) },
		"key": func(t *testing.T) executor.Executor {
			return executor.NewKeyed[int](newPool(t, executor.Config{Workers: 8}), 8).For(1)
		},
		"goroutines": func(*testing.T) executor.Executor {
			return runs(func(ctx context.Context, r executor.Runnable) { go r.Run(ctx) })
		},
	} {
		for _, inTask := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a task %t", name, inTask), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ex := make(t)
					var running, most, ran atomic.Int32
					group := func(ctx context.Context) (struct{}, error) {
						g := executor.NewGroup(ctx, ex)
						g.SetLimit(2)
						for range 20 {
							g.Go(func(context.Context) error {
								most.Store(max(most.Load(), running.Add(1)))
								time.Sleep(time.Second)
								running.Add(-1)
								ran.Add(1)
								return nil
							})
						}
						return struct{}{}, g.Wait()
					}
					begun := time.Now()
					var err error
					if inTask {
						_, err = executor.Submit(t.Context(), ex, group).Get(t.Context())
					} else {
						_, err = group(t.Context())
					}
					expect(t, "error", err, nil)
					expect(t, "ran", ran.Load(), 20)
					expect(t, "most at once", most.Load(), 2)
					expect(t, "took", time.Since(begun), 10*time.Second)
				})
			})
		}
	}
}

// A task of a pool of one may wait for a group with a limit on that pool.
func TestGroupSetLimitInSingle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		_, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
			g := executor.NewGroup(ctx, pool)
			g.SetLimit(3)
			for range 10 {
				g.Go(nop)
			}
			return 0, g.Wait()
		}).Get(t.Context())
		expect(t, "error", err, nil)
	})
}

// Functions that wait for the limit end with the group: when one has failed they never run.
func TestGroupSetLimitFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 8})
		g := executor.NewGroup(t.Context(), pool)
		g.SetLimit(2)
		failure := errors.New("no disk")
		var ran atomic.Int32
		for range 100_000 { // they end one after the other, not in one another
			g.Go(func(context.Context) error {
				ran.Add(1)
				time.Sleep(time.Second)
				return failure
			})
		}
		expect(t, "error", g.Wait(), failure)
		expect(t, "ran", ran.Load(), 2)
		g.Wait()
	})
}

// Where an executor runs a function at once, those that wait for the limit run one after the other, and not in one another:
// the stack is as deep for the last as for the first.
func TestGroupSetLimitIsNotNested(t *testing.T) {
	g := executor.NewGroup(t.Context(), testkit.Inline{})
	g.SetLimit(1)
	var depths []int
	g.Go(func(context.Context) error {
		for range 100 {
			g.Go(func(context.Context) error {
				depths = append(depths, runtime.Callers(0, make([]uintptr, 10_000)))
				return nil
			})
		}
		return nil
	})
	expect(t, "error", g.Wait(), nil)
	expect(t, "ran", len(depths), 100)
	expect(t, "depth of the last", depths[99], depths[0])
}

// A pool that is shut down runs the functions of a group that wait for its limit, as those that wait in its queue.
func TestGroupSetLimitShutdown(t *testing.T) {
	for name, make := range map[string]func(*testing.T) (ex executor.Executor, end func()){
		"pool": func(*testing.T) (executor.Executor, func()) { p := executor.Fixed(1); return p, p.Close },
		"scheduled": func(*testing.T) (executor.Executor, func()) {
			p := executor.Scheduled(1)
			return p, p.Close
		},
		"share": func(t *testing.T) (executor.Executor, func()) {
			s := newShare(t, newPool(t, executor.Config{Workers: 1}), executor.ShareConfig{})
			return s, s.Close
		},
		"key": func(t *testing.T) (executor.Executor, func()) {
			k := executor.NewKeyed[int](newPool(t, executor.Config{Workers: 1}), 1)
			return k.For(1), k.Pool().Close
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ex, end := make(t)
				g := executor.NewGroup(t.Context(), ex)
				g.SetLimit(1)
				var ran atomic.Int32
				for range 5 {
					g.Go(func(context.Context) error {
						time.Sleep(time.Second)
						ran.Add(1)
						return nil
					})
				}
				end()
				expect(t, "error", g.Wait(), nil)
				expect(t, "ran", ran.Load(), 5)
			})
		})
	}
}

// Each function of a group ends once, whatever ends it, and the limit holds.
func TestGroupSetLimitStress(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 4})
			ctx, cancel := context.WithCancel(t.Context())
			g := executor.NewGroup(ctx, pool)
			g.SetLimit(3)
			var running atomic.Int32
			for i := range 50 {
				g.Go(func(context.Context) error {
					if running.Add(1) > 3 {
						t.Error("more than three run")
					}
					defer running.Add(-1)
					if i%7 == 0 {
						g.Go(nop)
					}
					return nil
				})
			}
			go cancel()
			if err := g.Wait(); err != nil && !errors.Is(err, executor.ErrCanceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A limit is at least 1, and is set before the first function.
func TestGroupSetLimitMisuse(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	g := executor.NewGroup(t.Context(), pool)
	panics := func(want string, f func()) {
		t.Helper()
		defer func() { expect(t, "panic", recover(), any("executor: Group.SetLimit"+want)) }()
		f()
	}
	panics("(0): must be at least 1", func() { g.SetLimit(0) })
	g.SetLimit(1)
	g.SetLimit(2)
	g.Go(nop)
	panics(" after Group.Go; set the limit before the first function", func() { g.SetLimit(1) })
	expect(t, "error", g.Wait(), nil)
}
