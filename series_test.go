package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
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

// mustRepeat returns a series that a pool has accepted.
func mustRepeat(t *testing.T) func(*executor.Series, error) *executor.Series {
	return func(s *executor.Series, err error) *executor.Series {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// Pause and Resume.

// A series does not run while it is paused. Afterwards it is on its old grid, and makes up for
// nothing.
func TestSeriesPauseKeepsGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 10*time.Second, d.Func("x")))
		elapse(15 * time.Second)
		expect(t, "Pause", s.Pause(), true)
		expect(t, "Next", s.Next(), time.Time{})
		expect(t, "State", s.State(), executor.Pending)
		expect(t, "queued", waitStats(t, p.Pool).Queued, 1)
		elapse(30 * time.Second)
		expect(t, "Resume", s.Resume(), true)
		expect(t, "time left", time.Until(s.Next()), 5*time.Second)
		elapse(16 * time.Second)
		d.Check(t, "x@0s", "x@10s", "x@50s", "x@1m0s")
	})
}

// Pause and Resume report whether they have changed anything.
func TestSeriesPauseReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, nop))
		expect(t, "Resume of a series that is not paused", s.Resume(), false)
		expect(t, "Pause", s.Pause(), true)
		expect(t, "Pause again", s.Pause(), false)
		expect(t, "Resume", s.Resume(), true)
		expect(t, "Resume again", s.Resume(), false)
		s.Pause()
		s.Cancel()
		expect(t, "Resume of a series that is canceled", s.Resume(), false)
		expect(t, "Pause of a series that is canceled", s.Pause(), false)
		expect(t, "queued", waitStats(t, p.Pool).Queued, 0)
	})
}

// What is left of Times outlasts a pause.
func TestSeriesPauseKeepsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, d.Func("x"), executor.Times(3)))
		elapse(1500 * time.Millisecond)
		s.Pause()
		elapse(time.Hour)
		s.Resume()
		expect(t, "outcome", s.Wait(t.Context()), nil)
		d.Check(t, "x@0s", "x@1s", fmt.Sprint("x@", time.Hour+2*time.Second))
	})
}

// A run that is in progress when the series is paused goes on, and is the last one until Resume.
func TestSeriesPauseDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 10*time.Second, d.Func("x", 5*time.Second)))
		elapse(time.Second)
		expect(t, "Pause", s.Pause(), true)
		expect(t, "State", s.State(), executor.Running)
		elapse(time.Minute)
		expect(t, "runs", s.Runs(), 1)
		expect(t, "Next", s.Next(), time.Time{})
		s.Resume()
		elapse(10 * time.Second)
		d.Check(t, "x@0s", "x@1m10s")
	})
}

// A pause that ends before the run in progress does changes nothing.
func TestSeriesPauseAndResumeDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 10*time.Second, d.Func("x", 5*time.Second)))
		elapse(time.Second)
		expect(t, "Pause", s.Pause(), true)
		expect(t, "Resume", s.Resume(), true)
		elapse(20 * time.Second)
		d.Check(t, "x@0s", "x@10s", "x@20s")
	})
}

// A fixed delay that has passed during a pause is over when it ends.
func TestSeriesResumeFixedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.WithFixedDelay(t.Context(), 0, 10*time.Second, d.Func("x")))
		elapse(time.Second)
		s.Pause()
		elapse(time.Second)
		s.Resume()
		expect(t, "time left after a short pause", time.Until(s.Next()), 8*time.Second)
		s.Pause()
		elapse(time.Minute)
		s.Resume()
		elapse(11 * time.Second)
		d.Check(t, "x@0s", "x@1m2s", "x@1m12s")
	})
}

// After a pause the next run of a trigger is at its next time.
func TestSeriesResumeTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary() // begins at midnight
		s := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, d.Func("x"), executor.CatchUp(math.MaxInt)))
		elapse(90 * time.Minute)
		s.Pause()
		elapse(3 * time.Hour)
		s.Resume()
		elapse(time.Hour)
		d.Check(t, "x@1h0m0s", "x@5h0m0s")
	})
}

// A series that has no time left when it is resumed ends, as succeeded.
func TestSeriesResumeAfterLastTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		end := time.Now().Add(time.Hour + time.Minute)
		rate := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Until(end)))
		trigger := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, nop, executor.Until(end)))
		last := mustRepeat(t)(p.On(t.Context(), launch{end}, nop))
		for _, s := range []*executor.Series{rate, trigger, last} {
			s.Pause()
		}
		elapse(2 * time.Hour)
		for _, s := range []*executor.Series{rate, trigger, last} {
			expect(t, "Resume", s.Resume(), true)
			testkit.StateIs(t, "the series", s, executor.Succeeded)
		}
		expect(t, "succeeded", waitStats(t, p.Pool).Succeeded, 3)
	})
}

// Resume of a series whose trigger has failed ends it, with the error of the trigger.
func TestSeriesResumeTriggerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, broken := scheduled(t, 1), false
		s := mustRepeat(t)(p.On(t.Context(), testkit.TriggerFunc(func(at time.Time) time.Time {
			if broken {
				return at
			}
			return at.Add(time.Hour)
		}), nop))
		s.Pause()
		broken = true
		expect(t, "Resume", s.Resume(), true)
		testkit.StateIs(t, "the series", s, executor.Failed)
		expectIs(t, "outcome", s.Err(), executor.ErrInvalid)
	})
}

// A paused series ends like any other that waits.
func TestSeriesPausedEnds(t *testing.T) {
	for name, end := range map[string]func(*executor.ScheduledPool, *executor.Series, context.CancelFunc){
		"Cancel":      func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Cancel() },
		"Abandon":     func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Abandon() },
		"Remove":      func(p *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { p.Remove(s) },
		"its context": func(_ *executor.ScheduledPool, _ *executor.Series, end context.CancelFunc) { end() },
		"Shutdown":    func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.Shutdown() },
		"ShutdownNow": func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.ShutdownNow() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := scheduled(t, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := mustRepeat(t)(p.On(ctx, testkit.Hourly, nop))
				s.Pause()
				end(p, s, cancel)
				testkit.StateIs(t, "the series", s, executor.Canceled)
				expect(t, "queued", waitStats(t, p.Pool).Queued, 0)
				expect(t, "listed", len(p.Schedules()), 0)
			})
		})
	}
}

// RunNow.

// RunNow makes one run besides those of the rhythm. It is due at the time of the call.
func TestSeriesRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var dues []time.Duration
		body := d.Func("x")
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 10*time.Second, 10*time.Second, func(ctx context.Context) error {
			dues = append(dues, executor.Due(ctx).Sub(d.Begin))
			return body(ctx)
		}))
		elapse(3 * time.Second)
		expect(t, "RunNow", s.RunNow(), nil)
		synctest.Wait()
		expect(t, "time left", time.Until(s.Next()), 7*time.Second)
		elapse(20 * time.Second)
		d.Check(t, "x@3s", "x@10s", "x@20s")
		expect(t, "due times", fmt.Sprint(dues), "[3s 10s 20s]")
	})
}

// RunNow also works for the times of a trigger, and a fixed delay begins anew at the end of the run.
func TestSeriesRunNowOfOtherRhythms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 2), newDiary()
		trigger := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, d.Func("trigger")))
		delay := mustRepeat(t)(p.WithFixedDelay(t.Context(), time.Hour, time.Hour, d.Func("delay", time.Minute)))
		elapse(10 * time.Minute)
		expect(t, "RunNow of a trigger", trigger.RunNow(), nil)
		elapse(10 * time.Minute)
		expect(t, "RunNow of a delay", delay.RunNow(), nil)
		elapse(2 * time.Hour)
		d.Check(t, "trigger@10m0s", "delay@20m0s", "trigger@1h0m0s", "delay@1h21m0s", "trigger@2h0m0s")
	})
}

// RunNow does nothing while a run is in progress, and says so.
func TestSeriesRunNowDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 4), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Minute, d.Func("x", 10*time.Second, 10*time.Second)))
		elapse(5 * time.Second)
		expect(t, "during a run", s.RunNow(), executor.ErrRunning)
		elapse(10 * time.Second)
		expect(t, "between two", s.RunNow(), nil)
		elapse(5 * time.Second)
		expect(t, "during a run by RunNow", s.RunNow(), executor.ErrRunning)
		elapse(50 * time.Second)
		d.Check(t, "x@0s", "x@15s", "x@1m0s")
	})
}

// A run that is due already, and one that RunNow has asked for, is not made twice.
func TestSeriesRunNowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		due := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Hour, d.Func("due")))
		early := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("early")))
		elapse(time.Minute)
		for range 3 {
			expect(t, "RunNow", due.RunNow(), nil)
			expect(t, "RunNow", early.RunNow(), nil)
		}
		release()
		elapse(time.Minute)
		d.Check(t, "due@1m0s", "early@1m0s")
	})
}

// A paused series runs once by RunNow, and stays paused.
func TestSeriesRunNowWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", time.Minute)))
		s.Pause()
		elapse(30 * time.Second)
		expect(t, "RunNow", s.RunNow(), nil)
		elapse(time.Hour)
		d.Check(t, "x@30s")
		expect(t, "paused", s.Info().Paused, true)
	})
}

// A pause that ends during a run by RunNow leaves out all times that have passed.
func TestSeriesResumeDuringRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", 500*time.Millisecond)))
		s.Pause()
		elapse(time.Minute)
		s.RunNow()
		elapse(100 * time.Millisecond)
		expect(t, "Resume", s.Resume(), true)
		elapse(2 * time.Second)
		d.Check(t, "x@1m0s", "x@1m1s", "x@1m2s")
	})
}

// A run by RunNow counts for Times.
func TestSeriesRunNowCountsForTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("x"), executor.Times(2)))
		s.RunNow()
		expect(t, "outcome", s.Wait(t.Context()), nil)
		d.Check(t, "x@0s", "x@1h0m0s")
		expect(t, "RunNow of a series that is done", s.RunNow(), executor.ErrDone)
	})
}

// Times that pass during a run by RunNow are missed as during any other.
func TestSeriesRunNowMissed(t *testing.T) {
	for want, opts := range map[string][]executor.Option{
		"[x@500ms x@3.5s x@3.5s x@3.5s x@4s]": nil,
		"[x@500ms x@4s]":                      {executor.CatchUp(0)},
		"[x@500ms x@3.5s x@4s]":               {executor.CatchUp(1)},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, tr := scheduled(t, 1), newDiary()
			s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, tr.Func("x", 3*time.Second), opts...))
			elapse(500 * time.Millisecond)
			s.RunNow()
			elapse(4 * time.Second)
			s.Cancel()
			expect(t, "runs", fmt.Sprint(tr.Notes()), want)
		})
	}
}

// Reschedule.

// Reschedule sets another rhythm, of any kind, that begins now.
func TestSeriesReschedule(t *testing.T) {
	rhythms := map[string]executor.Trigger{
		"every 10s":          executor.FixedRate(10 * time.Second),
		"10s after each run": executor.FixedDelay(10 * time.Second),
		"testkit.TriggerFunc": testkit.TriggerFunc(func(t time.Time) time.Time {
			return t.Add(10 * time.Second)
		}),
	}
	for from, old := range rhythms {
		for to, rhythm := range rhythms {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func(to)))
				expect(t, "Reschedule", s.Reschedule(old), nil)
				expect(t, "rhythm", s.Info().Rhythm, from)
				elapse(25 * time.Second)
				expect(t, "Reschedule", s.Reschedule(rhythm), nil)
				expect(t, "rhythm", s.Info().Rhythm, to)
				expect(t, "time left", time.Until(s.Next()), 10*time.Second)
				elapse(21 * time.Second)
				d.Check(t, to+"@10s", to+"@20s", to+"@35s", to+"@45s")
			})
		}
	}
}

// FixedRate and FixedDelay are triggers for On as well: the first run is one period from now.
func TestScheduledPoolOnInterval(t *testing.T) {
	for trigger, want := range map[executor.Trigger][]string{
		executor.FixedRate(10 * time.Second):  {"x@10s", "x@20s", "x@30s"},
		executor.FixedDelay(10 * time.Second): {"x@10s", "x@23s", "x@36s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, 1), newDiary()
			expect(t, "Next", trigger.Next(d.Begin), d.Begin.Add(10*time.Second))
			run := d.Func("x", 3*time.Second, 3*time.Second, 3*time.Second)
			mustRepeat(t)(p.On(t.Context(), trigger, run, executor.Times(3)))
			elapse(time.Minute)
			d.Check(t, want...)
		})
	}
}

// A run in progress goes on when the series is rescheduled, and the new rhythm begins at the call.
func TestSeriesRescheduleDuringRun(t *testing.T) {
	for _, run := range []string{"of the rhythm", "by RunNow"} {
		synctest.Test(t, func(t *testing.T) {
			p, d := scheduled(t, 1), newDiary()
			s := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, d.Func("x", 30*time.Second)))
			if run == "by RunNow" {
				elapse(10 * time.Minute)
				s.RunNow()
			} else {
				elapse(time.Hour)
			}
			elapse(10 * time.Second)
			expect(t, "Reschedule", s.Reschedule(executor.FixedRate(time.Minute)), nil)
			elapse(2 * time.Minute)
			expect(t, "runs "+run, s.Runs(), 3)
			s.Reschedule(executor.FixedRate(time.Second))
			s.Pause()
			expect(t, "last start", time.Since(s.Info().LastStart), 0)
		})
	}
}

// A rhythm that is set while a worker asks the old trigger for the next time stays, and so does a
// pause.
func TestSeriesRescheduleWhileTriggerIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		var self atomic.Pointer[executor.Series]
		var asked atomic.Int32
		s := mustRepeat(t)(p.On(t.Context(), testkit.TriggerFunc(func(at time.Time) time.Time {
			switch asked.Add(1) {
			case 2:
				self.Load().Reschedule(executor.FixedRate(10 * time.Second))
			case 3:
				t.Error("the old trigger is asked again")
			}
			return at.Add(time.Second)
		}), d.Func("x")))
		self.Store(s)
		elapse(12 * time.Second)
		d.Check(t, "x@1s", "x@11s")
		asked.Store(0)
		s.Reschedule(testkit.TriggerFunc(func(at time.Time) time.Time {
			if asked.Add(1) == 2 {
				s.Pause()
			}
			return at.Add(time.Second)
		}))
		elapse(time.Minute)
		d.Check(t, "x@1s", "x@11s", "x@13s")
	})
}

// A paused series stays paused when it is rescheduled. It begins with the new rhythm.
func TestSeriesRescheduleWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, d.Func("x")))
		s.Pause()
		expect(t, "Reschedule", s.Reschedule(executor.FixedRate(10*time.Second)), nil)
		elapse(25 * time.Second)
		s.Resume()
		elapse(20 * time.Second)
		d.Check(t, "x@30s", "x@40s")
	})
}

// A run that RunNow has asked for is made though the series is rescheduled.
func TestSeriesRescheduleKeepsRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("x")))
		s.RunNow()
		s.Reschedule(testkit.Hourly)
		release()
		elapse(time.Hour)
		d.Check(t, "x@0s", "x@1h0m0s")
	})
}

// A rhythm without a time is an error, and the series stays as it is.
func TestSeriesRescheduleInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("x"), executor.CatchUp(0),
			executor.Until(time.Now().Add(2*time.Hour))))
		for _, c := range []struct {
			trigger executor.Trigger
			text    string
		}{
			{executor.FixedRate(0), "period is 0s; it must be positive"},
			{executor.FixedDelay(-time.Second), "delay is -1s; it must be positive"},
			{nil, "nil Trigger"},
			{executor.FixedDelay(time.Second),
				"CatchUp has no effect on a fixed delay, which misses no time; leave it out"},
			{launch{time.Now().UTC().Add(3 * time.Hour)},
				"the first run would be at 2000-01-01 03:00:00 +0000 UTC, after Until(2000-01-01 02:00:00 +0000 UTC)"},
		} {
			err := s.Reschedule(c.trigger)
			expectIs(t, c.text, err, executor.ErrInvalid)
			expect(t, "text", fmt.Sprint(err), "executor: Reschedule: "+c.text)
		}
		elapse(90 * time.Minute)
		d.Check(t, "x@1h0m0s")
		s.Cancel()
		expect(t, "of a series that is done", s.Reschedule(executor.FixedRate(time.Second)), executor.ErrDone)
	})
}

// A trigger that panics in Resume or Reschedule panics in the caller, and the series stays as it is.
func TestSeriesControlTriggerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, broken := scheduled(t, 1), newDiary(), false
		trigger := testkit.TriggerFunc(func(at time.Time) time.Time {
			if broken {
				panic("bad")
			}
			return at.Add(time.Hour)
		})
		s := mustRepeat(t)(p.On(t.Context(), trigger, d.Func("x")))
		s.Pause()
		broken = true
		expect(t, "Resume panics", testkit.Panics(func() error { s.Resume(); return nil }), true)
		expect(t, "Reschedule panics", testkit.Panics(func() error { return s.Reschedule(trigger) }), true)
		broken = false
		expect(t, "Resume", s.Resume(), true)
		elapse(time.Hour)
		d.Check(t, "x@1h0m0s")
	})
}

// Options.

// CatchUp bounds how many of the times that pass during a run are made up for.
func TestSeriesMissed(t *testing.T) {
	second := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })
	for _, c := range []struct {
		opt     executor.Option
		want    string
		leftOut int64
	}{
		{executor.CatchUp(math.MaxInt), "[x@1s x@4.5s x@4.5s x@4.5s x@5s]", 0},
		{executor.CatchUp(3), "[x@1s x@4.5s x@4.5s x@4.5s x@5s]", 0},
		{executor.CatchUp(2), "[x@1s x@4.5s x@4.5s x@5s]", 1},
		{executor.CatchUp(1), "[x@1s x@4.5s x@5s]", 2},
		{executor.CatchUp(0), "[x@1s x@5s]", 3},
	} {
		for _, r := range []executor.Trigger{executor.FixedRate(time.Second), second} {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				body := d.Func("x", 3500*time.Millisecond)
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, c.opt))
				s.Reschedule(r)
				elapse(5500 * time.Millisecond)
				expect(t, s.Info().Rhythm, fmt.Sprint(d.Notes()), c.want)
				expect(t, s.Info().Rhythm+": left out", s.Info().LeftOut, c.leftOut)
			})
		}
	}
}

// Without an option a fixed rate catches up and a trigger skips, also after Reschedule.
func TestSeriesMissedDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		work := 3500 * time.Millisecond
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", work, 0, 0, 0, 0, work)))
		elapse(5500 * time.Millisecond)
		s.Reschedule(testkit.TriggerFunc(func(t time.Time) time.Time {
			return t.Truncate(time.Second).Add(time.Second)
		}))
		elapse(5 * time.Second)
		d.Check(t, "x@1s", "x@4.5s", "x@4.5s", "x@4.5s", "x@5s", "x@6s", "x@10s")
	})
}

// With StartWithin a run that can't begin in time is left out: since the pool is busy, or since
// the run before took too long. The next is on the grid.
func TestSeriesStartWithin(t *testing.T) {
	for _, c := range []struct {
		window  time.Duration
		missed  executor.Option
		want    string
		leftOut int64
	}{
		{time.Second / 2, executor.CatchUp(0), "[x@10s x@15s x@16s]", 13},
		{time.Second, executor.CatchUp(math.MaxInt), "[x@9.5s x@10s x@14.5s x@15s x@16s]", 11},
		{time.Second / 2, executor.CatchUp(1), "[x@9.5s x@10s x@14.5s x@15s x@16s]", 11},
		{time.Second / 4, executor.CatchUp(1), "[x@10s x@15s x@16s]", 13},
	} {
		grid := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })
		for _, rhythm := range []executor.Trigger{executor.FixedRate(time.Second), grid} {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				release := testkit.Occupy(t, p)
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
					d.Note("x")
					if time.Since(d.Begin) == 10*time.Second {
						time.Sleep(4500 * time.Millisecond)
					}
					return nil
				}, executor.StartWithin(c.window), c.missed))
				s.Reschedule(rhythm)
				elapse(9500 * time.Millisecond)
				release()
				elapse(6500 * time.Millisecond)
				expect(t, "runs", fmt.Sprint(d.Notes()), c.want)
				expect(t, "left out", s.Info().LeftOut, c.leftOut)
			})
		}
	}
}

// A fixed delay counts from the time at which a run was left out.
func TestSeriesStartWithinFixedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		release := testkit.Occupy(t, p)
		p.WithFixedDelay(t.Context(), time.Second, 10*time.Second, d.Func("x"), executor.StartWithin(time.Second))
		elapse(5 * time.Second)
		release()
		elapse(20 * time.Second)
		d.Check(t, "x@15s", "x@25s")
	})
}

// StartPaused makes a series that waits for Resume, or RunNow.
func TestSeriesStartPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Minute, d.Func("x"), executor.StartPaused()))
		expect(t, "paused", s.Info().Paused, true)
		elapse(90 * time.Second)
		s.RunNow()
		elapse(0)
		s.Resume()
		elapse(time.Minute)
		d.Check(t, "x@1m30s", "x@2m0s")
	})
}

// With ContinueAfterPanic a run that panics, or calls runtime.Goexit, has failed, is reported, and
// is followed by the next.
func TestSeriesContinueAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics []any
		var errs []error
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { errs = append(errs, err) },
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) {
				panics = append(panics, err.Value)
			},
		}})
		exits := testkit.Exits
		run := 0
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			run++
			return exits[run-1].Leave()
		}, executor.ContinueAfterPanic(), executor.Times(len(exits))))
		elapse(time.Duration(len(exits)-2) * time.Second)
		if perr := (*executor.PanicError)(nil); !errors.As(s.LastError(), &perr) {
			t.Errorf("last error %v, want a PanicError", s.LastError())
		}
		expect(t, "outcome", s.Wait(t.Context()), nil)
		synctest.Wait()
		expect(t, "panics", len(panics), 4)
		expect(t, "calls of AfterTask", len(errs), len(exits))
		i := s.Info()
		expect(t, "runs", i.Runs, int64(len(exits)))
		expect(t, "failures", i.Failures, int64(len(exits)-1))
		expectIs(t, "last error", s.LastError(), executor.ErrGoexit)
	})
}

// Schedules lists every series that is not done, also one that runs and one that is paused, in the
// order of the next runs. Tasks that run once are not among them.
func TestSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := scheduled(t, 2), newBlocker(t)
		must := mustRepeat(t)
		must(p.AtFixedRate(t.Context(), time.Hour, time.Hour, nop, executor.Named("paused"))).Pause()
		must(p.WithFixedDelay(t.Context(), 0, time.Minute, block.Run, executor.Named("running")))
		must(p.On(t.Context(), cron.MustParse("CRON_TZ=UTC 30 2 * * *"), nop, executor.Named("nightly")))
		must(p.AtFixedRate(t.Context(), time.Minute, time.Hour, nop, executor.Named("hourly")))
		must(p.AtFixedRate(t.Context(), time.Minute, time.Hour, nop, executor.Named("canceled"))).Cancel()
		must(p.AtFixedRate(t.Context(), 0, time.Hour, nop, executor.Named("over"), executor.Times(1)))
		executor.SubmitAfter(t.Context(), p, time.Hour, nopValue, executor.Named("once"))
		elapse(time.Second)
		var got []string
		for _, i := range p.Schedules() {
			got = append(got, fmt.Sprintf("%s, %v: %v, paused %t, next %s",
				i.Name, i.Rhythm, i.State, i.Paused, i.Next.Format("02 15:04 MST")))
		}
		want := []string{
			"hourly, every 1h0m0s: pending, paused false, next 01 00:01 UTC",
			"nightly, CRON_TZ=UTC 30 2 * * *: pending, paused false, next 01 02:30 UTC",
			"paused, every 1h0m0s: pending, paused true, next 01 00:00 UTC",
			"running, 1m0s after each run: running, paused false, next 01 00:00 UTC",
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The work finds its own series in the list, from its first run on, and not when it is done.
func TestSchedulesListedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			if all := p.Schedules(); len(all) != 1 || all[0].RunningSince != time.Now() {
				t.Errorf("listed %+v", all)
			}
			return executor.ErrStop
		}))
		done := 1
		s.OnDone(func() { done = len(p.Schedules()) })
		<-s.Done()
		expect(t, "listed after the end", len(p.Schedules()), 0)
		synctest.Wait()
		expect(t, "listed by OnDone", done, 0)
	})
}

// A series that is not accepted is not listed.
func TestSchedulesRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := scheduled(t, 1)
		for name, policy := range map[string]executor.RejectPolicy{
			"abort":   executor.Abort,
			"discard": executor.Discard,
			"elsewhere": executor.RejectFunc(func(ctx context.Context, r executor.Runnable, _ *executor.Pool) error {
				return other.Execute(ctx, r)
			}),
		} {
			p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Reject: policy})
			p.Shutdown()
			s, err := p.AtFixedRate(t.Context(), 0, time.Second, nop)
			synctest.Wait()
			expect(t, name+": listed", len(p.Schedules()), 0)
			if err != nil {
				continue
			}
			expect(t, name+": RunNow", s.RunNow(), executor.ErrDone)
			expect(t, name+": Pause", s.Pause(), false)
			expect(t, name+": Resume", s.Resume(), false)
			expect(t, name+": Reschedule", s.Reschedule(executor.FixedRate(1)), executor.ErrDone)
		}
	})
}

// Info has what the runs were up to now, during a run too.
func TestScheduleInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		begin := time.Now()
		at := func(d time.Duration) time.Time { return begin.Add(d) }
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Minute, time.Minute, func(context.Context) error {
			time.Sleep(10 * time.Second)
			if time.Since(begin) < 2*time.Minute {
				return errTask
			}
			return nil
		}, executor.Named("x")))
		for _, c := range []struct {
			elapse time.Duration
			want   executor.ScheduleInfo
		}{
			{0, executor.ScheduleInfo{Next: at(time.Minute)}},
			{65 * time.Second, executor.ScheduleInfo{
				State: executor.Running, Next: at(2 * time.Minute), RunningSince: at(time.Minute)}},
			{10 * time.Second, executor.ScheduleInfo{
				Next: at(2 * time.Minute), Runs: 1, Failures: 1,
				LastStart: at(time.Minute), LastDuration: 10 * time.Second, LastError: errTask}},
			{50 * time.Second, executor.ScheduleInfo{
				State: executor.Running, Next: at(3 * time.Minute), Runs: 1, Failures: 1, LastStart: at(time.Minute),
				RunningSince: at(2 * time.Minute), LastDuration: 10 * time.Second, LastError: errTask}},
			{10 * time.Second, executor.ScheduleInfo{
				Next: at(3 * time.Minute), Runs: 2, Failures: 1,
				LastStart: at(2 * time.Minute), LastDuration: 10 * time.Second}},
		} {
			elapse(c.elapse)
			got := s.Info()
			c.want.Series, c.want.Name, c.want.Rhythm = s, "x", "every 1m0s"
			if shown, want := fmt.Sprintf("%+v", shownOf(got)), fmt.Sprintf("%+v", shownOf(c.want)); shown != want {
				t.Errorf("after %v\n%s, want\n%s", time.Since(begin), shown, want)
			}
		}
	})
}

// shownOf returns i without what is not exported.
func shownOf(i executor.ScheduleInfo) executor.ScheduleInfo {
	return executor.ScheduleInfo{
		Series: i.Series, Name: i.Name, Rhythm: i.Rhythm, State: i.State, Paused: i.Paused, Next: i.Next, Runs: i.Runs,
		Failures: i.Failures, LeftOut: i.LeftOut, RunningSince: i.RunningSince, LastStart: i.LastStart,
		LastDuration: i.LastDuration, LastError: i.LastError,
	}
}

// A body that ignores the end of its context is still shown as running when its series is
// canceled; a run whose BeforeTask hook failed is not.
func TestScheduleInfoRunningSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := false
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
				if fails {
					panic("no")
				}
				return ctx
			},
		}})
		block := newBlocker(t)
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, block.Run))
		synctest.Wait()
		s.Cancel()
		expect(t, "canceled: running", s.Info().RunningSince.IsZero(), false)
		block.Release()
		synctest.Wait()
		expect(t, "returned: running", s.Info().RunningSince.IsZero(), true)
		expect(t, "returned: runs", s.Info().Runs, 1)
		fails = true
		s = mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, nop))
		synctest.Wait()
		expect(t, "failed: running", s.Info().RunningSince.IsZero(), true)
	})
}

// A series that ends when a worker takes it, before its function is called, has no run in progress.
func TestScheduleInfoRunningNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		block := newBlocker(t)
		block.Fill(t, p.Pool, 1)
		ctx := &silentContext{Context: t.Context()}
		s := mustRepeat(t)(p.AtFixedRate(ctx, 0, time.Minute, nop))
		ctx.over = true
		block.Release()
		synctest.Wait()
		testkit.StateIs(t, "the series", s, executor.Canceled)
		expect(t, "running", s.Info().Running, 0)
		expect(t, "running since", s.Info().RunningSince, time.Time{})
	})
}

// NextN returns the times of the next runs, as far as there are any.
func TestScheduleInfoNextN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := scheduled(t, 4), time.Now()
		trigger := cron.MustParse("CRON_TZ=UTC 0 9 * * mon")
		must := mustRepeat(t)
		for _, c := range []struct {
			name string
			s    *executor.Series
			n    int
			want string
		}{
			{"rate", must(p.AtFixedRate(t.Context(), time.Second, time.Minute, nop)), 3, "[1s 1m1s 2m1s]"},
			{"rate and Times", must(p.AtFixedRate(t.Context(), time.Second, time.Minute, nop, executor.Times(2))), 3, "[1s 1m1s]"},
			{"rate and Until", must(p.AtFixedRate(t.Context(), time.Second, time.Minute, nop,
				executor.Until(begin.Add(time.Minute)))), 3, "[1s]"},
			{"no times asked for", must(p.AtFixedRate(t.Context(), time.Second, time.Minute, nop)), 0, "[]"},
			{"rate to the end of time", must(p.AtFixedRate(t.Context(), time.Second, 1<<62, nop)), 3,
				"[1s 1281023h53m39.427387904s]"},
			{"delay", must(p.WithFixedDelay(t.Context(), time.Second, time.Minute, nop)), 3, "[1s]"},
			{"trigger", must(p.On(t.Context(), trigger, nop)), 2, "[57h0m0s 225h0m0s]"},
			{"trigger with one time", must(p.On(t.Context(), launch{begin.Add(time.Hour)}, nop)), 3, "[1h0m0s]"},
			{"paused", must(p.AtFixedRate(t.Context(), 0, time.Minute, nop, executor.StartPaused())), 3, "[]"},
			{"last run in progress", must(p.AtFixedRate(t.Context(), 0, time.Minute, testkit.AnHour, executor.Times(1))), 3, "[]"},
			{"run in progress", must(p.AtFixedRate(t.Context(), 0, time.Minute, testkit.AnHour, executor.Times(3))), 3, "[1m0s 2m0s]"},
		} {
			synctest.Wait()
			times := []time.Duration{}
			for _, at := range c.s.Info().NextN(c.n) {
				times = append(times, at.Sub(begin))
			}
			expect(t, c.name, fmt.Sprint(times), c.want)
		}
	})
}

// A trigger that panics in Info is left to the worker, which asks it too.
func TestScheduleInfoTriggerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block, broken := scheduled(t, 1), newBlocker(t), false
		s := mustRepeat(t)(p.On(t.Context(), testkit.TriggerFunc(func(at time.Time) time.Time {
			if broken {
				panic("bad")
			}
			return at.Add(time.Second)
		}), block.Run))
		elapse(time.Second)
		info := s.Info()
		broken = true
		expect(t, "NextN", len(info.NextN(3)), 1)
		expect(t, "Next", s.Info().Next, time.Time{})
		expect(t, "listed", len(p.Schedules()), 1)
		block.Release()
		testkit.StateIs(t, "the series", s, executor.Failed)
	})
}

// The text of a Trigger is asked for with no lock held, and may panic.
func TestScheduleInfoTriggerText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trigger := &wordyTrigger{}
		s := mustRepeat(t)(scheduled(t, 1).On(t.Context(), trigger, nop))
		trigger.words = func() string { return fmt.Sprint(s.Runs(), " runs") }
		expect(t, "text", s.Info().Rhythm, "0 runs")
		trigger.words = func() string { panic("bad") }
		expect(t, "text that panics", s.Info().Rhythm, "%!v(PANIC=String method: bad)")
		expect(t, "runs", s.Runs(), 0)
	})
}

type wordyTrigger struct{ words func() string }

func (*wordyTrigger) Next(t time.Time) time.Time { return t.Add(time.Second) }
func (w *wordyTrigger) String() string           { return w.words() }

// A snapshot is written as JSON with words for rhythm and state.
func TestScheduleInfoJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, 5*time.Minute, nop, executor.Named("tidy")))
		text, err := json.Marshal(s.Info())
		expect(t, "error", err, nil)
		for _, want := range []string{`"Name":"tidy"`, `"Rhythm":"every 5m0s"`, `"State":"pending"`, `"Paused":false`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	})
}

// Series may be managed and listed while workers run them and the pool shuts down.
func TestSchedulesConcurrently(t *testing.T) {
	for range testkit.Scale(20) {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Workers: 2})
			tick := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Add(2) })
			var wg sync.WaitGroup
			for range 3 {
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 1, nop, executor.Times(300)))
				for _, f := range []func(){
					func() { s.Pause() },
					func() { s.Resume() },
					func() { s.RunNow() },
					func() { s.Reschedule(tick) },
					func() { s.Reschedule(executor.FixedRate(1)) },
					func() { s.Next() },
					func() { p.Schedules() },
				} {
					wg.Go(func() {
						for range 50 {
							f()
							time.Sleep(time.Nanosecond)
						}
					})
				}
			}
			wg.Wait()
			for _, i := range p.Schedules() {
				i.Series.Resume()
				i.Series.Wait(t.Context())
				expect(t, "runs", i.Series.Runs(), 300)
			}
			p.Shutdown()
			expect(t, "listed", len(p.Schedules()), 0)
		})
	}
}

// A task may wait for a series that it has submitted to its own pool, with whatever context: the pool makes all runs.
func TestSeriesOfTaskThatWaits(t *testing.T) {
	own := func(ctx context.Context) context.Context { return ctx }
	for name, submitted := range map[string]func(context.Context) context.Context{
		"its own context": own, "WithoutCancel": context.WithoutCancel,
	} {
		for _, wait := range []func(*executor.Series, context.Context) error{(*executor.Series).Wait, (*executor.Series).Join} {
			synctest.Test(t, func(t *testing.T) {
				p := scheduled(t, 2)
				f := executor.Submit(t.Context(), p, func(ctx context.Context) (int64, error) {
					s, err := p.AtFixedRate(submitted(ctx), 0, time.Second, nop, executor.Times(3))
					if err != nil {
						return 0, err
					}
					err = wait(s, ctx)
					return s.Runs(), err
				})
				elapse(time.Minute)
				runs, err := f.Result()
				expect(t, name+": outcome", err, nil)
				expect(t, name+": runs", runs, 3)
			})
		}
	}
}
