package durable_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A clocked is a schedule whose store's clock is set: when its runs began, on this machine's clock and on the store's.
type clocked struct {
	store    *memory.Store
	schedule string
	interval time.Duration // the longest time between two of its times
	register func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error)
	takes    time.Duration // a run

	mu   sync.Mutex
	runs []moment
	at   []time.Time // on this machine's clock
}

func (c *clocked) handle(ctx context.Context, _ string) (string, error) {
	j, _ := durable.Current(ctx)
	now, err := c.store.Now(ctx)
	c.mu.Lock()
	c.runs, c.at = append(c.runs, moment{j, now}), append(c.at, time.Now())
	c.mu.Unlock()
	time.Sleep(c.takes)
	return "", err
}

// since returns how many runs began after a time of this machine's clock.
func (c *clocked) since(t time.Time) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.at {
		if at.After(t) {
			n++
		}
	}
	return n
}

// hidden is a trigger that does not say whether its times are fixed.
type hidden struct{ executor.Trigger }

// shown is one that says that they are not.
type shown struct{ executor.Trigger }

func (shown) Fixed() bool { return false }

var clockTriggers = map[string]executor.Trigger{
	"hidden": hidden{cron.MustParse("CRON_TZ=UTC * * * * *")}, "shown": shown{cron.MustParse("CRON_TZ=UTC * * * * *")},
}

// newClocked returns a schedule that a text describes: every and delay with a duration, trigger with a name, else cron.
func newClocked(schedule string, interval time.Duration) *clocked {
	c := &clocked{store: memory.New(), schedule: schedule, interval: interval}
	c.register = func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
		var word string
		var d time.Duration
		if n, _ := fmt.Sscan(schedule, &word); n == 1 {
			switch word {
			case "rate", "delay":
				d, _ = time.ParseDuration(schedule[len(word)+1:])
			case "trigger":
				return k.On(ctx, "key", durable.NamedTrigger(schedule[len(word)+1:]), "")
			}
		}
		switch word {
		case "rate":
			return k.AtFixedRate(ctx, "key", d, d, "")
		case "delay":
			return k.WithFixedDelay(ctx, "key", d, d, "")
		}
		return k.On(ctx, "key", cron.MustParse("CRON_TZ=UTC "+schedule), "")
	}
	return c
}

// begin starts a program with the schedule.
func (c *clocked) begin(t *testing.T, log *slog.Logger) (stop func(), jobs *durable.Jobs, id durable.ID) {
	jobs = newJobs(t, c.store, func(cfg *durable.Config) {
		if cfg.Logger, cfg.Triggers = log, clockTriggers; c.interval > time.Hour {
			lazy(cfg)
		}
	})
	k := durable.Handle(jobs, "k", c.handle)
	id = must(c.register(k, t.Context()))
	return start(t, jobs), jobs, id
}

// repeating are the schedules that follow the clock at once, and how far their times are apart; fixedTimes are the others.
var (
	repeating = map[string]time.Duration{"rate 3s": 3 * time.Second, "rate 10m": 10 * time.Minute, "delay 3s": 3 * time.Second,
		"delay 10m": 10 * time.Minute, "* * * * *": time.Minute, "*/15 * * * *": 15 * time.Minute, "30 * * * *": time.Hour,
		"@every 3s": 3 * time.Second, "@every 10m": 10 * time.Minute, "trigger shown": time.Minute}
	fixedTimes = map[string]time.Duration{"30 2 * * *": 24 * time.Hour, "0,15,30,45 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23 * * *": 15 * time.Minute,
		"trigger hidden": time.Minute}
)

const logSetBack = "the clock of the database was set back"

// A clock that was ahead while a schedule was registered and run, and is put right before the next program starts, stops
// no schedule. One line of the log says so.
func TestSetBackBeforeStartStopsNoSchedule(t *testing.T) {
	for _, all := range []map[string]time.Duration{repeating, fixedTimes} {
		for schedule, interval := range all {
			for _, ahead := range []time.Duration{24 * time.Hour, 30 * 24 * time.Hour, 71 * 365 * 24 * time.Hour} {
				t.Run(fmt.Sprint(schedule, " ", ahead), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c, log := newClocked(schedule, interval), new(logLines)
						c.store.Shift(ahead)
						stop, _, _ := c.begin(t, slog.New(slog.DiscardHandler))
						time.Sleep(2*interval + time.Second)
						stop()
						c.store.Shift(-ahead)
						time.Sleep(time.Minute)
						begun := time.Now()
						_, _, _ = c.begin(t, log.logger())
						time.Sleep(2*interval + 2*time.Second)
						_, isFixed := fixedTimes[schedule]
						if n := c.since(begun); n < 1 || n > 4 {
							t.Errorf("%d runs in two intervals", n)
						}
						if n := log.count(logSetBack); n != 1 && !(isFixed && interval > time.Hour) { // the last run may be less than three hours ahead
							t.Errorf("%d lines of the log:\n%s", n, log.buf.String())
						}
					})
				})
			}
		}
	}
}

// So it is with one that is registered, and not run, while the clock is ahead, and with one that is paused and resumed,
// before the clock is put right or after it, with a program running or not.
func TestSetBackStopsNoScheduleThatDoesNotRun(t *testing.T) {
	const ahead = 30 * 24 * time.Hour
	pause := func(c *clocked, j *durable.Jobs, id durable.ID) { must(j.Pause(context.Background(), id)) }
	resume := func(c *clocked, j *durable.Jobs, id durable.ID) { must(j.Resume(context.Background(), id)) }
	right := func(c *clocked, j *durable.Jobs, id durable.ID) { c.store.Shift(-ahead) }
	for name, does := range map[string][]func(*clocked, *durable.Jobs, durable.ID){
		"registered":                   {right},
		"paused and resumed before":    {pause, resume, right},
		"paused before, resumed after": {pause, right, resume},
		"paused and resumed after":     {right, pause, resume},
		"paused twice":                 {pause, right, pause, resume},
	} {
		for schedule, interval := range repeating {
			for _, running := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " ", schedule, " ", running), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c := newClocked(schedule, interval)
						c.store.Shift(ahead)
						stop, jobs, id := c.begin(t, slog.New(slog.DiscardHandler))
						time.Sleep(interval / 2)
						if !running {
							stop()
						}
						for _, do := range does {
							do(c, jobs, id)
							time.Sleep(100 * time.Millisecond)
						}
						if !running {
							_, _, _ = c.begin(t, slog.New(slog.DiscardHandler))
						}
						begun := time.Now()
						time.Sleep(interval + 5*time.Second)
						if c.since(begun) == 0 {
							t.Errorf("no run in an interval: %+v", must(jobs.Get(t.Context(), id)))
						}
					})
				})
			}
		}
	}
}

// While a program runs, schedules that follow the clock do so at once when it is set back, by any step. Those with fixed
// times repeat none after a step of less than three hours, and follow the clock after a longer one.
func TestSetBackDuringRuns(t *testing.T) {
	steps := []time.Duration{2*time.Hour + 59*time.Minute, 3*time.Hour + time.Minute}
	if os.Getenv("EXECUTOR_LONG") != "" {
		steps = append(steps, 30*time.Minute, 30*24*time.Hour)
	}
	for _, step := range steps {
		for _, all := range []map[string]time.Duration{repeating, fixedTimes} {
			for schedule, interval := range all {
				for _, takes := range []time.Duration{0, 2 * time.Second} {
					t.Run(fmt.Sprint(step, " ", schedule, " ", takes), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							c, log := newClocked(schedule, interval), new(logLines)
							c.takes = takes
							_, jobs, id := c.begin(t, log.logger())
							for c.since(time.Time{}) < 3 {
								time.Sleep(min(interval/6, time.Minute))
							}
							c.store.Shift(-step)
							before := must(c.store.Now(t.Context())).Add(step)
							begun := time.Now()
							wait := interval + 5*time.Second
							if interval > time.Hour {
								wait += time.Hour // it is lazy
							}
							time.Sleep(wait)
							n := c.since(begun)
							_, stays := fixedTimes[schedule]
							if stays = stays && step < 3*time.Hour; n == 0 && !stays {
								t.Errorf("no run in an interval: %+v\n%s", must(jobs.Get(t.Context(), id)), log.buf.String())
							}
							if !stays {
								return
							}
							time.Sleep(step)
							c.mu.Lock()
							defer c.mu.Unlock()
							seen := make(map[time.Time]bool)
							for _, r := range c.runs {
								if seen[r.job.Occurrence] {
									t.Errorf("%v was run twice", r.job.Occurrence)
								}
								seen[r.job.Occurrence] = true
							}
							if last := c.runs[len(c.runs)-1]; interval < time.Hour && last.begun.Before(before) {
								t.Errorf("the last run was at %v, before the step at %v", last.begun, before)
							}
						})
					})
				}
			}
		}
	}
}

// A wait that somebody asked for, for the first run or by Reschedule, is as long as it was to be, and begins anew when
// the clock is put right.
func TestSetBackKeepsWaitsAskedFor(t *testing.T) {
	const ahead, wait = 30 * 24 * time.Hour, 5 * time.Hour
	for name, rescheduled := range map[string]bool{"first": false, "rescheduled": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClocked("rate 1m", time.Minute)
				c.store.Shift(ahead)
				jobs := newJobs(t, c.store)
				k := durable.Handle(jobs, "k", c.handle)
				initial := wait
				if rescheduled {
					initial = time.Minute
				}
				id := must(k.AtFixedRate(t.Context(), "key", initial, time.Minute, ""))
				start(t, jobs)
				if rescheduled {
					time.Sleep(90 * time.Second)
					must(jobs.Reschedule(t.Context(), id, must(c.store.Now(t.Context())).Add(wait)))
				}
				time.Sleep(10 * time.Second)
				c.store.Shift(-ahead)
				begun := time.Now()
				time.Sleep(wait - time.Minute)
				if n := c.since(begun); n != 0 {
					t.Errorf("%d runs during the wait", n)
				}
				time.Sleep(3 * time.Minute)
				if n := c.since(begun); n < 1 || n > 3 {
					t.Errorf("%d runs after the wait", n)
				}
			})
		})
	}
}

// What was rescheduled by a clock that is right stays so when another node starts.
func TestSetBackLeavesRescheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := newClocked("rate 1m", time.Minute), new(logLines)
		stop, jobs, id := c.begin(t, log.logger())
		to := must(c.store.Now(t.Context())).Add(30 * 24 * time.Hour)
		must(jobs.Reschedule(t.Context(), id, to))
		stop()
		_, jobs, _ = c.begin(t, log.logger())
		time.Sleep(10 * time.Minute)
		if j := must(jobs.Get(t.Context(), id)); !j.Due.Equal(to) || log.count(logSetBack) != 0 {
			t.Errorf("due %v, want %v; logged %s", j.Due, to, log.buf.String())
		}
	})
}

// A run that is to be tried again does not wait for the time at which it would have been by the clock as it was.
func TestSetBackDelaysNoRetry(t *testing.T) {
	for name, periodic := range map[string]bool{"schedule": true, "once": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				store.Shift(30 * 24 * time.Hour)
				jobs, second := newJobs(t, store), time.Time{}
				var calls atomic.Int32
				k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
					if calls.Add(1) == 1 {
						time.Sleep(time.Minute)
						return "", context.DeadlineExceeded
					}
					second = time.Now()
					return "", nil
				})
				if periodic {
					must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=UTC 0 0 1 * *"), "", durable.Attempts(3)))
				} else {
					must(k.AddAfter(t.Context(), time.Second, "", durable.Attempts(3)))
				}
				start(t, jobs)
				for calls.Load() == 0 {
					time.Sleep(time.Second)
					synctest.Wait()
				}
				time.Sleep(time.Second)
				store.Shift(-30 * 24 * time.Hour)
				begun := time.Now()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if second.IsZero() || second.Sub(begun) > 2*time.Minute {
					t.Errorf("the second attempt was after %v", second.Sub(begun))
				}
			})
		})
	}
}

// Whatever the schedule and the steps of the clock, nothing stands still for longer than its interval by the clock, and
// no fixed time is run twice unless the clock was set back by three hours or more at once.
func TestSetBackOfAnySteps(t *testing.T) {
	programs := uint64(60)
	if os.Getenv("EXECUTOR_LONG") == "" {
		programs = 6
	}
	for seed := range programs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 48))
				all := repeating
				if r.IntN(3) == 0 {
					all = fixedTimes
				}
				var names []string
				for name, interval := range all {
					if interval <= time.Hour {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				name := names[r.IntN(len(names))]
				c := newClocked(name, all[name])
				c.takes = []time.Duration{0, 0, time.Second, c.interval / 3}[r.IntN(4)]
				stop, jobs, id := c.begin(t, slog.New(slog.DiscardHandler))
				_, isFixed := fixedTimes[name]
				var latest time.Time // shown by the clock since the last step by which fixed times come again
				for range 12 {
					time.Sleep(time.Duration(r.Int64N(int64(3 * c.interval))))
					now := must(c.store.Now(t.Context()))
					if now.After(latest) {
						latest = now
					}
					step := time.Duration(r.Int64N(int64(3 * time.Hour)))
					switch r.IntN(5) {
					case 0:
						step = time.Duration(r.Int64N(int64(3 * time.Second)))
					case 1:
						step = time.Duration(r.Int64N(int64(60 * 24 * time.Hour)))
					}
					if r.IntN(3) == 0 {
						step = -step
					}
					restarts := r.IntN(3) == 0
					if restarts {
						stop()
					}
					if c.store.Shift(-step); step >= 3*time.Hour {
						latest = now.Add(-step)
						c.mu.Lock()
						c.runs = nil
						c.mu.Unlock()
					}
					if restarts {
						stop, jobs, id = c.begin(t, slog.New(slog.DiscardHandler))
					}
					begun := time.Now()
					wait := c.interval + c.takes + 5*time.Second
					if behind := latest.Sub(now.Add(-step)); isFixed && behind > 0 {
						wait += behind
					}
					time.Sleep(wait)
					if c.since(begun) == 0 {
						t.Fatalf("%s, set back by %v, does not run for %v: %+v", name, step, wait, must(jobs.Get(t.Context(), id)))
					}
				}
				seen := make(map[time.Time]bool)
				for _, r := range c.runs {
					if isFixed && seen[r.job.Occurrence] {
						t.Errorf("%s: %v was run twice", name, r.job.Occurrence)
					}
					seen[r.job.Occurrence] = true
				}
			})
		})
	}
}
