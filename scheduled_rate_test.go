package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Work at a fixed rate runs first after the initial delay, and then one period
// after the other, however long each run takes within its period.
func TestFixedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		ms := time.Millisecond
		p.AtFixedRate(t.Context(), 5*ms, 10*ms, d.Func("x", 9*ms, ms, 10*ms, 0))
		elapse(50 * ms)
		d.Check(t, "x@5ms", "x@15ms", "x@25ms", "x@35ms", "x@45ms")
	})
}

// Each run at a fixed rate is due one period after the one before was due:
// those that come late follow each other until they have caught up.
func TestFixedRateCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := time.Second
		var dues []time.Duration
		body := d.Func("x", 3500*time.Millisecond)
		p.AtFixedRate(t.Context(), 0, s, func(ctx context.Context) error {
			dues = append(dues, executor.Due(ctx).Sub(d.Begin))
			return body(ctx)
		})
		elapse(5*s + s/2)
		d.Check(t, "x@0s", "x@3.5s", "x@3.5s", "x@3.5s", "x@4s", "x@5s")
		for i, due := range dues {
			if due != time.Duration(i)*s {
				t.Errorf("run %d was due at %v, want %ds", i, due, i)
			}
		}
	})
}

// With SkipMissed the runs whose time has passed are left out, and the next is
// on the grid of the period.
func TestSkipMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := time.Second
		p.AtFixedRate(t.Context(), 0, s, d.Func("x", 3500*time.Millisecond, 0, s, 3*s), executor.SkipMissed())
		elapse(10 * s)
		// The run at 5s ends at 6s, which has not passed; that at 6s ends at 9s.
		d.Check(t, "x@0s", "x@4s", "x@5s", "x@6s", "x@9s", "x@10s")
	})
}

// With SkipMissed and a late start, as after a stall of the pool, the runs go on
// with the grid.
func TestSkipMissedAfterLateStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.SkipMissed())
		elapse(4500 * time.Millisecond)
		release()
		elapse(2 * time.Second)
		d.Check(t, "x@4.5s", "x@5s", "x@6s")
	})
}

// Runs of one task never overlap, though there are workers for it.
func TestFixedRateNeverOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 4)
		var running, runs atomic.Int32
		p.AtFixedRate(t.Context(), 0, time.Millisecond, func(context.Context) error {
			if running.Add(1) != 1 {
				t.Error("two runs overlap")
			}
			time.Sleep(10 * time.Millisecond)
			running.Add(-1)
			runs.Add(1)
			return nil
		})
		elapse(time.Second + time.Microsecond)
		if n := runs.Load(); n != 100 {
			t.Errorf("%d runs in a second of 10ms each, want 100", n)
		}
	})
}

// A late periodic task does not shut out others: what is due at the same time
// takes its turn.
func TestFixedRateLetsOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := time.Second
		p.AtFixedRate(t.Context(), 0, s, d.Func("slow", 2*s, 2*s, 2*s), executor.Times(3))
		executor.Schedule(t.Context(), p, 1500*time.Millisecond, d.Value("other"))
		elapse(10 * s)
		d.Check(t, "slow@0s", "slow@2s", "other@4s", "slow@4s")
	})
}

// Work with a fixed delay runs first after the initial delay, and then one delay
// after the end of the run before.
func TestFixedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		ms := time.Millisecond
		p.WithFixedDelay(t.Context(), 5*ms, 10*ms, d.Func("x", 3*ms, 20*ms))
		elapse(60 * ms)
		d.Check(t, "x@5ms", "x@18ms", "x@48ms", "x@58ms")
	})
}

// A fixed delay counts from the end of a run, not from its late start.
func TestFixedDelayAfterLateStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		p.WithFixedDelay(t.Context(), time.Second, time.Second, d.Func("x", time.Second/2))
		elapse(5 * time.Second)
		release()
		elapse(3 * time.Second)
		d.Check(t, "x@5s", "x@6.5s", "x@7.5s")
	})
}

// A negative initial delay of periodic work counts as none, and does not shift
// the grid into the past.
func TestPeriodicNegativeInitialDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		p.AtFixedRate(t.Context(), -5*time.Second, 2*time.Second, d.Func("rate"))
		synctest.Wait()
		p.WithFixedDelay(t.Context(), -5*time.Second, 3*time.Second, d.Func("delay"))
		elapse(3500 * time.Millisecond)
		d.Check(t, "rate@0s", "delay@0s", "rate@2s", "delay@3s")
	})
}

// A thousand ticks of one task in a pool of a hundred idle workers come each at
// its time.
func TestFixedRateAmongIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 100)
		if n := p.PrestartAll(); n != 100 {
			t.Fatalf("%d workers started, want 100", n)
		}
		start := time.Now()
		f, err := p.AtFixedRate(t.Context(), 0, 10*time.Millisecond, nop, executor.Times(1000))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Get(t.Context()); err != nil || time.Since(start) != 9990*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
