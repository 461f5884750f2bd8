package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// everySecond is a Trigger at each full second.
var everySecond = testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })

// With Overlap a run that is due begins beside those in progress, up to the limit. What becomes of
// the times that come while there are so many is as for any missed time.
func TestSeriesOverlap(t *testing.T) {
	for _, c := range []struct {
		n    int
		work time.Duration
		opts []executor.Option
		want string
		left int64
	}{
		{3, 2500 * time.Millisecond, nil, "[x@1s x@2s x@3s x@4s x@5s x@6s x@7s x@8s]", 0},
		{2, 3500 * time.Millisecond, []executor.Option{executor.CatchUp()}, "[x@1s x@2s x@4.5s x@5.5s x@8s]", 0},
		{2, 3500 * time.Millisecond, []executor.Option{executor.SkipMissed()}, "[x@1s x@2s x@5s x@6s]", 2},
		{2, 3500 * time.Millisecond, []executor.Option{executor.RunMissedOnce()}, "[x@1s x@2s x@4.5s x@5.5s x@8s]", 3},
		{1, 1500 * time.Millisecond, []executor.Option{executor.SkipMissed()}, "[x@1s x@3s x@5s x@7s]", 3},
	} {
		for _, rhythm := range []executor.Rhythm{executor.FixedRate(time.Second), executor.OnTrigger(everySecond)} {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 5), newDiary()
				opts := append(c.opts, executor.Overlap(c.n))
				if c.opts == nil {
					opts = append(opts, executor.CatchUp())
				}
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
					d.Note("x")
					time.Sleep(c.work)
					return nil
				}, opts...))
				s.Reschedule(rhythm)
				elapse(8100 * time.Millisecond)
				expect(t, rhythm.String(), fmt.Sprint(d.Notes()), c.want)
				expect(t, rhythm.String()+": left out", s.Info().LeftOut, c.left)
				checkStats(t, p)
			})
		}
	}
}

// Hooks see each run with its own number and due time, and with name and timeout of the series.
func TestSeriesOverlapInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var infos []string
		begin := time.Now()
		p := newScheduled(t, executor.ScheduledConfig{Core: 3, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
				mu.Lock()
				defer mu.Unlock()
				infos = append(infos, fmt.Sprintf("%s %d due %v, %T", i.Name, i.Run, i.Due.Sub(begin), i.Task))
				return ctx
			},
		}})
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, testkit.AnHour,
			executor.Named("x"), executor.Overlap(2), executor.Timeout(90*time.Second)))
		elapse(10 * time.Second)
		i := s.Info()
		expect(t, "running", i.Running, 2)
		expect(t, "state", i.State, executor.Running)
		expect(t, "state", s.State(), executor.Running)
		expect(t, "since", i.RunningSince.Sub(begin), time.Second)
		expect(t, "next", i.Next.Sub(begin), 3*time.Second) // overdue
		expect(t, "listed", len(p.Schedules()), 1)
		elapse(81500 * time.Millisecond)
		expect(t, "runs", s.Runs(), 1)
		expectIs(t, "last error", s.LastError(), executor.ErrTimeout)
		expect(t, "hooks", fmt.Sprint(infos), "[x 1 due 1s, *executor.Series x 2 due 2s, *executor.Series x 3 due 3s, *executor.Series]")
	})
}

// Times counts the runs that have begun; the series is done when the last of them has ended. A
// trigger that has no more times ends it in the same way.
func TestSeriesOverlapEnds(t *testing.T) {
	threeTimes := testkit.TriggerFunc(func(at time.Time) time.Time {
		if at.Sub(at.Truncate(time.Minute)) >= 3*time.Second {
			return time.Time{}
		}
		return at.Truncate(time.Second).Add(time.Second)
	})
	type submission = func(*executor.ScheduledPool, func(context.Context) error) (*executor.Series, error)
	for name, submit := range map[string]submission{
		"Times": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.AtFixedRate(context.Background(), time.Second, time.Second, f, executor.Overlap(4),
				executor.Times(3))
		},
		"Until": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.AtFixedRate(context.Background(), time.Second, time.Second, f, executor.Overlap(4),
				executor.Until(time.Now().Add(3500*time.Millisecond)))
		},
		"the trigger": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.On(context.Background(), threeTimes, f, executor.Overlap(4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 8), newDiary()
				work := []time.Duration{20 * time.Second, 5 * time.Second, time.Second}
				var run atomic.Int32
				s := mustRepeat(t)(submit(p, func(context.Context) error {
					d.Note("x")
					time.Sleep(work[run.Add(1)-1])
					return nil
				}))
				elapse(10 * time.Second)
				expect(t, "Next", s.Info().Next, time.Time{})
				expect(t, "RunNow", s.RunNow(), executor.ErrRunning)
				testkit.StateIs(t, "the series", s, executor.Running)
				expect(t, "outcome", s.Wait(t.Context()), nil)
				expect(t, "end", time.Since(d.Begin), 21*time.Second)
				d.Check(t, "x@1s", "x@2s", "x@3s")
				expect(t, "succeeded", waitStats(t, p).Succeeded, 4) // the series, too
			})
		})
	}
}

// A run that returns Stop ends the series at once. The other runs go on.
func TestSeriesOverlapStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		var run atomic.Int32
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
			d.Note("x")
			if run.Add(1) == 2 {
				return executor.Stop
			}
			time.Sleep(10 * time.Second)
			return nil
		}, executor.Overlap(3)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		expect(t, "end", time.Since(d.Begin), 2*time.Second)
		expect(t, "running", s.Info().Running, 1)
		expect(t, "Join", s.Join(t.Context()), nil)
		expect(t, "return of the other", time.Since(d.Begin), 11*time.Second)
		d.Check(t, "x@1s", "x@2s")
		expect(t, "failures", s.Info().Failures, 0)
		expect(t, "succeeded", waitStats(t, p).Succeeded, 3)
	})
}

// Stop is not logged as a failure, and a series that has run is not reported as dropped.
func TestSeriesOverlapReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		dropped := 0
		p := newScheduled(t, executor.ScheduledConfig{
			Core: 2, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Hooks: executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) { dropped++ }},
		})
		stops := func(context.Context) error { return executor.Stop }
		mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, stops, executor.Overlap(2))).Wait(t.Context())
		ran := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Overlap(2)))
		elapse(time.Minute)
		ran.Cancel()
		expect(t, "dropped after runs", dropped, 0)
		mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Second, nop, executor.Overlap(2))).Cancel()
		synctest.Wait()
		expect(t, "dropped without a run", dropped, 1)
		expect(t, "log", log.String(), "")
	})
}

// A panic ends the series, as failed, unless it may continue. The other runs go on.
func TestSeriesOverlapPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		var run atomic.Int32
		body := func(context.Context) error {
			if run.Add(1) == 2 {
				panic("bad")
			}
			time.Sleep(3500 * time.Millisecond)
			return nil
		}
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, executor.Overlap(3)))
		elapse(2500 * time.Millisecond)
		testkit.StateIs(t, "the series", s, executor.Failed)
		var perr *executor.PanicError
		expect(t, "outcome is a panic", errors.As(s.Err(), &perr), true)
		begin := time.Now()
		expect(t, "Join", s.Join(t.Context()), nil)
		expect(t, "Join waited", time.Since(begin), 2*time.Second)
		expect(t, "runs", s.Runs(), 2)

		run.Store(0)
		s = mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, executor.Overlap(3),
			executor.ContinueAfterPanic(), executor.Times(4)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		expect(t, "failures", s.Info().Failures, 1)
		expect(t, "panics", waitStats(t, p).Panics, 2)
	})
}

// A run whose BeforeTask hook panics ends the series.
func TestSeriesOverlapBeforeTaskPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Core: 2, Hooks: executor.Hooks{
			BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("no") },
		}})
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, nop, executor.Overlap(2)))
		elapse(2 * time.Second)
		testkit.StateIs(t, "the series", s, executor.Failed)
		expect(t, "running", s.Info().Running, 0)
		expect(t, "runs", s.Runs(), 0)
	})
}

// Whatever cancels a series ends the contexts of all its runs, except Abandon. Join waits for them.
func TestSeriesOverlapCancel(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*executor.ScheduledPool, *executor.Series, context.CancelFunc)
		ended bool
	}{
		"Cancel":      {func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Cancel() }, true},
		"Abandon":     {func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Abandon() }, false},
		"its context": {func(_ *executor.ScheduledPool, _ *executor.Series, end context.CancelFunc) { end() }, true},
		"Shutdown":    {func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.Shutdown() }, false},
		"ShutdownNow": {func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.ShutdownNow() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := scheduled(t, 5)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var ended atomic.Int32
				s := mustRepeat(t)(p.AtFixedRate(ctx, 0, time.Second, func(ctx context.Context) error {
					time.Sleep(time.Minute)
					if ctx.Err() != nil {
						ended.Add(1)
					}
					return nil
				}, executor.Overlap(3)))
				elapse(10 * time.Second)
				c.end(p, s, cancel)
				testkit.StateIs(t, "the series", s, executor.Canceled)
				expect(t, "Join", s.Join(t.Context()), nil)
				expect(t, "runs", s.Runs(), 3)
				expect(t, "contexts that ended", ended.Load(), map[bool]int32{true: 3}[c.ended])
				waitStats(t, p)
			})
		})
	}
}

// A series that is canceled while runs wait for a worker has none of them.
func TestSeriesOverlapCancelWaitingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.Overlap(2),
			executor.Named("x")))
		executor.At(t.Context(), p, time.Now().Add(time.Second), func(context.Context) (int, error) {
			s.Cancel() // before the run has its turn
			return 0, nil
		})
		elapse(time.Minute)
		if runs := len(d.Notes()); runs > 1 {
			t.Errorf("%d runs", runs)
		}
		expect(t, "Join", s.Join(t.Context()), nil)
		waitStats(t, p)
	})
}

// RunNow runs beside a run in progress, as far as the limit allows.
func TestSeriesOverlapRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error {
			d.Note("x")
			time.Sleep(time.Minute)
			return nil
		}, executor.Overlap(2)))
		for _, want := range []error{nil, nil, executor.ErrRunning} {
			expect(t, "RunNow", s.RunNow(), want)
			elapse(time.Second)
		}
		expect(t, "Delay of a full series is long", s.Delay() > time.Hour, true)
		elapse(time.Minute)
		expect(t, "Next", s.Next().Sub(d.Begin), time.Hour)
		elapse(time.Hour)
		d.Check(t, "x@0s", "x@1s", "x@1h0m0s")
	})
}

// A pause keeps further runs from beginning, and those in progress go on; a full series may be
// rescheduled.
func TestSeriesOverlapPauseAndReschedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 10*time.Second, func(context.Context) error {
			d.Note("x")
			time.Sleep(25 * time.Second)
			return nil
		}, executor.Overlap(2), executor.SkipMissed()))
		elapse(15 * time.Second) // two in progress
		s.Pause()
		elapse(time.Minute)
		expect(t, "running", s.Info().Running, 0)
		s.Resume()
		elapse(20 * time.Second) // at 80 and 90
		expect(t, "Reschedule", s.Reschedule(executor.FixedRate(time.Second)), nil)
		elapse(15*time.Second - 1)
		d.Check(t, "x@0s", "x@10s", "x@1m20s", "x@1m30s", "x@1m45s")
	})
}

// In a pool with one worker, no two runs overlap whatever the limit is.
func TestSeriesOverlapOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", 5*time.Second),
			executor.Overlap(3), executor.Times(4)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		d.Check(t, "x@1s", "x@6s", "x@6s", "x@6s")
	})
}

// Overlap is an error where it has no effect.
func TestSeriesOverlapInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		_, err := p.WithFixedDelay(t.Context(), 0, time.Second, nop, executor.Overlap(2))
		expectIs(t, "with a fixed delay", err, executor.ErrInvalid)
		expect(t, "text", fmt.Sprint(err), "executor: WithFixedDelay: Overlap has no effect on a fixed delay, "+
			"which counts from the end of a run; leave it out")
		same := func(s executor.ScheduledTask) executor.ScheduledTask { return s }
		decorating := newScheduled(t, executor.ScheduledConfig{Decorate: same})
		_, err = decorating.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Overlap(2))
		expectIs(t, "in a pool with Decorate", err, executor.ErrInvalid)
	})
}

// Runs that overlap may be managed from everywhere while they come and go.
func TestSeriesOverlapConcurrently(t *testing.T) {
	for range testkit.Scale(20) {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 6)
			var inside, most atomic.Int32
			s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 1, func(context.Context) error {
				n := inside.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(3)
				inside.Add(-1)
				return nil
			}, executor.Overlap(3), executor.Times(300)))
			for range 60 {
				for _, f := range []func(){
					func() { s.RunNow() }, func() { s.Pause() }, func() { s.Resume() }, func() { p.Schedules() },
					func() { s.Reschedule(executor.FixedRate(1)) },
				} {
					go f()
				}
				time.Sleep(2)
			}
			synctest.Wait()
			s.Resume()
			expect(t, "outcome", s.Wait(t.Context()), nil)
			expect(t, "runs", s.Runs(), 300)
			expect(t, "most at the same time", most.Load(), 3)
			waitStats(t, p)
		})
	}
}
