package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/internal/testkit"
)

// AtFixedRate and WithFixedDelay.

// AtFixedRate runs a task first after the initial delay, and then once a period, however long each
// run takes within its period.
func TestScheduledPoolAtFixedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		ms := time.Millisecond
		p.AtFixedRate(t.Context(), 5*ms, 10*ms, d.Func("x", 9*ms, ms, 10*ms, 0))
		elapse(50 * ms)
		d.Check(t, "x@5ms", "x@15ms", "x@25ms", "x@35ms", "x@45ms")
	})
}

// Each run is due one period after the one before was due: late runs follow each other until they
// have caught up.
func TestScheduledPoolAtFixedRateCatchesUp(t *testing.T) {
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

// Runs of one task never overlap, even if there are idle workers.
func TestScheduledPoolAtFixedRateNeverOverlaps(t *testing.T) {
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

// A late periodic task does not delay others: tasks that are due at the same time take turns.
func TestScheduledPoolAtFixedRateLetsOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := time.Second
		p.AtFixedRate(t.Context(), 0, s, d.Func("slow", 2*s, 2*s, 2*s), executor.Times(3))
		executor.SubmitAfter(t.Context(), p, 1500*time.Millisecond, d.Value("other"))
		elapse(10 * s)
		d.Check(t, "slow@0s", "slow@2s", "other@4s", "slow@4s")
	})
}

// A thousand ticks of one task in a pool with a hundred idle workers come each at its time.
func TestScheduledPoolAtFixedRateManyIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 100)
		if n := p.Prestart(math.MaxInt); n != 100 {
			t.Fatalf("%d workers started, want 100", n)
		}
		start := time.Now()
		f, err := p.AtFixedRate(t.Context(), 0, 10*time.Millisecond, nop, executor.Times(1000))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Wait(t.Context()); err != nil || time.Since(start) != 9990*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// With CatchUp(0) runs whose time has passed are left out, and the next is on the grid of the
// period.
func TestScheduledPoolAtFixedRateCatchUp0(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := time.Second
		p.AtFixedRate(t.Context(), 0, s, d.Func("x", 3500*time.Millisecond, 0, s, 3*s), executor.CatchUp(0))
		elapse(10 * s)
		// The run at 5s ends at 6s, which has not passed; that at 6s ends at 9s.
		d.Check(t, "x@0s", "x@4s", "x@5s", "x@6s", "x@9s", "x@10s")
	})
}

// With CatchUp(0) and a late start, as after a stall of the pool, the runs stay on the grid.
func TestScheduledPoolAtFixedRateCatchUp0AfterLateStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.CatchUp(0))
		elapse(4500 * time.Millisecond)
		release()
		elapse(2 * time.Second)
		d.Check(t, "x@4.5s", "x@5s", "x@6s")
	})
}

// WithFixedDelay runs a task first after the initial delay, and then one delay after the end of the
// run before.
func TestScheduledPoolWithFixedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		ms := time.Millisecond
		p.WithFixedDelay(t.Context(), 5*ms, 10*ms, d.Func("x", 3*ms, 20*ms))
		elapse(60 * ms)
		d.Check(t, "x@5ms", "x@18ms", "x@48ms", "x@58ms")
	})
}

// A fixed delay counts from the end of a run and not from when it was due.
func TestScheduledPoolWithFixedDelayAfterLateStart(t *testing.T) {
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

// A negative initial delay of periodic work counts as none, and does not move the grid into the
// past.
func TestScheduledPoolAtFixedRateNegativeInitialDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		p.AtFixedRate(t.Context(), -5*time.Second, 2*time.Second, d.Func("rate"))
		synctest.Wait()
		p.WithFixedDelay(t.Context(), -5*time.Second, 3*time.Second, d.Func("delay"))
		elapse(3500 * time.Millisecond)
		d.Check(t, "rate@0s", "delay@0s", "rate@2s", "delay@3s")
	})
}

// On.

// On runs a task at each time of its trigger, beginning with the first after now.
func TestScheduledPoolOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary() // a bubble begins at midnight, UTC
		elapse(30 * time.Minute)
		f, err := p.On(t.Context(), testkit.Hourly, d.Func("x"))
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Until(f.Next()); d != 30*time.Minute {
			t.Errorf("the first run is due in %v, want 30m", d)
		}
		elapse(3 * time.Hour)
		d.Check(t, "x@1h0m0s", "x@2h0m0s", "x@3h0m0s")
	})
}

// A cron schedule is a Trigger, and Next has its location.
func TestScheduledPoolOnCron(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s, err := cron.Parse("30 2 * * *")
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.On(t.Context(), s, d.Func("nightly"), executor.Times(2))
		if err != nil {
			t.Fatal(err)
		}
		want := s.Next(time.Now())
		if next := f.Next(); !next.Equal(want) || next.Location() != want.Location() {
			t.Errorf("Next is %v, want %v", next, want)
		}
		first := want.Sub(d.Begin)
		elapse(72 * time.Hour)
		d.Check(t, "nightly@"+first.String(), "nightly@"+(first+24*time.Hour).String())
		testkit.StateIs(t, "the schedule", f, executor.Succeeded)
	})
}

// Times of a trigger that pass during a run are left out; runs never overlap.
func TestScheduledPoolOnSkipsMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		p.On(t.Context(), testkit.Hourly, d.Func("x", 150*time.Minute))
		elapse(5*time.Hour + time.Minute)
		d.Check(t, "x@1h0m0s", "x@4h0m0s", "x@5h0m0s")
	})
}

// A schedule whose trigger has no further time has succeeded.
func TestScheduledPoolOnTriggerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.On(t.Context(), testkit.TriggerFunc(func(from time.Time) time.Time {
			if next := testkit.Hourly(from); next.Sub(d.Begin) < 3*time.Hour {
				return next
			}
			return time.Time{}
		}), d.Func("x"))
		if err := f.Wait(t.Context()); err != nil {
			t.Errorf("outcome %v, want success", err)
		}
		d.Check(t, "x@1h0m0s", "x@2h0m0s")
	})
}

// A nil trigger, and one without any time, are errors, and nothing is submitted.
func TestScheduledPoolOnTriggerWithoutTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		never := testkit.TriggerFunc(func(time.Time) time.Time { return time.Time{} })
		for _, trigger := range []executor.Trigger{nil, never} {
			if _, err := p.On(t.Context(), trigger, nop); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%v, want ErrInvalid", err)
			}
		}
		if s := p.Stats(); s.Submitted != 0 {
			t.Errorf("%d tasks were submitted", s.Submitted)
		}
	})
}

// A trigger that returns a time which is not later ends the schedule with an error, instead of
// running the task without end.
func TestScheduledPoolOnTriggerGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, then := range []testkit.TriggerFunc{
			func(t time.Time) time.Time { return t },
			func(t time.Time) time.Time { return t.Add(-time.Nanosecond) },
			func(t time.Time) time.Time { return time.Unix(1, 0) },
		} {
			p, d := scheduled(t, 1), newDiary()
			f, _ := p.On(t.Context(), rogue(then), d.Func("x"))
			if err := f.Wait(t.Context()); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("outcome %v, want ErrInvalid", err)
			}
			if n := len(d.Names()); n != 1 {
				t.Errorf("ran %d times, want once", n)
			}
		}
	})
}

// rogue is a trigger that is right once and then does as then says.
func rogue(then func(time.Time) time.Time) executor.Trigger {
	called := false
	return testkit.TriggerFunc(func(t time.Time) time.Time {
		if called {
			return then(t)
		}
		called = true
		return testkit.Hourly(t)
	})
}

// A trigger that panics fails the schedule with that panic, which is reported like one of a task.
func TestScheduledPoolOnTriggerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []*executor.PanicError
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
				reports = append(reports, err)
			},
		}})
		f, _ := p.On(t.Context(), rogue(func(time.Time) time.Time { panic("no calendar") }), nop)
		err := f.Wait(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "no calendar" {
			t.Errorf("outcome %v, want a PanicError", err)
		}
		synctest.Wait()
		if len(reports) != 1 || reports[0].Value != "no calendar" {
			t.Errorf("OnPanic got %v, want the panic once", reports)
		}
		if s := p.Stats(); s.Panics != 1 || s.Failed != 1 {
			t.Errorf("%d panics and %d failures are counted, want 1 and 1", s.Panics, s.Failed)
		}
	})
}

// A trigger may use the pool: it is called without a lock.
func TestScheduledPoolOnTriggerMayUsePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var once sync.Once
		p.On(t.Context(), testkit.TriggerFunc(func(from time.Time) time.Time {
			p.Stats()
			once.Do(func() { p.Go(t.Context(), d.Func("go")) })
			return testkit.Hourly(from)
		}), d.Func("x"), executor.Times(2))
		elapse(3 * time.Hour)
		d.Check(t, "go@0s", "x@1h0m0s", "x@2h0m0s")
	})
}

// Options of periodic work.

// With Times a schedule has succeeded after that many runs.
func TestScheduledTaskTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(3))
		err := f.Wait(t.Context())
		expect(t, "outcome", err, nil)
		expect(t, "runs", f.Runs(), 3)
		elapse(time.Minute)
		d.Check(t, "x@0s", "x@1s", "x@2s")
		s := waitStats(t, p)
		expect(t, "tasks that succeeded", s.Succeeded, 1)
		expect(t, "task functions that ran", s.Runs, 3)
	})
}

// With Until a schedule has succeeded when the next run would be later; a run at that very time
// takes place.
func TestScheduledTaskUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		until := executor.Until(time.Now().Add(2 * time.Hour))
		rate, _ := p.AtFixedRate(t.Context(), 0, time.Hour, d.Func("x"), until)
		delay, _ := p.WithFixedDelay(t.Context(), time.Minute, time.Hour, d.Func("y", time.Minute), until)
		cron, _ := p.On(t.Context(), testkit.Hourly, d.Func("z"), executor.Until(time.Now().Round(0).Add(90*time.Minute)))
		elapse(time.Minute + time.Hour + time.Minute + time.Hour)
		expect(t, "runs at a fixed rate", rate.Runs(), 3)
		expect(t, "runs with a fixed delay", delay.Runs(), 2)
		expect(t, "runs by a trigger", cron.Runs(), 1)
		for _, f := range []*executor.Series{rate, delay, cron} {
			expect(t, "state", f.State(), executor.Succeeded)
		}
	})
}

// Until before the first run is an error, and nothing is submitted.
func TestScheduledTaskUntilBeforeFirstRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		soon := executor.Until(time.Now().Add(time.Minute))
		_, err := p.AtFixedRate(t.Context(), time.Hour, time.Hour, nop, soon)
		expectIs(t, "AtFixedRate", err, executor.ErrInvalid)
		_, err = p.On(t.Context(), testkit.Hourly, nop, soon)
		expectIs(t, "On", err, executor.ErrInvalid)
		expect(t, "submitted", p.Stats().Submitted, 0)
	})
}

// Jitter delays each run by less than its limit, differently each time, and does not move the grid
// of a fixed rate.
func TestScheduledTaskJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		begin := time.Now()
		run, seen := 0, make(map[time.Duration]bool)
		f, _ := p.AtFixedRate(t.Context(), time.Second, time.Second, func(ctx context.Context) error {
			run++
			late := time.Since(begin) - time.Duration(run)*time.Second
			if late < 0 || late >= 500*time.Millisecond {
				t.Errorf("run %d is %v off the grid", run, late)
			}
			expect(t, "lateness", time.Since(executor.Due(ctx)), 0)
			seen[late] = true
			return nil
		}, executor.Jitter(500*time.Millisecond), executor.Times(100))
		f.Wait(t.Context())
		synctest.Wait()
		if len(seen) < 50 {
			t.Errorf("only %d different delays in 100 runs", len(seen))
		}
	})
}

// Jitter applies to the one-shots of Schedule and At too.
func TestScheduledTaskJitterOfOneShot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, seen := scheduled(t, 1), make(map[time.Duration]bool)
		for range 50 {
			f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue, executor.Jitter(time.Minute))
			g := executor.SubmitAt(t.Context(), p, time.Now().Add(time.Hour), nopValue, executor.Jitter(time.Minute))
			for _, d := range []time.Duration{time.Until(f.Next()), time.Until(g.Next())} {
				if d < time.Hour || d >= time.Hour+time.Minute {
					t.Errorf("due in %v", d)
				}
				seen[d] = true
			}
		}
		if len(seen) < 50 {
			t.Errorf("only %d different delays of 100 tasks", len(seen))
		}
	})
}

// How a schedule continues or ends.

// A task that returns Stop, wrapped or not, ends its schedule, which has succeeded.
func TestScheduledTaskStop(t *testing.T) {
	for _, done := range []error{executor.ErrStop, fmt.Errorf("enough: %w", executor.ErrStop)} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			run := 0
			f, _ := p.WithFixedDelay(t.Context(), 0, time.Second, func(context.Context) error {
				if run++; run == 3 {
					return done
				}
				return nil
			})
			err := f.Wait(t.Context())
			expect(t, "outcome", err, nil)
			expect(t, "runs", f.Runs(), 3)
			expect(t, "last error", f.LastError(), nil)
			expect(t, "succeeded", waitStats(t, p).Succeeded, 1)
			expect(t, "log", log.String(), "")
		})
	}
}

// An error of a run is recorded and passed to AfterTask, and the schedule continues; a later
// success does not clear it.
func TestScheduledTaskErrorContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("failure")
		var reports []string
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
				reports = append(reports, fmt.Sprint(info.Run, err))
			},
		}})
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			if run++; run == 2 {
				return failure
			}
			return nil
		}, executor.Times(3))
		expect(t, "last error at first", f.LastError(), nil)
		err := f.Wait(t.Context())
		synctest.Wait()
		expect(t, "outcome", err, nil)
		expect(t, "last error", f.LastError(), nil)
		expect(t, "failures", f.Info().Failures, 1)
		expect(t, "calls of AfterTask", strings.Join(reports, " "), "1 <nil> 2 failure 3 <nil>")
	})
}

// An error that no hook gets is logged.
func TestScheduledTaskErrorIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error { return errors.New("failure") },
			executor.Times(2), executor.Named("tidy"))
		elapse(time.Minute)
		expect(t, "mentions in the log", strings.Count(log.String(), "error=failure"), 2)
		expect(t, "mentions of the name", strings.Count(log.String(), "tidy"), 2)
	})
}

// A panic ends the schedule as a failure: the future has it, OnPanic gets it once, the counter
// counts it, and there is no further run. The JDK's schedules end silently.
func TestScheduledTaskPanicEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []executor.TaskInfo
		p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(_ context.Context, info executor.TaskInfo, err *executor.PanicError) {
				expect(t, "value", err.Value, any("bad"))
				reports = append(reports, info)
			},
		}})
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			if run++; run == 3 {
				panic("bad")
			}
			return nil
		}, executor.Named("tidy"))
		err := f.Wait(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "bad" {
			t.Errorf("outcome %v, want a PanicError", err)
		}
		elapse(time.Minute)
		expect(t, "runs", f.Runs(), 3)
		expect(t, "last error", f.LastError(), err)
		expect(t, "calls of OnPanic", len(reports), 1)
		info := reports[0]
		if info.Executor != "ticks" || info.Name != "tidy" || info.Run != 3 || info.Task != any(f) {
			t.Errorf("OnPanic got %+v", info)
		}
		s := p.Stats()
		expect(t, "panics", s.Panics, 1)
		expect(t, "failed", s.Failed, 1)
		expect(t, "workers", s.Workers, 1)
	})
}

// Without OnPanic a panic is logged with its stack.
func TestScheduledTaskPanicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error { panic("very bad") })
		elapse(time.Minute)
		if s := log.String(); strings.Count(s, "very bad") != 1 || !strings.Contains(s, "TestScheduledTaskPanicIsLogged") {
			t.Errorf("log: %s", s)
		}
	})
}

// An error of a run does not end the schedule, even if it is the panic of another task whose future
// the run waited for.
func TestScheduledTaskPanicOfOtherTaskContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}})
		other := executor.NewTask(func(context.Context) (int, error) { panic("bad") })
		other.Run(t.Context())
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			_, err := other.Get(ctx)
			return fmt.Errorf("sub-task: %w", err)
		}, executor.Times(3))
		elapse(time.Minute)
		expect(t, "runs", f.Runs(), 3)
		expect(t, "state", f.State(), executor.Succeeded)
		expect(t, "calls of OnPanic", reports, 0)
		expect(t, "panics counted", p.Stats().Panics, 0)
	})
}

// Goexit of a run ends the schedule as a failure, and the worker is replaced.
func TestScheduledTaskGoexitEnds(t *testing.T) {
	for _, core := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
				runtime.Goexit()
				return nil
			})
			g, _ := p.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Times(3))
			err := f.Wait(t.Context())
			expectIs(t, "outcome", err, executor.ErrGoexit)
			err = g.Wait(t.Context())
			expect(t, "outcome of another task", err, nil)
			expect(t, "runs", f.Runs(), 1)
			expectIs(t, "last error", f.LastError(), executor.ErrGoexit)
			expect(t, "workers", waitStats(t, p).Workers, core)
		})
	}
}

// A panic of BeforeTask ends the schedule as a failure, is reported, and the run does not take
// place.
func TestScheduledTaskBeforeTaskPanicEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, reports := newDiary(), 0
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				if info.Run == 3 {
					panic("hook")
				}
				return ctx
			},
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}})
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"))
		elapse(time.Minute)
		d.Check(t, "x@0s", "x@1s")
		expect(t, "state", f.State(), executor.Failed)
		expect(t, "calls of OnPanic", reports, 1)
	})
}

// A panic of AfterTask does not end a schedule.
func TestScheduledTaskAfterTaskPanicContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, reports := newDiary(), 0
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(context.Context, executor.TaskInfo, error) { panic("hook") },
			OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) { reports++ },
		}})
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(3))
		elapse(time.Minute)
		d.Check(t, "x@0s", "x@1s", "x@2s")
		expect(t, "state", f.State(), executor.Succeeded)
		expect(t, "calls of OnPanic", reports, 3)
	})
}

// What a future reports about its schedule.

// The state of periodic work is pending between runs and running during one.
func TestScheduledTaskState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), time.Second, 2*time.Second, func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}, executor.Times(2))
		time.Sleep(time.Second / 2)
		for i, want := range []executor.State{
			executor.Pending, executor.Running, executor.Pending, executor.Running, executor.Succeeded,
		} {
			testkit.StateIs(t, fmt.Sprint("the task in second ", i), f, want)
			err := f.Err()
			expect(t, "there is an outcome", err != executor.ErrNotDone, want.Done())
			time.Sleep(time.Second)
		}
	})
}

// Next is the time of the next run, or of the present one during a run, and zero when the schedule
// is done; Runs agrees with it.
func TestScheduledTaskProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		begin := time.Now()
		f, _ := p.AtFixedRate(t.Context(), time.Second, 10*time.Second, func(context.Context) error {
			time.Sleep(4 * time.Second)
			return nil
		}, executor.Times(2))
		at := func(now, next, left time.Duration, runs int64) {
			t.Helper()
			elapse(now - time.Since(begin))
			expect(t, "Next", f.Next().Sub(begin), next)
			expect(t, "time left", time.Until(f.Next()), left)
			expect(t, "Runs", f.Runs(), runs)
		}
		s := time.Second
		at(0, s, s, 0)
		at(2*s, s, -s, 0)
		at(6*s, 11*s, 5*s, 1)
		at(13*s, 11*s, -2*s, 1)
		elapse(3 * s)
		expect(t, "Next of a task that is done", f.Next(), time.Time{})
		expect(t, "Runs", f.Runs(), 2)
	})
}

// A future that was rejected has no next time.
func TestScheduledTaskProgressOfRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.Shutdown()
		f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
		expect(t, "Next", f.Next(), time.Time{})
	})
}

// Next may be called at any time, also while a worker determines the next time.
func TestScheduledTaskNextDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 2})
		every := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Add(1) })
		f, _ := p.On(t.Context(), every, nop, executor.Times(300))
		g, _ := p.AtFixedRate(t.Context(), 0, 1, nop, executor.Times(300))
		for !f.State().Done() || !g.State().Done() {
			for _, f := range []*executor.Series{f, g} {
				f.Next()
				f.Runs()
				f.LastError()
			}
			time.Sleep(time.Nanosecond)
		}
	})
}

// Tasks that are due close together are begun together: in order, never early, and late by at
// most the slack. Few are exact.
func TestScheduledPoolSlack(t *testing.T) {
	for _, c := range []struct {
		name         string
		slack        time.Duration
		n            int // in a second
		late         time.Duration
		fewest, most int // wake-ups
	}{
		{"10,000 a second", 0, 10_000, 800 * time.Microsecond, 900, 2000},
		{"3,000 a second", 0, 3000, 800 * time.Microsecond, 900, 2700},
		{"1,000 a second", 0, 1000, 0, 1000, 1000},
		{"none", -1, 10_000, 0, 9900, 10_000},
		{"a slack of its own", 20 * time.Millisecond, 100, 20 * time.Millisecond, 25, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Slack: c.slack})
				start, r := time.Now(), rand.New(rand.NewPCG(1, 2))
				at := make(map[time.Time]bool)
				var latest, before time.Duration
				for i := range c.n {
					place := time.Duration(i)*time.Second + time.Duration(r.Int64N(int64(time.Second)))
					delay := place / time.Duration(c.n)
					executor.SubmitAfter(t.Context(), p, delay, func(context.Context) (int, error) {
						now := time.Now()
						late := now.Sub(start) - delay
						if late < 0 || delay < before {
							t.Errorf("a task of %v runs %v late, after one of %v", delay, late, before)
						}
						at[now], before, latest = true, delay, max(latest, late)
						return 0, nil
					})
				}
				elapse(2 * time.Second)
				expect(t, "tasks that have run", p.Stats().Runs, int64(c.n))
				if latest > c.late || len(at) < c.fewest || len(at) > c.most {
					t.Errorf("%d wake-ups, at most %v late", len(at), latest)
				}
			})
		})
	}
}

// A slack delays neither what is due at once nor the first task after a pause, also if the
// alarm was set for a later one.
func TestScheduledPoolSlackAfterPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newScheduled(t, executor.ScheduledConfig{Workers: 1, Slack: 10 * time.Millisecond}), newDiary()
		executor.SubmitAfter(t.Context(), p, 2*time.Second, d.Value("last"))
		elapse(time.Second)
		executor.SubmitAfter(t.Context(), p, time.Millisecond, d.Value("first"))
		executor.SubmitAfter(t.Context(), p, 3*time.Millisecond, d.Value("third"))
		executor.SubmitAfter(t.Context(), p, 2*time.Millisecond, d.Value("second"))
		elapse(5 * time.Millisecond)
		executor.Submit(t.Context(), p, d.Value("at once"))
		elapse(time.Minute)
		d.Check(t, "first@1.001s", "second@1.005s", "third@1.005s", "at once@1.005s", "last@2s")
	})
}

// A schedule since an instant runs at its times, on whichever day the program starts.
func TestScheduledOnSinceAnInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{})
		var runs []string
		s := must(pool.On(t.Context(), cron.MustParse("CRON_TZ=Europe/Berlin @since 1999-12-28 14:00 every 7d"), func(context.Context) error {
			runs = append(runs, time.Now().UTC().Format("01-02 15:04"))
			return nil
		}))
		time.Sleep(100 * 24 * time.Hour) // summer time begins on March 26
		synctest.Wait()
		expect(t, "first run", runs[0], "01-04 13:00")
		expect(t, "last run", runs[len(runs)-1], "04-04 12:00")
		expect(t, "runs", len(runs), 14)
		expect(t, "rhythm", s.Info().Rhythm, "CRON_TZ=Europe/Berlin @since 1999-12-28 14:00 every 7d")
	})
}
