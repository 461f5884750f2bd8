package executor_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// The configuration of each preset is the documented one.
func TestPresetConfig(t *testing.T) {
	for _, c := range []struct {
		name      string
		pool      *executor.Pool
		core, max int
		keepAlive time.Duration
	}{
		{"Fixed", executor.Fixed(7), 7, 7, 0},
		{"Single", executor.Single(), 1, 1, 0},
		{"Cached", executor.Cached(), 0, math.MaxInt, time.Minute},
		{"PerTask", executor.PerTask(), 0, math.MaxInt, 0},
	} {
		testkit.Closing(t, c.pool)
		expect(t, c.name+": Core", c.pool.Core(), c.core)
		expect(t, c.name+": Max", c.pool.Max(), c.max)
		expect(t, c.name+": KeepAlive", c.pool.KeepAlive(), c.keepAlive)
		expect(t, c.name+": AllowCoreTimeout", c.pool.AllowCoreTimeout(), false)
		expect(t, c.name+": RejectPolicy", c.pool.RejectPolicy(), executor.Abort)
		expect(t, c.name+": Workers", c.pool.Stats().Workers, 0)
	}
}

// A pool made by Fixed runs as many tasks at once as it has workers, and keeps its workers.
func TestPresetFixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Fixed(3))
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		expect(t, "started", block.Started.Load(), 3)
		block.Release()
		time.Sleep(1000 * time.Hour)
		s := waitStats(t, pool)
		expect(t, "Succeeded", s.Succeeded, 10)
		expect(t, "Workers", s.Workers, 3)
	})
}

// Fixed panics if the size is not positive, and the message has the size.
func TestPresetFixedInvalid(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "Fixed(") {
					t.Errorf("Fixed(%d) panicked with %v", n, text)
				}
			}()
			executor.Fixed(n)
		}()
	}
}

// Scheduled panics if the size is negative, and the message has the size.
func TestPresetScheduledInvalid(t *testing.T) {
	defer func() {
		if message := fmt.Sprint(recover()); !strings.Contains(message, "executor: Scheduled(-1): must be at least 0") {
			t.Errorf("Scheduled(-1) panics with %q", message)
		}
	}()
	executor.Scheduled(-1)
}

// A pool made by Single runs one task after the other, in order, even if tasks panic or call
// Goexit.
func TestPresetSingle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Single())
		running, next := 0, 0
		for i := range 100 {
			executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
				running++
				expect(t, "running", running, 1)
				expect(t, "order", i, next)
				next++
				time.Sleep(time.Second)
				running--
				return 0, testkit.Exits[i%len(testkit.Exits)].Leave() // in a future, so that nothing is logged
			})
		}
		time.Sleep(100 * time.Second)
		s := waitStats(t, pool)
		expect(t, "Completed", s.Ended(), 100)
		expect(t, "Largest", s.Largest, 1)
	})
}

// The configuration of a pool made by Single cannot be changed.
func TestPresetSingleIsFrozen(t *testing.T) {
	pool := testkit.Closing(t, executor.Single())
	for name, err := range map[string]error{
		"SetCore": pool.SetCore(1), "SetMax": pool.SetMax(2), "SetKeepAlive": pool.SetKeepAlive(1),
		"SetAllowCoreTimeout": pool.SetAllowCoreTimeout(false), "SetReject": pool.SetReject(executor.Discard),
	} {
		expectIs(t, name, err, executor.ErrInvalid)
	}
	expect(t, "Max", pool.Max(), 1)
	expect(t, "RejectPolicy", pool.RejectPolicy(), executor.Abort)
}

// A pool made by Cached starts a worker only if none is idle, and idle ones leave after a minute.
func TestPresetCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Cached())
		block := newBlocker(t)
		block.Fill(t, pool, 50)
		expect(t, "started", block.Started.Load(), 50)
		block.Release()
		expect(t, "idle", waitStats(t, pool).Idle, 50)
		again := newBlocker(t)
		again.Fill(t, pool, 20)
		expect(t, "Largest", checkStats(t, pool).Largest, 50)
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 50)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 20)
		again.Release()
		time.Sleep(time.Minute)
		expect(t, "workers at last", waitStats(t, pool).Workers, 0)
	})
}

// In a pool made by PerTask each task has a worker of its own, which ends with it.
func TestPresetPerTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		block := newBlocker(t)
		var fs []*executor.Future[int]
		for i := range 100 {
			fs = append(fs,
				executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) { return i, block.Run(ctx) }))
		}
		s := waitStats(t, pool)
		expect(t, "Active", s.Active, 100)
		expect(t, "Queued", s.Queued, 0)
		fs[99].Cancel()
		fs[98].Abandon()
		block.Release()
		expect(t, "Workers", waitStats(t, pool).Workers, 0)
		for i, f := range fs[:98] {
			v, err := f.Result()
			expect(t, "value", v, i)
			expect(t, "error", err, nil)
		}
		mustGo(t, pool, nop)
		s = waitStats(t, pool)
		expect(t, "Largest", s.Largest, 100)
		expect(t, "Succeeded", s.Succeeded, 99)
		expect(t, "Canceled", s.Canceled, 2)
		pool.Close()
	})
}

// Shutdown of a pool made by PerTask waits for its tasks.
func TestPresetPerTaskShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		block := newBlocker(t)
		f := executor.Submit(t.Context(), pool, block.Value)
		synctest.Wait()
		pool.Shutdown()
		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		expectIs(t, "AwaitTermination", pool.AwaitTermination(bound), context.DeadlineExceeded)
		expect(t, "state", f.State(), executor.Running)
		expectIs(t, "Go", pool.Go(t.Context(), nop), executor.ErrShutdown)
		block.Release()
		pool.Close()
		pool.Close()
		expect(t, "outcome", f.Err(), nil)
		expectIs(t, "Go when terminated", pool.Go(t.Context(), nop), executor.ErrShutdown)
	})
}

// ShutdownNow of a pool made by PerTask cancels its tasks and returns none.
func TestPresetPerTaskShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		fs := executor.SubmitAll(t.Context(), pool, executor.Callable(testkit.AnHour),
			executor.Callable(testkit.AnHour))
		synctest.Wait()
		expect(t, "returned", len(pool.ShutdownNow()), 0)
		expect(t, "AwaitTermination", pool.AwaitTermination(t.Context()), nil)
		for _, f := range fs {
			expectIs(t, "Err", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), executor.Failed)
		}
	})
}

// In a pool made by PerTask InvokeAll and InvokeAny run all functions at once; neither failures nor
// losers outlast or hide what the documentation promises.
func TestPresetPerTaskInvoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		after := func(d time.Duration, v int, err error) func(context.Context) (int, error) {
			return func(ctx context.Context) (int, error) {
				select {
				case <-time.After(d):
					return v, err
				case <-ctx.Done():
					return 0, context.Cause(ctx)
				}
			}
		}
		start := time.Now()
		for i, f := range executor.InvokeAll(t.Context(), pool, after(3*time.Second, 0, nil),
			after(time.Second, 1, nil), after(time.Second, 2, errTask)) {
			v, err := f.Result()
			expect(t, "value", v, i)
			expect(t, "error", err, []error{nil, nil, errTask}[i])
		}
		expect(t, "InvokeAll took", time.Since(start), 3*time.Second)

		start = time.Now()
		v, err := executor.InvokeAny(t.Context(), pool, after(time.Hour, 1, nil), after(time.Second, 2, errTask),
			after(time.Minute, 3, nil))
		expect(t, "InvokeAny", v, 3)
		expect(t, "error", err, nil)
		expect(t, "InvokeAny took", time.Since(start), time.Minute)
		expect(t, "losers left", waitStats(t, pool).Active, 0)

		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = executor.InvokeAny(bound, pool, after(time.Second, 0, errTask), after(time.Hour, 0, nil))
		expectIs(t, "InvokeAny with a bound", err, context.DeadlineExceeded)
		expect(t, "left", waitStats(t, pool).Active, 0)
		fs := executor.InvokeAll(bound, pool, after(time.Second, 1, nil))
		expectIs(t, "InvokeAll with an ended context", fs[0].Err(), executor.ErrCanceled)

		pool.Close()
		fs = executor.InvokeAll(t.Context(), pool, after(time.Second, 1, nil))
		expectIs(t, "InvokeAll after Close", fs[0].Err(), executor.ErrShutdown)
		_, err = executor.InvokeAny(t.Context(), pool, after(time.Second, 1, nil))
		expectIs(t, "InvokeAny after Close", err, executor.ErrShutdown)
	})
}

// The functions that a preset takes change its Config, in order.
func TestPresetsWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		with := func(c *executor.Config) {
			c.Name = "x"
			c.Hooks.BeforeTask = func(ctx context.Context, info executor.TaskInfo) context.Context {
				names = append(names, info.Executor)
				return ctx
			}
		}
		rename := func(c *executor.Config) { c.Name += "y" }
		for _, pool := range []*executor.Pool{
			executor.Fixed(2, with, rename), executor.Cached(with, rename), executor.Single(with, rename),
			executor.PerTask(with, rename),
		} {
			mustGo(t, pool, nop)
			pool.Close()
		}
		scheduled := func(c *executor.ScheduledConfig) { c.Name = "xy" }
		expect(t, "Scheduled", executor.Scheduled(1, scheduled).Name(), "xy")
		expect(t, "SingleScheduled", executor.SingleScheduled(scheduled).Name(), "xy")
		if want := []string{"xy", "xy", "xy", "xy"}; !slices.Equal(names, want) {
			t.Errorf("hooks saw the names %q", names)
		}
	})
}

// Cached and PerTask are what their documentation says.
func TestPresetsAreConfigs(t *testing.T) {
	for name, c := range map[string]struct {
		pool      *executor.Pool
		keepAlive time.Duration
	}{
		"Cached":  {executor.Cached(), time.Minute},
		"PerTask": {executor.PerTask(), 0},
	} {
		expect(t, name+": Core", c.pool.Core(), 0)
		expect(t, name+": Max", c.pool.Max(), math.MaxInt)
		expect(t, name+": KeepAlive", c.pool.KeepAlive(), c.keepAlive)
		c.pool.Close()
	}
	limited := executor.Cached(func(c *executor.Config) {
		c.Max, c.Queue, c.Growth = 16, executor.Unbounded(), executor.GrowWhenBusy
	})
	expect(t, "Max", limited.Max(), 16)
	limited.Close()
}

// A change that makes no sense panics.
func TestPresetsWithInvalid(t *testing.T) {
	for name, make := range map[string]func(){
		"Fixed":   func() { executor.Fixed(1, func(c *executor.Config) { c.Core = -1 }) },
		"Cached":  func() { executor.Cached(func(c *executor.Config) { c.Queue = executor.Unbounded() }) },
		"Single":  func() { executor.Single(func(c *executor.Config) { c.Core = 2 }) },
		"PerTask": func() { executor.PerTask(func(c *executor.Config) { c.KeepAlive = -1 }) },
		"SingleScheduled": func() {
			executor.SingleScheduled(func(c *executor.ScheduledConfig) { c.Core = 2 })
		},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "executor: ") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			make()
		}()
	}
}
