package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/internal/testkit"
)

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
		executor.Schedule(t.Context(), p, time.Hour, nopValue, executor.Named("once"))
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
			return executor.Stop
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
			p := newScheduled(t, executor.ScheduledConfig{Core: 1, Reject: policy})
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
			c.want.Series, c.want.Name, c.want.Rhythm = s, "x", executor.FixedRate(time.Minute)
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
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
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
		broken = true
		expect(t, "Next", s.Info().Next, time.Time{})
		expect(t, "listed", len(p.Schedules()), 1)
		block.Release()
		testkit.StateIs(t, "the series", s, executor.Failed)
	})
}

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
		expect(t, "zero Rhythm", executor.Rhythm{}.String(), "none")
	})
}

// Series may be managed and listed while workers run them and the pool shuts down.
func TestSchedulesConcurrently(t *testing.T) {
	for range testkit.Scale(20) {
		synctest.Test(t, func(t *testing.T) {
			decorate := func(inner executor.ScheduledTask) executor.ScheduledTask {
				return &testkit.Decoration{ScheduledTask: inner}
			}
			p := newScheduled(t, executor.ScheduledConfig{Core: 2, Decorate: decorate})
			tick := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Add(2) })
			var wg sync.WaitGroup
			for range 3 {
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 1, nop, executor.Times(300)))
				for _, f := range []func(){
					func() { s.Pause() },
					func() { s.Resume() },
					func() { s.RunNow() },
					func() { s.Reschedule(executor.OnTrigger(tick)) },
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
