package durable_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A zone that only looks like a fixed one, or is what the name says, is kept.
func TestScheduleKeepsZoneByName(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[int, int](jobs, "k")
	berlin := must(time.LoadLocation("Europe/Berlin"))
	for key, s := range map[string]cron.Schedule{
		"utc": inZone("UTC", 0), "mst": inZone("MST", -7*time.Hour), "local": must(cron.ParseIn("0 12 * * *", time.Local)),
		"berlin": must(cron.ParseIn("0 12 * * *", berlin)), "named": cron.MustParse("CRON_TZ=Asia/Tokyo 0 12 * * *"),
		"every": must(cron.ParseIn("@every 1h", time.FixedZone("EST", 0))),
	} {
		id, err := k.On(t.Context(), key, s, 1)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if j := must(jobs.Get(t.Context(), id)); key != "every" && !j.Due.Equal(s.Next(j.Due.Add(-time.Second))) {
			t.Errorf("%s: the first time is %v", key, j.Due)
		}
	}
}

// What was due while no node was there is treated as the policy says: coalesced into one run for the latest, left out,
// or caught up with.
func TestMissedPolicies(t *testing.T) {
	for name, test := range map[string]struct {
		missed durable.Missed
		want   []time.Duration // occurrences, since the first registration
	}{
		"Coalesce":    {durable.Coalesce(), []time.Duration{10 * time.Minute, 11 * time.Minute}},
		"Skip":        {durable.Skip(10 * time.Second), []time.Duration{11 * time.Minute}},
		"SkipOverlap": {durable.SkipOverlap(), []time.Duration{10 * time.Minute, 11 * time.Minute}},
		"SkipInGrace": {durable.Skip(45 * time.Second), []time.Duration{10 * time.Minute, 11 * time.Minute}},
		"CatchUp":     {durable.CatchUp(3), []time.Duration{8 * time.Minute, 9 * time.Minute, 10 * time.Minute, 11 * time.Minute}},
	} {
		for schedule, add := range map[string]func(*durable.Kind[string, string], context.Context) (durable.ID, error){
			"rate": func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
				return k.AtFixedRate(ctx, "key", time.Minute, time.Minute, "", durable.OnMissed(test.missed))
			},
			"cron":  on(cron.MustParse("CRON_TZ=UTC * * * * *"), test.missed),
			"every": on(cron.MustParse("@every 1m"), test.missed),
			"named": on(durable.NamedTrigger("named"), test.missed),
		} {
			t.Run(name+"/"+schedule, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					jobs := newJobs(t, store, func(c *durable.Config) {
						c.Triggers = map[string]executor.Trigger{"named": cron.MustParse("@every 1m")}
					})
					var d diary
					k := durable.Handle(jobs, "k", d.handler)
					begun := time.Now().UTC().Round(0)
					must(add(k, t.Context()))
					time.Sleep(10*time.Minute + 30*time.Second)
					start(t, jobs)
					time.Sleep(time.Minute)
					var got []time.Duration
					for _, j := range d.all() {
						got = append(got, j.Occurrence.Sub(begun))
					}
					if !slices.Equal(got, test.want) {
						t.Errorf("ran for %v, want %v", got, test.want)
					}
				})
			})
		}
	}
}

// A policy that catches up with everything does so whatever the period: the number of periods times their length may be
// more than a Duration holds.
func TestCatchUpOfLongPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		store := memory.New()
		jobs, k, d := newNode(t, store)
		begun := time.Now().UTC().Round(0)
		must(k.AtFixedRate(t.Context(), "key", day, day, "", durable.OnMissed(durable.CatchUp(1<<20))))
		time.Sleep(3*day + time.Hour)
		start(t, jobs)
		time.Sleep(time.Minute)
		var got []time.Duration
		for _, j := range d.all() {
			got = append(got, j.Occurrence.Sub(begun))
		}
		if want := []time.Duration{day, 2 * day, 3 * day}; !slices.Equal(got, want) {
			t.Errorf("ran for %v, want %v", got, want)
		}
	})
}

// The run for what was missed is for the latest time that the trigger returns if it is asked about one time after the
// other, whatever the trigger is; and it is not asked often, however much was missed.
func TestCoalesceFindsLatestTimeOfTrigger(t *testing.T) {
	const day = 24 * time.Hour
	begun := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of the bubble
	for what, test := range map[string]struct {
		next       func(time.Time) time.Time
		away, want time.Duration
	}{
		"hours that change their minute": {func(t time.Time) time.Time {
			if t.Sub(begun) == 4*time.Hour {
				return t.Add(20 * time.Minute)
			}
			return t.Add(time.Hour)
		}, 10*time.Hour + 30*time.Minute, 10*time.Hour + 20*time.Minute},
		"an hour is over":       {cron.MustParse("@every 1h").Next, time.Hour, time.Hour},
		"many seconds":          {cron.MustParse("@every 1s").Next, 30*day + time.Second/3, 30 * day},
		"many parts of seconds": {cron.MustParse("@every 7ns").Next, time.Hour, time.Hour},
		"many minutes":          {cron.MustParse("CRON_TZ=UTC * * * * *").Next, 30*day + time.Second, 30 * day},
		"many minutes by day":   {cron.MustParse("CRON_TZ=UTC * 9-17 * * *").Next, 90*day + 20*time.Hour, 90*day + 18*time.Hour - time.Minute},
		"days of a summer": {cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *").Next,
			200*day + 20*time.Hour, 200*day + 30*time.Minute},
		"many seconds, and a part of one": {func(t time.Time) time.Time {
			n, part := t.Truncate(time.Second).Add(time.Second), begun.Add(30*day+time.Second/4)
			if t.Before(part) && part.Before(n) {
				return part
			}
			return n
		}, 30*day + time.Second/2, 30*day + time.Second/4},
		"one time": {func(t time.Time) time.Time {
			if t.Before(begun.Add(time.Hour)) {
				return begun.Add(time.Hour)
			}
			return time.Time{}
		}, 10 * time.Hour, time.Hour},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := &trigger{next: test.next}
				jobs := newJobs(t, memory.New(),
					func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"named": tr} })
				first := make(chan durable.Job, 1)
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					j, _ := durable.Current(ctx)
					first <- j
					return "", executor.ErrStop
				})
				must(k.On(t.Context(), "key", durable.NamedTrigger("named"), ""))
				time.Sleep(test.away)
				start(t, jobs)
				if j := <-first; j.Occurrence.Sub(begun) != test.want {
					t.Errorf("ran for %v, want %v", j.Occurrence.Sub(begun), test.want)
				}
				if n := tr.calls.Load(); n > 40_000 {
					t.Errorf("the trigger was asked %d times", n)
				}
			})
		})
	}
}

// A job with a fixed delay misses nothing, whatever its policy: after a pause it runs at once, and again a delay after
// that.
func TestFixedDelayMissesNothing(t *testing.T) {
	for _, missed := range []durable.Missed{durable.Coalesce(), durable.Skip(time.Second), durable.CatchUp(3)} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			var d diary
			var jobs *durable.Jobs
			run := func() (stop func()) {
				jobs = newJobs(t, store, lazy)
				k := durable.Handle(jobs, "k", d.handler)
				stop = start(t, jobs)
				must(k.WithFixedDelay(t.Context(), "key", time.Hour, time.Hour, "", durable.OnMissed(missed)))
				return stop
			}
			begun := time.Now()
			stop := run()
			time.Sleep(90 * time.Minute) // one run
			stop()
			time.Sleep(10 * time.Hour)
			stop = run()
			time.Sleep(90 * time.Minute) // one at once, one an hour later
			stop()
			d.wants(t, begun, time.Hour, 11*time.Hour+30*time.Minute, 12*time.Hour+30*time.Minute)
		})
	}
}

// A schedule that its handler has ended stays ended when it is registered again, with the same times or others, until
// it is pruned; then it is a new one. That is a day after its end, however often it was registered with other times
// since.
func TestScheduleStaysEndedUntilPruned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, executor.ErrStop })
		stop := start(t, jobs)
		register := func(period time.Duration) durable.Job {
			id := must(k.AtFixedRate(t.Context(), "key", 0, period, 1))
			time.Sleep(time.Minute)
			return must(jobs.Get(t.Context(), id))
		}
		first := register(time.Second)
		if again := register(2 * time.Second); again.ID != first.ID || again.State != durable.Succeeded ||
			again.Runs != 1 {
			t.Errorf("registered again it is %+v", again)
		}
		time.Sleep(13 * time.Hour)
		register(3 * time.Second)
		time.Sleep(12 * time.Hour)
		if later := register(time.Second); later.ID == first.ID || later.Runs != 1 {
			t.Errorf("registered a day later it is %+v", later)
		}
		stop()
	})
}

// A job begins at its time to the microsecond, wherever it was added and however far ahead.
func TestJobBeginsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs, here, d := newNode(t, store)
		elsewhere := durable.KindOf[string, string](newJobs(t, store), "k")
		start(t, jobs)
		begun := time.Now().Round(0)
		var want []time.Duration
		for _, delay := range []time.Duration{0, 5 * time.Millisecond, 300 * time.Millisecond, time.Second,
			10 * time.Second, 3 * time.Hour} {
			must(here.AddAfter(t.Context(), delay, ""))
			want = append(want, delay)
		}
		must(elsewhere.AddAfter(t.Context(), 4*time.Second, ""))
		must(elsewhere.AddAt(t.Context(), begun.Add(5*time.Second), ""))
		want = append(want, 4*time.Second, 5*time.Second)
		slices.Sort(want)
		time.Sleep(4 * time.Hour)
		d.wants(t, begun, want...)
	})
}

// Work at a fixed rate keeps to its grid, however long a run takes.
func TestFixedRateKeepsGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(70 * time.Millisecond)
			return "", nil
		})
		start(t, jobs)
		begun := time.Now()
		must(k.AtFixedRate(t.Context(), "key", 50*time.Millisecond, 100*time.Millisecond, ""))
		time.Sleep(400 * time.Millisecond)
		d.wants(t, begun, 50*time.Millisecond, 150*time.Millisecond, 250*time.Millisecond, 350*time.Millisecond)
	})
}

// Work with a fixed delay waits for it from the end of each run.
func TestFixedDelayCountsFromEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(time.Second)
			return "", nil
		})
		start(t, jobs)
		begun := time.Now()
		must(k.WithFixedDelay(t.Context(), "key", 0, time.Minute, ""))
		time.Sleep(2*time.Minute + 10*time.Second)
		d.wants(t, begun, 0, 61*time.Second, 122*time.Second)
	})
}

// A cron schedule runs at its times.
func TestCronRunsAtItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New(), lazy)
		start(t, jobs)
		must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), ""))
		time.Sleep(48 * time.Hour)
		midnight := time.Date(2000, 1, 1, 1, 30, 0, 0, time.UTC) // the bubble begins at 2000-01-01 00:00 UTC
		d.wants(t, midnight, 0, 24*time.Hour)
	})
}

type everyTuesday struct{}

func (everyTuesday) Next(t time.Time) time.Time {
	for t = t.Truncate(24 * time.Hour).Add(24 * time.Hour); t.Weekday() != time.Tuesday; {
		t = t.Add(24 * time.Hour)
	}
	return t
}

// A trigger that is code is found by its name.
func TestNamedTriggerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy, func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"tuesday": everyTuesday{}}
		})
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		must(k.On(t.Context(), "key", durable.NamedTrigger("tuesday"), ""))
		time.Sleep(14 * 24 * time.Hour)
		d.wants(t, time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC), 0, 7*24*time.Hour)
	})
}

// A schedule since an instant keeps its times, whenever the program starts and registers it.
func TestScheduleSinceAnInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		first := time.Date(1999, 12, 28, 14, 0, 0, 0, time.UTC) // a Tuesday
		for range 21 {
			jobs := newJobs(t, store, lazy)
			k := durable.Handle(jobs, "k", d.handler)
			stop := start(t, jobs)
			must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=UTC @since 1999-12-28 14:00 every 7d"), ""))
			time.Sleep(24 * time.Hour)
			stop()
		}
		const week = 7 * 24 * time.Hour
		d.wants(t, first, week, 2*week, 3*week)
	})
}

// Many nodes register a schedule, again and again, and each occurrence runs once.
func TestScheduleRunsOnceAmongManyNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		begun := time.Now()
		for range 5 {
			jobs := newJobs(t, store)
			k := durable.Handle(jobs, "k", d.handler)
			start(t, jobs)
			must(k.AtFixedRate(t.Context(), "key", time.Second, time.Second, ""))
		}
		time.Sleep(3*time.Second + 500*time.Millisecond)
		d.wants(t, begun, time.Second, 2*time.Second, 3*time.Second)
	})
}

// A weekly job runs weekly though its service starts anew every day.
func TestScheduleOutlastsRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		begun := time.Now()
		const week = 7 * 24 * time.Hour
		for range 16 {
			jobs := newJobs(t, store, lazy)
			k := durable.Handle(jobs, "k", d.handler)
			stop := start(t, jobs)
			must(k.AtFixedRate(t.Context(), "key", week, week, ""))
			time.Sleep(24 * time.Hour)
			stop()
		}
		d.wants(t, begun, week, 2*week)
	})
}

// A schedule in the local zone is that of the node that reads it, by whatever name TZ calls the zone here: it may be a
// path, which is no name.
func TestScheduleInLocalZone(t *testing.T) {
	defer func(local *time.Location) { time.Local = local }(time.Local)
	for _, name := range []string{"/usr/share/zoneinfo/Asia/Kolkata", "Asia/Kolkata", "Local"} {
		time.Local = time.FixedZone(name, 19800)
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, memory.New(), lazy)
			k := durable.Handle(jobs, "k", new(diary).handler)
			id, err := k.On(t.Context(), "key", cron.MustParse("30 2 * * *"), "")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := must(jobs.Get(t.Context(), id)).Schedule, "cron CRON_TZ=Local 30 2 * * *"; got != want {
				t.Errorf("TZ=%s: %q, want %q", name, got, want)
			}
		})
	}
}

// A schedule goes on 400 years after its first time, which is more than a Duration holds.
func TestFixedRateGoesOnForCenturies(t *testing.T) {
	for _, missed := range []durable.Missed{durable.Coalesce(), durable.SkipOverlap(), durable.CatchUp(2)} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			jobs, k, d := newNode(t, store)
			id := must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", durable.OnMissed(missed)))
			n := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "rate 1h0m0.5s", Payload: []byte(`""`),
				Missed: must(jobs.Get(t.Context(), id)).Missed, Attempts: 1,
				Due: time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)}
			must(store.Insert(t.Context(), []durable.NewJob{n}, durablestore.Placement{}))
			now := must(store.Now(t.Context()))
			start(t, jobs)
			j := must(jobs.Get(t.Context(), id))
			if left := j.Due.Sub(now); d.count() == 0 || left <= 0 || left > time.Hour {
				t.Errorf("after %d runs the job is %+v at %v", d.count(), j, now)
			}
			if last := d.all()[d.count()-1].Occurrence; now.Sub(last) < 0 || now.Sub(last) > time.Hour {
				t.Errorf("the last run was for %v at %v", last, now)
			}
		})
	}
}

// A trigger that returns a time which is not later than the one that it was asked about makes the job dead after the
// run, instead of running it for ever, and is invalid when it is registered.
func TestTriggerThatDoesNotGoForward(t *testing.T) {
	for _, back := range []time.Duration{0, time.Nanosecond, 100 * 365 * 24 * time.Hour} {
		for _, missed := range []durable.Missed{durable.Coalesce(), durable.SkipOverlap(), durable.CatchUp(3)} {
			synctest.Test(t, func(t *testing.T) {
				broken := false
				tr := &trigger{next: func(t time.Time) time.Time {
					if broken {
						return t.Add(-back)
					}
					return t.Add(time.Minute)
				}}
				jobs := newJobs(t, memory.New(), func(c *durable.Config) {
					c.Triggers = map[string]executor.Trigger{"t": tr}
				})
				runs := 0
				k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { runs++; return "", nil })
				id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), "", durable.OnMissed(missed)))
				broken = true
				start(t, jobs)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				j := must(jobs.Get(t.Context(), id))
				if runs != 1 || j.State != durable.Dead || !strings.Contains(j.Error, "which is not later") {
					t.Errorf("%v, %v: %d runs; job is %+v", back, missed, runs, j)
				}
				_, err := k.On(t.Context(), "other", durable.NamedTrigger("t"), "")
				if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "which is not later") {
					t.Errorf("the error is %v", err)
				}
			})
		}
	}
}

// So does one that stops among the times which pass during a run, and are left out.
func TestTriggerThatStopsDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := time.Now().Add(3 * time.Hour)
		jobs := newJobs(t, memory.New(), lazy, func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"t": &trigger{next: func(t time.Time) time.Time {
				if t.Before(stop) {
					t = t.Add(time.Hour)
				}
				return t
			}}}
		})
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, payload string) (string, error) {
			time.Sleep(5 * time.Hour)
			return d.handler(ctx, payload)
		})
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), "", durable.OnMissed(durable.SkipOverlap())))
		start(t, jobs)
		time.Sleep(24 * time.Hour)
		if j := must(jobs.Get(t.Context(), id)); d.count() != 1 || j.State != durable.Dead || !strings.Contains(j.Error, "which is not later") {
			t.Errorf("%d runs; job is %+v", d.count(), j)
		}
	})
}

// A time after the year 9999, which no store keeps, is none: as the first, it is invalid; as the next, it ends the
// schedule.
func TestTriggerBeyondTheYears(t *testing.T) {
	for _, far := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_001, time.UTC)} {
		synctest.Test(t, func(t *testing.T) {
			soon := true
			tr := &trigger{next: func(t time.Time) time.Time {
				if soon {
					return t.Add(time.Minute)
				}
				return far
			}}
			jobs := newJobs(t, memory.New(), func(c *durable.Config) {
				c.Triggers = map[string]executor.Trigger{"t": tr}
			})
			k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
			id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), ""))
			soon = false
			start(t, jobs)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if j := must(jobs.Get(t.Context(), id)); j.State != durable.Succeeded || j.Runs != 1 {
				t.Errorf("%v: job is %+v", far, j)
			}
			if _, err := k.On(t.Context(), "other", durable.NamedTrigger("t"), ""); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%v: the error is %v", far, err)
			}
		})
	}
}
