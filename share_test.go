package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// newShare returns a share of pool that ends with the test.
func newShare(t testing.TB, pool *executor.Pool, c executor.ShareConfig) *executor.Pool {
	t.Helper()
	share, err := pool.Share(c)
	if err != nil {
		t.Fatal(err)
	}
	return testkit.Closing(t, share)
}

// A share runs no more than Limit tasks at once, and those that wait hold no worker.
func TestShareLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 4})
		share := newShare(t, pool, executor.ShareConfig{Name: "mail", Limit: 2})
		block := newBlocker(t)
		block.Fill(t, share, 10)
		s := waitStats(t, share)
		expect(t, "active in the share", s.Active, 2)
		expect(t, "queued in the share", s.Queued, 8)
		expect(t, "active in the pool", waitStats(t, pool).Active, 2)
		expect(t, "queued in the pool", checkStats(t, pool).Queued, 0)
		other := newBlocker(t)
		other.Fill(t, pool, 2)
		expect(t, "started beside the share", int(other.Started.Load()), 2)
		block.Release()
		expect(t, "succeeded", waitStats(t, share).Succeeded, 10)
		expect(t, "workers of the share", checkStats(t, share).Workers, 0)
	})
}

// Tasks of a share begin at its rate, burst first, and hold no worker until then.
func TestShareRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 10, Burst: 3}})
		start := time.Now()
		var began []time.Duration
		for range 6 {
			mustGo(t, share, func(context.Context) error { began = append(began, time.Since(start)); return nil })
		}
		ran := false
		mustGo(t, pool, func(context.Context) error { ran = true; return nil })
		synctest.Wait()
		expect(t, "the pool's own task ran", ran, true)
		expect(t, "queued in the pool", checkStats(t, pool).Queued, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		want := []time.Duration{0, 0, 0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
		if !slices.Equal(began, want) {
			t.Errorf("tasks began at %v, want %v", began, want)
		}
	})
}

// However tasks, their length, and the pool's load vary, no more than the burst and the rate
// allow begin in any interval, and a share with tasks is not behind its rate.
func TestShareRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 0))
			pool := newPool(t, executor.Config{Workers: 1 + r.IntN(4)})
			burst := 1 + r.IntN(4)
			share := newShare(t, pool, executor.ShareConfig{
				Limit: 1 + r.IntN(4), Rate: executor.Rate{PerSecond: 20, Burst: burst}})
			var mu sync.Mutex
			var began []time.Time
			for range 60 {
				length := time.Duration(r.IntN(100)) * time.Millisecond
				mustGo(t, share, func(context.Context) error {
					mu.Lock()
					began = append(began, time.Now())
					mu.Unlock()
					time.Sleep(length)
					return nil
				})
				if r.IntN(4) == 0 {
					mustGo(t, pool, func(context.Context) error { time.Sleep(5 * length); return nil })
				}
				time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			expect(t, "began", len(began), 60)
			for i := range began {
				for j := i; j < len(began); j++ {
					most := burst + int(began[j].Sub(began[i])/(50*time.Millisecond))
					if j-i+1 > most {
						t.Fatalf("seed %d: %d tasks began within %v", seed, j-i+1, began[j].Sub(began[i]))
					}
				}
			}
		}
	})
}

// A rate below one in a day, and one without tasks for long, are exact.
func TestShareRateSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 1.0 / 100_000, Burst: 1}})
		time.Sleep(10_000 * time.Hour)
		start := time.Now()
		var began []time.Duration
		for range 3 {
			mustGo(t, share, func(context.Context) error { began = append(began, time.Since(start)); return nil })
		}
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		if !slices.Equal(began, []time.Duration{0, 100_000 * time.Second, 200_000 * time.Second}) {
			t.Errorf("tasks began at %v", began)
		}
	})
}

// A task that waits in a share leaves it at once when it is canceled or its context ends. What
// the share has asked the pool for finds nothing, and does not keep the share from its end.
func TestShareCancelLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		newBlocker(t).Fill(t, pool, 1)
		share := newShare(t, pool, executor.ShareConfig{Limit: 2, Queue: executor.Bounded(1)})
		ctx, cancel := context.WithCancelCause(t.Context())
		first := executor.Submit(ctx, share, executor.Func(nop).Call, executor.Named("first"))
		second := executor.Submit(t.Context(), share, executor.Func(nop).Call)
		third := executor.Submit(ctx, share, executor.Func(nop).Call)
		expect(t, "queued", waitStats(t, share).Queued, 3)
		expect(t, "requests", waitStats(t, pool).Queued, 2)
		expectIs(t, "a task too many", share.Go(t.Context(), nop), executor.ErrSaturated)
		cancel(errTask)
		s := waitStats(t, share)
		expect(t, "queued after", s.Queued, 1)
		for _, f := range []*executor.Future[struct{}]{first, third} {
			expectIs(t, "outcome", f.Err(), errTask)
			expectIs(t, "outcome", f.Err(), executor.ErrCanceled)
		}
		expect(t, "Cancel", second.Cancel(), true)
		expect(t, "queued at last", waitStats(t, share).Queued, 0)
		share.Close() // although the pool's worker is busy
	})
}

// A task of a share keeps its name and its hooks, of the share or else of the pool.
func TestShareHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		hooks := func(where string) executor.Hooks {
			return executor.Hooks{
				BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
					mu.Lock()
					seen = append(seen, fmt.Sprintf("%s %s %s %d", where, info.Executor, info.Name, info.Worker))
					mu.Unlock()
					return ctx
				},
			}
		}
		pool := newPool(t, executor.Config{Name: "all", Workers: 1, Hooks: hooks("pool")})
		inherits := newShare(t, pool, executor.ShareConfig{Name: "mail"})
		own := newShare(t, pool, executor.ShareConfig{Name: "own", Hooks: hooks("own")})
		for _, ex := range []*executor.Pool{inherits, own, pool} {
			mustGo(t, ex, nop, executor.Named("x"))
			synctest.Wait()
		}
		if want := []string{"pool mail x 1", "own own x 1", "pool all x 1"}; !slices.Equal(seen, want) {
			t.Errorf("hooks saw %q, want %q", seen, want)
		}
	})
}

// A panic, a Goexit and an error of a task are the share's, and the pool's workers go on.
func TestShareAbruptTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		for range 3 {
			for _, fn := range []func(context.Context) error{
				func(context.Context) error { panic("oh") },
				func(context.Context) error { runtime.Goexit(); return nil },
				func(context.Context) error { return errTask },
			} {
				mustGo(t, share, fn)
				f := executor.Submit(t.Context(), share, executor.Func(fn).Call)
				synctest.Wait()
				expect(t, "state", f.State(), executor.Failed)
			}
		}
		expect(t, "failed in the share", waitStats(t, share).Failed, 18)
		expect(t, "panics in the share", checkStats(t, share).Panics, 6)
		s := waitStats(t, pool)
		expect(t, "failed in the pool", s.Failed, 0)
		expect(t, "requests that have ended well in the pool", s.Succeeded, s.Submitted)
		expect(t, "workers", s.Workers, 1)
	})
}

// Over a pool of any kind, with any policy, all tasks of a share run, also if they have to
// wait for room, and those of the pool are served too.
func TestShareOverPools(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"unbounded":    {Workers: 2},
		"elastic":      {Max: 3, GrowWhenBusy: true},
		"abort":        {Workers: 1, Queue: executor.Bounded(1)},
		"handoff":      {Workers: 1, Queue: executor.Handoff()},
		"block":        {Workers: 1, Queue: executor.Handoff(), Reject: executor.Block},
		"blockBounded": {Workers: 1, Max: 2, Queue: executor.Bounded(1), Reject: executor.Block},
		"oldest":       {Workers: 1, Queue: executor.Bounded(2), Reject: executor.DiscardOldest},
		"lowest":       {Workers: 1, Queue: executor.BoundedPrioritized(2), Reject: executor.DropLowest},
		"prioritized":  {Workers: 1, Queue: executor.Prioritized()},
		"caller":       {Workers: 1, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, c)
				shares := []*executor.Pool{
					newShare(t, pool, executor.ShareConfig{Limit: 1, Queue: executor.Unbounded()}),
					newShare(t, pool, executor.ShareConfig{Limit: 3, Queue: executor.Unbounded()}),
					newShare(t, pool, executor.ShareConfig{
						Rate: executor.Rate{PerSecond: 100, Burst: 2}, Queue: executor.Unbounded(),
					}),
				}
				work := func(context.Context) error { time.Sleep(time.Millisecond); return nil }
				for range 20 {
					for _, s := range shares {
						mustGo(t, s, work)
					}
					pool.Go(t.Context(), work, executor.Priority(-1)) // may be rejected
				}
				pool.Close()
				for i, s := range shares {
					expect(t, fmt.Sprint("succeeded in share ", i), s.Stats().Succeeded, 20)
				}
				if s := checkStats(t, pool); c.Reject == executor.Block && s.Rejected > 0 {
					t.Errorf("a pool with Block rejected tasks: %+v", s)
				}
			})
		})
	}
}

// A shutdown of a share ends the share alone: tasks that wait run, or are returned.
func TestShareShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		block := newBlocker(t)
		block.Fill(t, share, 3)
		share.Shutdown()
		expectIs(t, "after Shutdown", share.Go(t.Context(), nop), executor.ErrShutdown)
		block.Release()
		<-share.Terminated()
		expect(t, "succeeded", checkStats(t, share).Succeeded, 3)

		now := newShare(t, pool, executor.ShareConfig{Limit: 1})
		var cause error
		mustGo(t, now, func(ctx context.Context) error { <-ctx.Done(); cause = context.Cause(ctx); return nil })
		waiting := executor.Submit(t.Context(), now, executor.Func(nop).Call)
		synctest.Wait()
		expect(t, "dropped", len(now.ShutdownNow()), 1)
		<-now.Terminated()
		expectIs(t, "cause", cause, executor.ErrShutdown)
		expectIs(t, "what waited", waiting.Err(), executor.ErrShutdown)

		expect(t, "stage of the pool", pool.Stats().Stage, executor.StageRunning)
		mustGo(t, pool, nop)
		expect(t, "workers in the share", checkStats(t, now).Workers, 0)
	})
}

// Shutdown of a pool shuts its shares down, and their shares, and lets what waits run, also
// what waits for the rate.
func TestShareShutdownOfPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 1, Burst: 1}})
		inner := newShare(t, share, executor.ShareConfig{Limit: 1})
		for range 5 {
			mustGo(t, share, nop)
			mustGo(t, inner, nop)
		}
		start := time.Now()
		pool.Shutdown()
		for _, p := range []*executor.Pool{pool, share, inner} {
			expectIs(t, "after Shutdown", p.Go(t.Context(), nop), executor.ErrShutdown)
		}
		_, err := pool.Share(executor.ShareConfig{})
		expectIs(t, "Share after Shutdown", err, executor.ErrShutdown)
		<-pool.Terminated()
		expect(t, "stage of the share", share.Stats().Stage, executor.StageTerminated)
		expect(t, "succeeded in the share", checkStats(t, share).Succeeded, 10)
		expect(t, "succeeded in the inner", checkStats(t, inner).Succeeded, 5)
		expect(t, "terminated after", time.Since(start), 9*time.Second)
	})
}

// ShutdownNow of a pool returns what waits in its shares too.
func TestShareShutdownNowOfPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		limited := newShare(t, pool, executor.ShareConfig{Rate: executor.Rate{PerSecond: 0.001, Burst: 1}})
		mustGo(t, share, func(ctx context.Context) error { <-ctx.Done(); return nil })
		synctest.Wait()
		var all []any
		for range 3 {
			for _, p := range []*executor.Pool{pool, share, limited} {
				all = append(all, executor.Submit(t.Context(), p, executor.Func(nop).Call))
			}
		}
		dropped := pool.ShutdownNow()
		expect(t, "dropped", len(dropped), 9)
		for _, d := range dropped {
			if !slices.Contains(all, d.Task()) {
				t.Errorf("ShutdownNow returned %v", d.Task())
			}
		}
		<-pool.Terminated()
		<-share.Terminated()
		<-limited.Terminated()
		expect(t, "canceled in the share", checkStats(t, share).Canceled, 3)
	})
}

// Shutdown of a pool ends a share without tasks at once, and one with tasks takes what a task of the pool
// submits to it.
func TestShareShutdownOfPoolEndsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		idle := newShare(t, pool, executor.ShareConfig{Limit: 1})
		busy := newShare(t, pool, executor.ShareConfig{Limit: 1})
		mustGo(t, busy, func(context.Context) error { time.Sleep(time.Minute); return nil })
		forks := func(to executor.Executor) *executor.Future[int] {
			return executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
				time.Sleep(time.Second)
				return executor.Submit(ctx, to, value(1)).Get(ctx)
			})
		}
		toBusy := forks(busy)
		synctest.Wait()
		toIdle, toPool := forks(idle), forks(pool)
		pool.Shutdown()
		expect(t, "stage of the share without tasks", idle.Stats().Stage, executor.StageTerminated)
		pool.Close()
		expectIs(t, "submitted to that", toIdle.Err(), executor.ErrShutdown)
		expect(t, "submitted to the share with tasks", toBusy.Err(), nil)
		expect(t, "submitted to the pool", toPool.Err(), nil)
	})
}

// A panic of what ShutdownNow of a pool cancels keeps no share from its end.
func TestShareShutdownNowOfPoolPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		executor.Submit(t.Context(), pool, value(1)).OnDone(func() { panic("done") })
		waits := executor.Submit(t.Context(), share, value(1))
		synctest.Wait()
		func() {
			defer func() { expect(t, "panic", recover(), any("done")) }()
			pool.ShutdownNow()
		}()
		expectIs(t, "error of what waits in the share", waits.Err(), executor.ErrShutdown)
		block.Release()
		<-pool.Terminated()
		expect(t, "stage of the share", share.Stats().Stage, executor.StageTerminated)
	})
}

// A panic of what Shutdown of a pool cancels in one share keeps no other from its shutdown.
func TestShareShutdownOfPoolPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		var shares []*executor.Pool
		var again []*executor.Future[int]
		for range 3 {
			share := newShare(t, pool, executor.ShareConfig{Limit: 1})
			f := executor.Submit(t.Context(), share, func(context.Context) (int, error) { return 0, errTask },
				executor.Retry(2, seconds))
			f.OnDone(func() { panic("done") })
			shares, again = append(shares, share), append(again, f)
		}
		synctest.Wait()
		func() {
			defer func() { expect(t, "panic", recover(), any("done")) }()
			pool.Shutdown()
		}()
		for i, share := range shares {
			expectIs(t, "error of what waits for its next attempt", again[i].Err(), executor.ErrShutdown)
			expectIs(t, "Go after Shutdown", share.Go(t.Context(), nop), executor.ErrShutdown)
		}
		<-pool.Terminated()
	})
}

// The values of ShareConfig are checked, and setters that make no sense for a share.
func TestShareInvalid(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	for _, c := range []executor.ShareConfig{
		{Limit: -1},
		{Rate: executor.Rate{PerSecond: 0, Burst: 1}},
		{Rate: executor.Rate{PerSecond: -1, Burst: 1}},
		{Rate: executor.Rate{PerSecond: math.NaN(), Burst: 1}},
		{Rate: executor.Rate{PerSecond: math.Inf(1), Burst: 1}},
		{Rate: executor.Rate{PerSecond: 1, Burst: -1}},
		{Rate: executor.Rate{PerSecond: 1e-18, Burst: math.MaxInt}},
		{Queue: executor.Bounded(0)},
		{Queue: executor.BoundedPrioritized(0)},
		{Reject: executor.DropLowest},
		{Reject: executor.RejectFunc(nil)},
	} {
		share, err := pool.Share(c)
		expectIs(t, fmt.Sprintf("Share(%+v)", c), err, executor.ErrInvalid)
		expect(t, "share", share, nil)
	}
	share := newShare(t, pool, executor.ShareConfig{Queue: executor.BoundedPrioritized(1), Reject: executor.DropLowest})
	for name, err := range map[string]error{
		"SetWorkers":    setWorkers(share, 1),
		"SetKeepAlive":  setKeepAlive(share, time.Second),
		"Resize(0)":     share.Resize(0),
		"SetMax(0)":     setMax(share, 0),
		"SetReject nil": setReject(share, nil),
	} {
		expectIs(t, name, err, executor.ErrInvalid)
	}
}

// The limit of a share can be changed while tasks wait.
func TestShareResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 8})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		block := newBlocker(t)
		block.Fill(t, share, 10)
		expect(t, "active", waitStats(t, share).Active, 1)
		expect(t, "Resize", share.Resize(5), nil)
		expect(t, "active", waitStats(t, share).Active, 5)
		expect(t, "Resize", share.Resize(2), nil)
		for range 4 {
			block.ReleaseOne()
		}
		expect(t, "active", waitStats(t, share).Active, 2)
		expect(t, "Max", share.Settings().Max, 2)
	})
}

// Turns and tasks take turns: a share with a long queue does not keep others waiting.
func TestShareIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var order []string
		note := func(s string) func(context.Context) error {
			return func(context.Context) error { order = append(order, s); return nil }
		}
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		for range 4 {
			mustGo(t, share, note("share"))
		}
		for range 3 {
			mustGo(t, pool, note("pool"))
		}
		block.Release()
		synctest.Wait()
		want := []string{"share", "pool", "pool", "pool", "share", "share", "share"}
		if !slices.Equal(order, want) {
			t.Errorf("ran in the order %v, want %v", order, want)
		}
	})
}

// A task of a share takes no allocation, and one with a key two, for its place and its key.
func TestShareAllocations(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	share := newShare(t, pool, executor.ShareConfig{})
	keyed := newKeyed[int](t, pool, 1)
	ctx := context.Background()
	for name, c := range map[string]struct {
		submit func(fn func(context.Context) error)
		most   float64
	}{
		"Share":    {func(fn func(context.Context) error) { share.Go(ctx, fn) }, 0},
		"Keyed.Go": {func(fn func(context.Context) error) { keyed.Go(ctx, 1000, fn) }, 2},
	} {
		done := make(chan struct{})
		last := func(context.Context) error { done <- struct{}{}; return nil }
		if got := testing.AllocsPerRun(20, func() {
			for range 99 {
				c.submit(nop)
			}
			c.submit(last)
			<-done
		}) / 100; got > c.most+0.5 { // a turn is one, too
			t.Errorf("%s: %v allocations, want %v", name, got, c.most)
		}
	}
}

// A task of a share may wait for a task of the pool, and needs no other worker.
func TestShareForkJoin(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	share := newShare(t, pool, executor.ShareConfig{})
	outer := executor.Submit(t.Context(), share, func(ctx context.Context) (int, error) {
		return executor.Submit(ctx, pool, value(7)).Get(ctx)
	})
	n, err := outer.Get(t.Context())
	expect(t, "value", n, 7)
	expect(t, "error", err, nil)
}

// A group in a task of a share may use the pool, or the share, and needs no other worker.
func TestShareGroupInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1})
		for _, ex := range []*executor.Pool{pool, share} {
			f := executor.Submit(t.Context(), share, func(ctx context.Context) (int, error) {
				all, err := executor.All(ctx, ex, value(1), value(2), value(3))
				return len(all), err
			})
			n, err := f.Get(t.Context())
			expect(t, "results", n, 3)
			expect(t, "error", err, nil)
		}
	})
}

// While many goroutines submit to shares, cancel, resize and shut down, no task is lost or
// runs twice, and the counters add up.
func TestShareHistory(t *testing.T) {
	for i, c := range []executor.Config{
		{Workers: 3},
		{Max: 4, Queue: executor.Handoff(), KeepAlive: time.Microsecond, Reject: executor.Block},
		{Workers: 1, Max: 3, Queue: executor.Bounded(2), Reject: executor.DiscardOldest},
	} {
		for _, s := range []executor.ShareConfig{
			{Limit: 2},
			{Limit: 2, Queue: executor.Bounded(3), Reject: executor.Block},
			{Limit: 3, Queue: executor.Handoff(), Rate: executor.Rate{PerSecond: 100_000, Burst: 10}},
			{Queue: executor.BoundedPrioritized(4), Reject: executor.DropLowest},
		} {
			for _, now := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%d/%v", i, s.Limit, now), func(t *testing.T) {
					seed := rand.Uint64()
					t.Logf("seed %d", seed)
					shareHistory(t, c, s, now, seed)
				})
			}
		}
	}
}

func shareHistory(t *testing.T, c executor.Config, sc executor.ShareConfig, now bool, seed uint64) {
	const submitters, tasks = 6, 200
	pool := newPool(t, c)
	share := newShare(t, pool, sc)
	all := make([][]*record, submitters)
	var work, meddle sync.WaitGroup
	stop := make(chan struct{})
	for s := range submitters {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(s)))
			for i := range tasks {
				r := &record{id: s*tasks + i}
				all[s] = append(all[s], r)
				submitOne(t, share, r, rng)
				if rng.IntN(4) == 0 {
					pool.Go(context.Background(), nop)
				}
			}
		})
	}
	meddle.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 1000))
		for {
			select {
			case <-stop:
				return
			default:
			}
			checkStats(t, share)
			checkStats(t, pool)
			share.Resize(1 + rng.IntN(4))
			for r := range share.Waiting() {
				share.Remove(r)
				break
			}
			runtime.Gosched()
		}
	})
	if now {
		for range rand.IntN(3000) {
			runtime.Gosched()
		}
		pool.ShutdownNow()
	}
	work.Wait()
	close(stop)
	meddle.Wait()
	pool.Shutdown()
	if err := pool.AwaitTermination(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-share.Terminated()
	s := checkStats(t, share)
	expect(t, "submitted", s.Submitted <= submitters*tasks, true)
	for _, rs := range all {
		for _, r := range rs {
			if n := r.runs.Load(); n > 1 || r.rejected && n > 0 {
				t.Errorf("task %d, rejected %t, ran %d times", r.id, r.rejected, n)
			}
			if r.future != nil && !r.future.State().Done() {
				t.Errorf("the future of task %d is %v", r.id, r.future)
			}
		}
	}
}

// Shares that are shut down leave nothing behind in their pool.
func TestShareLeavesNothing(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	var n atomic.Int64
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range 3000 {
		if i == 1000 {
			before = inUse()
		}
		share, err := pool.Share(executor.ShareConfig{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		mustGo(t, share, func(context.Context) error { n.Add(1); return nil })
		share.Close()
	}
	expect(t, "ran", n.Load(), 3000)
	if after := inUse(); after > before+200<<10 {
		t.Errorf("%d bytes more after 2000 shares", after-before)
	}
}

// A share of a pool that runs nothing keeps no goroutine, and a submission that it
// rejects changes nothing.
func TestShareRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		share := newShare(t, pool, executor.ShareConfig{Name: "two", Limit: 2, Queue: executor.Handoff()})
		block := newBlocker(t)
		block.Fill(t, share, 2)
		err := share.Go(t.Context(), nop)
		expectIs(t, "a third", err, executor.ErrSaturated)
		var rejected *executor.RejectedError
		if !errors.As(err, &rejected) || rejected.Executor != "two" {
			t.Errorf("error %v", err)
		}
		block.Release()
		synctest.Wait()
		mustGo(t, share, nop)
		expect(t, "rejected", waitStats(t, share).Rejected, 1)
	})
}

// Submitters that wait for the rate, over a queue without room, are admitted at its pace.
func TestShareRateWithBlock(t *testing.T) {
	for _, q := range []executor.Queue{executor.Handoff(), executor.Bounded(1)} {
		for burst := 1; burst <= 3; burst++ {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 4})
				share := newShare(t, pool, executor.ShareConfig{
					Limit: 3, Rate: executor.Rate{PerSecond: 1, Burst: burst}, Queue: q, Reject: executor.Block})
				start := time.Now()
				var submitters sync.WaitGroup
				for range 10 {
					submitters.Go(func() {
						expect(t, "Go", share.Go(t.Context(), nop), nil)
					})
				}
				submitters.Wait()
				share.Close()
				expect(t, "succeeded", checkStats(t, share).Succeeded, 10)
				expect(t, "time taken", time.Since(start), seconds(10-burst))
			})
		}
	}
}

// A task of the pool may wait for room in a share: meanwhile the share has its worker.
func TestShareBlocksTaskOfPool(t *testing.T) {
	type future = *executor.Future[struct{}]
	for name, submit := range map[string]func(context.Context, *executor.Pool, int) error{
		"Submit": func(ctx context.Context, share *executor.Pool, n int) (err error) {
			var all []future
			for range n {
				all = append(all, share.Submit(ctx, nop))
			}
			for _, f := range all {
				err = errors.Join(err, f.Wait(ctx))
			}
			return err
		},
		"Group": func(ctx context.Context, share *executor.Pool, n int) error {
			g := executor.NewGroup(ctx, share)
			for range n {
				g.Go(nop)
			}
			return g.Wait()
		},
		"Map": func(ctx context.Context, share *executor.Pool, n int) (err error) {
			numbers := slices.Values(make([]int, n))
			for _, failure := range executor.Map(ctx, share, n, numbers, func(context.Context, int) (int, error) { return 0, nil }) {
				err = errors.Join(err, failure)
			}
			return err
		},
	} {
		for policy, reject := range map[string]executor.RejectPolicy{"Block": executor.Block, "BlockFor": executor.BlockFor(time.Minute)} {
			for _, q := range []executor.Queue{executor.Handoff(), executor.Bounded(1)} {
				synctest.Test(t, func(t *testing.T) {
					pool := newPool(t, executor.Config{Workers: 1})
					share := newShare(t, pool, executor.ShareConfig{Limit: 1, Queue: q, Reject: reject})
					f := pool.Submit(t.Context(), func(ctx context.Context) error { return submit(ctx, share, 5) })
					synctest.Wait()
					expect(t, name+", "+policy+": outcome", f.Err(), nil)
					expect(t, name+", "+policy+": succeeded", checkStats(t, share).Succeeded, 5)
				})
			}
		}
	}
}

// Each submitter that waits for room is admitted once, also while tasks of the pool lend their places.
func TestShareAdmitsBlockedSubmittersOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 6})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1, Queue: executor.Bounded(1), Reject: executor.Block})
		long := executor.Submit(t.Context(), share, testkit.After(time.Second, 1))
		synctest.Wait()
		for range 3 {
			mustGo(t, pool, func(ctx context.Context) error { return long.Wait(ctx) })
		}
		const submitters = 5
		var runs [submitters]atomic.Int32
		for i := range submitters {
			go share.Go(t.Context(), func(context.Context) error { runs[i].Add(1); return nil })
		}
		synctest.Wait()
		expect(t, "submitters that wait", share.Stats().Blocked, submitters-1)
		expect(t, "Resize", share.Resize(3), nil)
		synctest.Wait()
		for i := range runs {
			expect(t, "runs", runs[i].Load(), 1)
		}
		expect(t, "Blocked", share.Stats().Blocked, 0)
		share.Close()
		expect(t, "succeeded", checkStats(t, share).Succeeded, submitters+1)
	})
}

// A token that the next attempt of a task takes makes no room in the queue for another task.
func TestShareRoomIsNotForNextAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		share := newShare(t, pool, executor.ShareConfig{
			Limit: 1, Queue: executor.Bounded(1), Rate: executor.Rate{PerSecond: 1}, Reject: executor.Block,
		})
		attempts := 0
		first := executor.Submit(t.Context(), share, func(context.Context) (int, error) {
			if attempts++; attempts < 2 {
				return 0, errTask
			}
			return attempts, nil
		}, executor.Retry(2, func(int) time.Duration { return 500 * time.Millisecond }))
		synctest.Wait()
		waits := executor.Submit(t.Context(), share, value(1))
		var blocked sync.WaitGroup
		blocked.Go(func() { executor.Submit(t.Context(), share, value(2)) })
		time.Sleep(time.Second)
		synctest.Wait()
		expect(t, "attempts", attempts, 1)
		expect(t, "waits", waits.State(), executor.Succeeded)
		s := share.Stats()
		expect(t, "Blocked", s.Blocked, 1)
		expect(t, "Queued", s.Queued, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		expect(t, "first", first.State(), executor.Succeeded)
		expect(t, "Blocked", share.Stats().Blocked, 0)
		blocked.Wait()
	})
}

// The table at ShareConfig: what a share, a Keyed and a scheduled pool have that are given nothing.
func TestShareConfigDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called, ended int
		var log strings.Builder
		observer := &executor.Observer{Every: 1}
		policy := executor.BlockFor(time.Second)
		pool := newPool(t, executor.Config{
			Name: "lender", Workers: 2, Queue: executor.Bounded(4), Reject: policy, Observer: observer,
			Hooks: executor.Hooks{
				AfterTask:  func(context.Context, executor.TaskInfo, error) { called++ },
				Terminated: func() { ended++ },
			},
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		for name, c := range map[string]struct {
			pool              *executor.Pool
			title             string
			max, capacity     int
			reject            executor.RejectPolicy
			of                *executor.Observer
			hooks, logs, ends int
		}{
			"share":     {must(pool.Share(executor.ShareConfig{})), "lender", 2, 4, policy, observer, 1, 1, 0},
			"Keyed":     {executor.NewKeyed[int](pool, 1).Pool(), "lender", 2, 4, policy, observer, 1, 1, 0},
			"Scheduled": {executor.Scheduled(2, func(c *executor.ScheduledConfig) { c.Logger = slog.New(slog.DiscardHandler) }).Pool, "", -1, -1, executor.Abort, nil, 0, 0, 0},
		} {
			called, ended = 0, 0
			log.Reset()
			expect(t, name+": name", c.pool.Name(), c.title)
			f := c.pool.Figures()
			expect(t, name+": Max", f.Max, c.max)
			expect(t, name+": capacity", f.Capacity, c.capacity)
			s := c.pool.Settings()
			expect(t, name+": rate", s.Rate, executor.Rate{})
			if s.Reject != c.reject {
				t.Errorf("%s: policy %v, want %v", name, s.Reject, c.reject)
			}
			mustGo(t, c.pool, func(context.Context) error { return errTask })
			synctest.Wait()
			expect(t, name+": hooks", called, c.hooks)
			expect(t, name+": records", strings.Count(log.String(), "task failed"), c.logs)
			expect(t, name+": measured", c.pool.Figures().Every, map[bool]int{true: 1}[c.of != nil])
			c.pool.Close()
			expect(t, name+": Terminated", ended, c.ends)
		}
	})
}

// A share that is given no queue has the bound of its pool, whatever that is.
func TestShareHasBoundOfPool(t *testing.T) {
	for name, c := range map[string]struct {
		pool *executor.Pool
		want int // -1 for none
	}{
		"Fixed":              {executor.Fixed(2), -1},
		"Cached":             {executor.Cached(), -1},
		"PerTask":            {executor.PerTask(), -1},
		"Scheduled":          {executor.Scheduled(2).Pool, -1},
		"Bounded":            {must(executor.New(executor.Config{Workers: 2, Queue: executor.Bounded(7)})), 7},
		"Handoff":            {must(executor.New(executor.Config{Workers: 2, Queue: executor.Handoff()})), 0},
		"Prioritized":        {must(executor.New(executor.Config{Workers: 2, Queue: executor.Prioritized()})), -1},
		"BoundedPrioritized": {must(executor.New(executor.Config{Workers: 2, Queue: executor.BoundedPrioritized(3)})), 3},
	} {
		share := must(c.pool.Share(executor.ShareConfig{}))
		expect(t, name+": a share", share.Figures().Capacity, c.want)
		expect(t, name+": a share of a share", must(share.Share(executor.ShareConfig{})).Figures().Capacity, c.want)
		expect(t, name+": keys", executor.NewKeyed[int](c.pool, 1).Pool().Figures().Capacity, c.want)
		c.pool.Close()
	}
	lowest := must(executor.New(executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(3), Reject: executor.DropLowest}))
	defer lowest.Close()
	_, err := lowest.Share(executor.ShareConfig{})
	expect(t, "DropLowest with the queue of the pool", err, nil)
	_, err = lowest.Share(executor.ShareConfig{Queue: executor.Bounded(3), Reject: executor.DropLowest})
	expectIs(t, "DropLowest with another queue", err, executor.ErrInvalid)
	other := must(lowest.Share(executor.ShareConfig{Queue: executor.Bounded(3)}))
	expect(t, "its pool's DropLowest with another queue", other.Settings().Reject, executor.Abort)
	expect(t, "its pool's DropLowest by key", executor.NewKeyed[int](lowest, 1).Pool().Settings().Reject, executor.Abort)
}
