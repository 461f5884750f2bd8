package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Times ends periodic work in peace after that many runs.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(3))
		_, err := f.Get(t.Context())
		expect(t, "outcome", err, nil)
		expect(t, "runs", f.Runs(), 3)
		elapse(time.Minute)
		d.Check(t, "x@0s", "x@1s", "x@2s")
		s := waitStats(t, p)
		expect(t, "tasks that succeeded", s.Succeeded, 1)
		expect(t, "bodies that ran", s.Runs, 3)
	})
}

// Until ends periodic work in peace instead of a run after that time; a run at
// that very time takes place.
func TestUntil(t *testing.T) {
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
		for _, f := range []*executor.ScheduledFuture[struct{}]{rate, delay, cron} {
			expect(t, "state", f.State(), executor.Succeeded)
		}
	})
}

// Until before the first run is an error, and nothing is submitted.
func TestUntilBeforeFirstRun(t *testing.T) {
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

// Jitter delays each run by less than its bound, differently each time, and does
// not shift the grid of a fixed rate.
func TestJitter(t *testing.T) {
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
		f.Get(t.Context())
		synctest.Wait()
		if len(seen) < 50 {
			t.Errorf("only %d different delays in 100 runs", len(seen))
		}
	})
}

// Jitter applies to the one-shots of Schedule and At, too.
func TestJitterOfOneShots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, seen := scheduled(t, 1), make(map[time.Duration]bool)
		for range 50 {
			f := executor.Schedule(t.Context(), p, time.Hour, nopValue, executor.Jitter(time.Minute))
			g := executor.At(t.Context(), p, time.Now().Add(time.Hour), nopValue, executor.Jitter(time.Minute))
			for _, d := range []time.Duration{f.Delay(), g.Delay()} {
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

// A body that returns Done, wrapped or not, ends its schedule in peace.
func TestDone(t *testing.T) {
	for _, done := range []error{executor.Stop, fmt.Errorf("enough: %w", executor.Stop)} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			p := newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			run := 0
			f, _ := p.WithFixedDelay(t.Context(), 0, time.Second, func(context.Context) error {
				if run++; run == 3 {
					return done
				}
				return nil
			})
			_, err := f.Get(t.Context())
			expect(t, "outcome", err, nil)
			expect(t, "runs", f.Runs(), 3)
			expect(t, "last error", f.LastError(), nil)
			expect(t, "succeeded", waitStats(t, p).Succeeded, 1)
			expect(t, "log", log.String(), "")
		})
	}
}

// An error that a run returns is recorded and told to AfterTask, and the
// schedule goes on; a later success does not clear it.
func TestPeriodicErrorGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sour := errors.New("sour")
		var told []string
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
				told = append(told, fmt.Sprint(info.Run, err))
			},
		}})
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			if run++; run == 2 {
				return sour
			}
			return nil
		}, executor.Times(3))
		expect(t, "last error at first", f.LastError(), nil)
		_, err := f.Get(t.Context())
		synctest.Wait()
		expect(t, "outcome", err, nil)
		expect(t, "last error", f.LastError(), sour)
		expect(t, "told", strings.Join(told, " "), "1 <nil> 2 sour 3 <nil>")
	})
}

// An error that no hook is told of is logged.
func TestPeriodicErrorIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error { return errors.New("sour") },
			executor.Times(2), executor.Named("tidy"))
		elapse(time.Minute)
		expect(t, "mentions in the log", strings.Count(log.String(), "error=sour"), 2)
		expect(t, "mentions of the name", strings.Count(log.String(), "tidy"), 2)
	})
}

// A panic ends the schedule as a failure: the future has it, OnPanic is told
// once, the counter counts it, there is no further run. The JDK's schedules end
// silently.
func TestPeriodicPanicEndsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []executor.TaskInfo
		p := newScheduled(t, executor.ScheduledConfig{Name: "ticks", Core: 1, Hooks: executor.Hooks{
			OnPanic: func(_ context.Context, info executor.TaskInfo, err *executor.PanicError) {
				expect(t, "value", err.Value, any("bad"))
				told = append(told, info)
			},
		}})
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			if run++; run == 3 {
				panic("bad")
			}
			return nil
		}, executor.Named("tidy"))
		_, err := f.Get(t.Context())
		var perr *executor.PanicError
		if !errors.As(err, &perr) || perr.Value != "bad" {
			t.Errorf("outcome %v, want a PanicError", err)
		}
		elapse(time.Minute)
		expect(t, "runs", f.Runs(), 3)
		expect(t, "last error", f.LastError(), err)
		expect(t, "times told", len(told), 1)
		info := told[0]
		if info.Executor != "ticks" || info.Name != "tidy" || info.Run != 3 || info.Task != executor.Runnable(f) {
			t.Errorf("OnPanic was told %+v", info)
		}
		s := p.Stats()
		expect(t, "panics", s.Panics, 1)
		expect(t, "failed", s.Failed, 1)
		expect(t, "workers", s.Workers, 1)
	})
}

// Without OnPanic a panic is logged with its stack.
func TestPeriodicPanicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error { panic("very bad") })
		elapse(time.Minute)
		if s := log.String(); strings.Count(s, "very bad") != 1 || !strings.Contains(s, "TestPeriodicPanicIsLogged") {
			t.Errorf("log: %s", s)
		}
	})
}

// An error that a run returns does not end the schedule, also if it is the panic
// of another task, whose future the body waited for.
func TestPeriodicBodyReturnsOthersPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}})
		other := executor.NewFuture(func(context.Context) (int, error) { panic("bad") })
		other.Run(t.Context())
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(ctx context.Context) error {
			_, err := other.Get(ctx)
			return fmt.Errorf("sub-task: %w", err)
		}, executor.Times(3))
		elapse(time.Minute)
		expect(t, "runs", f.Runs(), 3)
		expect(t, "state", f.State(), executor.Succeeded)
		expect(t, "panics told", told, 0)
		expect(t, "panics counted", p.Stats().Panics, 0)
	})
}

// runtime.Goexit in a periodic body ends the schedule as a failure, and the
// worker is replaced.
func TestPeriodicGoexitEndsSchedule(t *testing.T) {
	for _, core := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
				runtime.Goexit()
				return nil
			})
			g, _ := p.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Times(3))
			_, err := f.Get(t.Context())
			expectIs(t, "outcome", err, executor.ErrGoexit)
			_, err = g.Get(t.Context())
			expect(t, "outcome of another task", err, nil)
			expect(t, "runs", f.Runs(), 1)
			expectIs(t, "last error", f.LastError(), executor.ErrGoexit)
			expect(t, "workers", waitStats(t, p).Workers, core)
		})
	}
}

// A BeforeTask hook that panics ends a schedule as a failure, loudly, and the
// body does not run.
func TestBeforeTaskPanicEndsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, told := newDiary(), 0
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				if info.Run == 3 {
					panic("hook")
				}
				return ctx
			},
			OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
		}})
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"))
		elapse(time.Minute)
		d.Check(t, "x@0s", "x@1s")
		expect(t, "state", f.State(), executor.Failed)
		expect(t, "panics told", told, 1)
	})
}

// An AfterTask hook that panics, or ends its goroutine, does not end a schedule.
func TestAfterTaskPanicDoesNotEndSchedule(t *testing.T) {
	for what, end := range map[string]func(){"panic": func() { panic("hook") }, "Goexit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			d, told := newDiary(), 0
			p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
				AfterTask: func(context.Context, executor.TaskInfo, error) { end() },
				OnPanic:   func(context.Context, executor.TaskInfo, *executor.PanicError) { told++ },
			}})
			f, _ := p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(3))
			elapse(time.Minute)
			d.Check(t, "x@0s", "x@1s", "x@2s")
			expect(t, what+": state", f.State(), executor.Succeeded)
			expect(t, what+": panics told", told > 0, what == "panic")
		})
	}
}
