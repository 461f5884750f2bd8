package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
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
		expect(t, "Delay is long", s.Delay() > 100*365*24*time.Hour, true)
		expect(t, "State", s.State(), executor.Pending)
		expect(t, "queued", waitStats(t, p.Pool).Queued, 1)
		elapse(30 * time.Second)
		expect(t, "Resume", s.Resume(), true)
		expect(t, "Delay", s.Delay(), 5*time.Second)
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
		expect(t, "Delay after a short pause", s.Delay(), 8*time.Second)
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
		s := mustRepeat(t)(p.On(t.Context(), testkit.Hourly, d.Func("x"), executor.CatchUp()))
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
		expect(t, "Delay", s.Delay(), 7*time.Second)
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
		"[x@500ms x@4s]":                      {executor.SkipMissed()},
		"[x@500ms x@3.5s x@4s]":               {executor.RunMissedOnce()},
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
	rhythms := map[string]executor.Rhythm{
		"every 10s":          executor.FixedRate(10 * time.Second),
		"10s after each run": executor.FixedDelay(10 * time.Second),
		"testkit.TriggerFunc": executor.OnTrigger(testkit.TriggerFunc(func(t time.Time) time.Time {
			return t.Add(10 * time.Second)
		})),
	}
	for from, old := range rhythms {
		for to, rhythm := range rhythms {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func(to)))
				expect(t, "Reschedule", s.Reschedule(old), nil)
				expect(t, "rhythm", s.Info().Rhythm.String(), from)
				elapse(25 * time.Second)
				expect(t, "Reschedule", s.Reschedule(rhythm), nil)
				expect(t, "rhythm", s.Info().Rhythm.String(), to)
				expect(t, "Delay", s.Delay(), 10*time.Second)
				elapse(21 * time.Second)
				d.Check(t, to+"@10s", to+"@20s", to+"@35s", to+"@45s")
			})
		}
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
		s.Reschedule(executor.OnTrigger(testkit.TriggerFunc(func(at time.Time) time.Time {
			if asked.Add(1) == 2 {
				s.Pause()
			}
			return at.Add(time.Second)
		})))
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
		s.Reschedule(executor.OnTrigger(testkit.Hourly))
		release()
		elapse(time.Hour)
		d.Check(t, "x@0s", "x@1h0m0s")
	})
}

// A rhythm without a time is an error, and the series stays as it is.
func TestSeriesRescheduleInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, d.Func("x"), executor.SkipMissed(),
			executor.Until(time.Now().Add(2*time.Hour))))
		for _, c := range []struct {
			rhythm executor.Rhythm
			text   string
		}{
			{executor.FixedRate(0), "period is 0s; it must be positive"},
			{executor.FixedDelay(-time.Second), "delay is -1s; it must be positive"},
			{executor.OnTrigger(nil), "nil Trigger"},
			{executor.Rhythm{}, "zero Rhythm; use FixedRate, FixedDelay or OnTrigger"},
			{executor.FixedDelay(time.Second),
				"SkipMissed has no effect on a fixed delay, of which no time is missed; leave it out"},
			{executor.OnTrigger(launch{time.Now().UTC().Add(3 * time.Hour)}),
				"the first run would be at 2000-01-01 03:00:00 +0000 UTC, after Until(2000-01-01 02:00:00 +0000 UTC)"},
		} {
			err := s.Reschedule(c.rhythm)
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
		expect(t, "Reschedule panics", testkit.Panics(func() error { return s.Reschedule(executor.OnTrigger(trigger)) }), true)
		broken = false
		expect(t, "Resume", s.Resume(), true)
		elapse(time.Hour)
		d.Check(t, "x@1h0m0s")
	})
}

// Options.

// CatchUp, RunMissedOnce and SkipMissed say what becomes of the times that pass during a run.
func TestSeriesMissed(t *testing.T) {
	second := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })
	for _, c := range []struct {
		opt     executor.Option
		want    string
		leftOut int64
	}{
		{executor.CatchUp(), "[x@1s x@4.5s x@4.5s x@4.5s x@5s]", 0},
		{executor.RunMissedOnce(), "[x@1s x@4.5s x@5s]", 2},
		{executor.SkipMissed(), "[x@1s x@5s]", 3},
	} {
		for _, r := range []executor.Rhythm{executor.FixedRate(time.Second), executor.OnTrigger(second)} {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 1), newDiary()
				body := d.Func("x", 3500*time.Millisecond)
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, c.opt))
				s.Reschedule(r)
				elapse(5500 * time.Millisecond)
				expect(t, r.String(), fmt.Sprint(d.Notes()), c.want)
				expect(t, r.String()+": left out", s.Info().LeftOut, c.leftOut)
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
		s.Reschedule(executor.OnTrigger(testkit.TriggerFunc(func(t time.Time) time.Time {
			return t.Truncate(time.Second).Add(time.Second)
		})))
		elapse(5 * time.Second)
		d.Check(t, "x@1s", "x@4.5s", "x@4.5s", "x@4.5s", "x@5s", "x@6s", "x@10s")
	})
}

// Two rules for missed times exclude each other.
func TestSeriesMissedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		_, err := p.AtFixedRate(t.Context(), 0, time.Second, nop, executor.CatchUp(), executor.SkipMissed())
		expectIs(t, "error", err, executor.ErrInvalid)
		expect(t, "text", fmt.Sprint(err), "executor: SkipMissed excludes CatchUp; leave out one of them")
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
		{time.Second / 2, executor.SkipMissed(), "[x@10s x@15s x@16s]", 13},
		{time.Second, executor.CatchUp(), "[x@9.5s x@10s x@14.5s x@15s x@16s]", 11},
		{time.Second / 2, executor.RunMissedOnce(), "[x@9.5s x@10s x@14.5s x@15s x@16s]", 11},
		{time.Second / 4, executor.RunMissedOnce(), "[x@10s x@15s x@16s]", 13},
	} {
		grid := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })
		for _, rhythm := range []executor.Rhythm{executor.FixedRate(time.Second), executor.OnTrigger(grid)} {
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
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
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
