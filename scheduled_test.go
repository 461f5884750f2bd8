package executor_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A task runs when its delay is over, not earlier and not later, and its future
// has its value.
func TestScheduleRunsAfterDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		start := time.Now()
		f := executor.Schedule(t.Context(), p, 50*time.Millisecond, func(context.Context) (time.Duration, error) {
			return time.Since(start), nil
		})
		if got, err := f.Get(t.Context()); got != 50*time.Millisecond || err != nil {
			t.Errorf("ran after %v, %v", got, err)
		}
	})
}

// A delay that is zero or negative is none.
func TestScheduleWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		for _, delay := range []time.Duration{0, -1, -time.Hour, math.MinInt64} {
			executor.Schedule(t.Context(), p, delay, d.Value("x"))
		}
		d.Check(t, "x@0s", "x@0s", "x@0s", "x@0s")
	})
}

// The error and the panic of a one-shot are in its future, and the worker lives
// on.
func TestScheduleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		sour := errors.New("sour")
		f := executor.Schedule(t.Context(), p, time.Second, func(context.Context) (int, error) { return 0, sour })
		g := executor.Schedule(t.Context(), p, time.Second, func(context.Context) (int, error) { panic("bad") })
		if _, err := f.Get(t.Context()); err != sour {
			t.Errorf("outcome %v, want %v", err, sour)
		}
		var perr *executor.PanicError
		if _, err := g.Get(t.Context()); !errors.As(err, &perr) || perr.Value != "bad" {
			t.Errorf("outcome %v, want a PanicError of bad", err)
		}
		if f.LastError() != sour || f.Runs() != 1 || g.Runs() != 1 {
			t.Errorf("LastError %v, runs %d and %d", f.LastError(), f.Runs(), g.Runs())
		}
		synctest.Wait() // a task is counted after it is done
		if s := p.Stats(); s.Largest != 1 || s.Failed != 2 {
			t.Errorf("%d workers ever, %d failures, want 1 and 2", s.Largest, s.Failed)
		}
	})
}

// Execute, Go and Submit run at once on a scheduled pool.
func TestScheduledPoolIsAnExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		if err := p.Execute(t.Context(), executor.Func(d.Func("execute"))); err != nil {
			t.Error(err)
		}
		if err := p.Go(t.Context(), d.Func("go")); err != nil {
			t.Error(err)
		}
		f := executor.Submit(t.Context(), p, func(context.Context) (int, error) { d.Note("submit"); return 42, nil })
		if v, err := f.Get(t.Context()); v != 42 || err != nil {
			t.Errorf("Submit gives %d, %v", v, err)
		}
		d.Check(t, "execute@0s", "go@0s", "submit@0s")
	})
}

// A task at a time of day runs at that time; one whose time has passed runs at
// once.
func TestAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		executor.At(t.Context(), p, time.Now().Add(26*time.Hour), d.Value("tomorrow"))
		executor.At(t.Context(), p, time.Now().UTC().Round(0).Add(time.Minute), d.Value("soon"))
		synctest.Wait()
		executor.At(t.Context(), p, time.Now().Add(-time.Hour), d.Value("past"))
		synctest.Wait()
		executor.At(t.Context(), p, time.Time{}, d.Value("zero"))
		synctest.Wait()
		never := executor.At(t.Context(), p, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), d.Value("never"))
		elapse(100 * 24 * time.Hour)
		d.Check(t, "past@0s", "zero@0s", "soon@1m0s", "tomorrow@26h0m0s")
		testkit.StateIs(t, "the task of the year 9999", never, executor.Pending)
	})
}

// A nil task is refused by every way in, before anything has happened.
func TestScheduleNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ctx := scheduled(t, 1), t.Context()
		var none func(context.Context) (int, error)
		_, rate := p.AtFixedRate(ctx, 0, time.Second, nil)
		_, delay := p.WithFixedDelay(ctx, 0, time.Second, nil)
		_, on := p.On(ctx, testkit.Hourly, nil)
		for what, err := range map[string]error{
			"Execute":        p.Execute(ctx, nil),
			"Go":             p.Go(ctx, nil),
			"Submit":         executor.Submit(ctx, p, none).Err(),
			"Schedule":       executor.Schedule(ctx, p, time.Second, none).Err(),
			"At":             executor.At(ctx, p, time.Now(), none).Err(),
			"AtFixedRate":    rate,
			"WithFixedDelay": delay,
			"On":             on,
		} {
			if !errors.Is(err, executor.ErrNilTask) {
				t.Errorf("%s: %v, want ErrNilTask", what, err)
			}
		}
		if s := p.Stats(); s.Submitted != 0 || s.Workers != 0 {
			t.Errorf("something has happened: %+v", s)
		}
	})
}

// A nil context panics in every way in.
func TestScheduleNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		var ctx context.Context
		for what, f := range map[string]func(){
			"Go":             func() { p.Go(ctx, nop) },
			"Schedule":       func() { executor.Schedule(ctx, p, 0, nopValue) },
			"At":             func() { executor.At(ctx, p, time.Now(), nopValue) },
			"AtFixedRate":    func() { p.AtFixedRate(ctx, 0, 1, nop) },
			"WithFixedDelay": func() { p.WithFixedDelay(ctx, 0, 1, nop) },
			"On":             func() { p.On(ctx, testkit.Hourly, nop) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", what)
					}
				}()
				f()
			}()
		}
	})
}

// A period must be positive, whatever the initial delay.
func TestPeriodMustBePositive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		for _, period := range []time.Duration{0, -1, math.MinInt64} {
			for _, initial := range []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				f, err := p.AtFixedRate(t.Context(), initial, period, nop)
				g, err2 := p.WithFixedDelay(t.Context(), initial, period, nop)
				if f != nil || g != nil || !errors.Is(err, executor.ErrInvalid) || !errors.Is(err2, executor.ErrInvalid) {
					t.Errorf("period %d: %v and %v, want ErrInvalid", period, err, err2)
				}
			}
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// Options out of place or out of range fail the submission, and nothing runs.
func TestScheduledOptionsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ctx := scheduled(t, 1), t.Context()
		for what, opt := range map[string]executor.Option{
			"Times(0)":   executor.Times(0),
			"Until(0)":   executor.Until(time.Time{}),
			"Jitter(0)":  executor.Jitter(0),
			"Jitter(-1)": executor.Jitter(-1),
			"Timeout(0)": executor.Timeout(0),
			"nil":        nil,
		} {
			if _, err := p.AtFixedRate(ctx, 0, 1, nop, opt); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("AtFixedRate with %s: %v, want ErrInvalid", what, err)
			}
		}
		for what, opt := range map[string]executor.Option{
			"Times":      executor.Times(1),
			"Until":      executor.Until(time.Now().Add(time.Hour)),
			"SkipMissed": executor.SkipMissed(),
		} {
			if err := executor.Schedule(ctx, p, 0, nopValue, opt).Err(); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("Schedule with %s: %v, want ErrInvalid", what, err)
			}
		}
		if err := p.Go(ctx, nop, executor.Jitter(1)); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("Go with Jitter: %v, want ErrInvalid", err)
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// A configuration out of its range is refused with an error that says so.
func TestScheduledConfigIsChecked(t *testing.T) {
	for what, c := range map[string]executor.ScheduledConfig{
		"Core":             {Core: -1},
		"KeepAlive":        {KeepAlive: -1},
		"AllowCoreTimeout": {Core: 1, AllowCoreTimeout: true},
		"Delayed":          {Delayed: executor.DropAtShutdown + 1},
		"Periodic":         {Periodic: executor.DropAtShutdown + 1},
	} {
		if _, err := executor.NewScheduled(c); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", what, err)
		}
	}
}

// A pool gives back what it was configured with, or the documented default.
func TestScheduledConfigReadsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Core: 3, KeepAlive: time.Second})
		if p.Name() != "ticks" || p.Core() != 3 || p.KeepAlive() != time.Second || p.RejectPolicy() != executor.Abort {
			t.Errorf("%q, %d, %v, %v", p.Name(), p.Core(), p.KeepAlive(), p.RejectPolicy())
		}
		if p.Delayed() != executor.KeepAfterShutdown || p.Periodic() != executor.DropAtShutdown || p.RetainCanceled() {
			t.Errorf("policies %v, %v, %t", p.Delayed(), p.Periodic(), p.RetainCanceled())
		}
		p.SetRetainCanceled(true)
		if p.SetDelayed(executor.DropAtShutdown) != nil || p.SetPeriodic(executor.KeepAfterShutdown) != nil {
			t.Error("the policies cannot be changed")
		}
		if p.Delayed() != executor.DropAtShutdown || p.Periodic() != executor.KeepAfterShutdown || !p.RetainCanceled() {
			t.Errorf("policies %v, %v, %t", p.Delayed(), p.Periodic(), p.RetainCanceled())
		}
		if !errors.Is(p.SetDelayed(executor.DropAtShutdown+1), executor.ErrInvalid) {
			t.Error("a policy that does not exist is taken")
		}
	})
}

// A scheduled pool has no maximum to set: its queue never refuses a task.
func TestScheduledSetMaxIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 2)
		if err := p.SetMax(4); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("SetMax: %v, want ErrInvalid", err)
		}
		for range 10 {
			executor.Schedule(t.Context(), p, time.Second, nopValue)
		}
		synctest.Wait()
		if s := p.Stats(); s.Workers != 2 || s.Queued != 10 {
			t.Errorf("%d workers and %d tasks queued, want 2 and 10", s.Workers, s.Queued)
		}
	})
}
