package durable_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// diary notes when runs began, and what for.
type diary struct {
	mu    sync.Mutex
	begun []time.Time
	jobs  []durable.Job
}

func (d *diary) note(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = append(d.begun, time.Now().UTC().Round(0))
	j, _ := durable.Current(ctx)
	d.jobs = append(d.jobs, j)
}

func (d *diary) handler(ctx context.Context, _ string) (string, error) {
	d.note(ctx)
	return "", nil
}

// count gives how many runs there were.
func (d *diary) count() int { return len(d.all()) }

// all gives the jobs, as they were in each run.
func (d *diary) all() []durable.Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.jobs)
}

// since gives how long after t each run began.
func (d *diary) since(t time.Time) []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ds []time.Duration
	for _, b := range d.begun {
		ds = append(ds, b.Sub(t))
	}
	return ds
}

func (d *diary) wants(t *testing.T, since time.Time, want ...time.Duration) {
	t.Helper()
	if got := d.since(since); !slices.Equal(got, want) {
		t.Errorf("runs began after %v, want %v", got, want)
	}
}

// A job begins at its time to the microsecond, wherever it was added and however
// far ahead.
func TestJobsBeginAtTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		jobs := newJobs(t, store)
		here := durable.Handle(jobs, "k", d.handler)
		elsewhere := durable.Client[string, string](newJobs(t, store), "k")
		start(t, jobs)
		synctest.Wait()
		begun := time.Now().Round(0)
		var want []time.Duration
		for _, delay := range []time.Duration{0, 5 * time.Millisecond, 300 * time.Millisecond, time.Second, 10 * time.Second, 3 * time.Hour} {
			must(here.Schedule(t.Context(), delay, ""))
			want = append(want, delay)
		}
		must(elsewhere.Schedule(t.Context(), 4*time.Second, ""))
		must(elsewhere.At(t.Context(), begun.Add(5*time.Second), ""))
		want = append(want, 4*time.Second, 5*time.Second)
		slices.Sort(want)
		time.Sleep(4 * time.Hour)
		d.wants(t, begun, want...)
	})
}

// Work at a fixed rate keeps to its grid, however long a run takes.
func TestFixedRateKeepsItsGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(70 * time.Millisecond)
			return "", nil
		})
		start(t, jobs)
		synctest.Wait()
		begun := time.Now()
		must(k.AtFixedRate(t.Context(), "key", 50*time.Millisecond, 100*time.Millisecond, ""))
		time.Sleep(400 * time.Millisecond)
		d.wants(t, begun, 50*time.Millisecond, 150*time.Millisecond, 250*time.Millisecond, 350*time.Millisecond)
	})
}

// Work with a fixed delay waits for it from the end of each run.
func TestFixedDelayCountsFromTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			time.Sleep(time.Second)
			return "", nil
		})
		start(t, jobs)
		synctest.Wait()
		begun := time.Now()
		must(k.WithFixedDelay(t.Context(), "key", 0, time.Minute, ""))
		time.Sleep(2*time.Minute + 10*time.Second)
		d.wants(t, begun, 0, 61*time.Second, 122*time.Second)
	})
}

// A cron schedule runs at its times.
func TestCronRunsAtItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), lazy)
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
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

// A node that does not know a job's trigger, as in the middle of a deployment, does
// the job no harm: each occurrence is run by one that does, and no attempt is used up.
func TestNodeLeavesTriggerThatItDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log strings.Builder
		old := newJobs(t, store, func(c *durable.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		durable.Handle(old, "k", func(context.Context, string) (string, error) { return "", nil })
		stop := start(t, old)

		jobs := newJobs(t, store, func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"hour": cron.MustParse("CRON_TZ=UTC @hourly")}
		})
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("hour"), "", durable.Attempts(1)))
		time.Sleep(90 * time.Minute) // nobody knows it
		if job := must(jobs.Get(t.Context(), id)); job.Attempt > 1 || job.Runs > 0 || !strings.Contains(job.Error, `has no "hour"`) {
			t.Errorf("job is %+v", job)
		}
		start(t, jobs)
		time.Sleep(4*time.Hour + 40*time.Minute)
		stop() // before its log is read
		if n := strings.Count(log.String(), "can't read a job's schedule"); n != 1 {
			t.Errorf("the log says so %d times", n)
		}
		runs := must(jobs.History(t.Context(), id, 0, 100))
		if len(runs) != 6 {
			t.Errorf("%d runs", len(runs))
		}
		for i, run := range runs {
			if want := time.Date(2000, 1, 1, 6-i, 0, 0, 0, time.UTC); !run.Occurrence.Equal(want) || run.Attempt != 1 || run.Verdict != durable.RunSucceeded {
				t.Errorf("run %d, which is to be for %v, is %+v", i, want, run)
			}
		}
	})
}

// A trigger that ends.
type until time.Time

func (u until) Next(t time.Time) time.Time {
	if next := t.Add(time.Hour); !next.After(time.Time(u)) {
		return next
	}
	return time.Time{}
}

// A time that is asked for during the last run of a schedule is one more run; and
// then the job has succeeded.
func TestRescheduleDuringTheLastRunRunsOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"twice": until(begun.Add(2 * time.Hour))}
		})
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if d.note(ctx); d.count() == 2 {
				j, _ := durable.Current(ctx)
				if a := must(jobs.Reschedule(ctx, j.ID, begun.Add(5*time.Hour))); a != durable.Deferred {
					t.Errorf("the answer is %v", a)
				}
			}
			return "", nil
		})
		start(t, jobs)
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("twice"), ""))
		must(jobs.Await(t.Context(), id))
		d.wants(t, begun, time.Hour, 2*time.Hour, 5*time.Hour)
	})
}

// Many nodes register a schedule, again and again, and each occurrence runs once.
func TestPeriodicRunsOnceAmongManyNodes(t *testing.T) {
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
func TestDailyRestartDoesNotStarveWeeklyJob(t *testing.T) {
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

// A job with a key is added once, and runs once, however often it is asked for.
func TestKeyMakesSchedulingIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		first := must(k.Schedule(t.Context(), time.Minute, "", durable.Key("order 17")))
		again := must(k.Schedule(t.Context(), 0, "", durable.Key("order 17")))
		must(k.Await(t.Context(), first))
		after := must(k.Schedule(t.Context(), 0, "", durable.Key("order 17")))
		time.Sleep(time.Hour)
		if first != again || first != after || d.count() != 1 {
			t.Errorf("ids %v, %v, %v; %d runs", first, again, after, d.count())
		}
	})
}

// A handler ends its schedule in peace with executor.Stop.
func TestDoneEndsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		n := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			if n++; n == 3 {
				return "", executor.Stop
			}
			return "", nil
		})
		start(t, jobs)
		id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, ""))
		must(k.Await(t.Context(), id))
		time.Sleep(time.Hour)
		synctest.Wait()
		if n != 3 {
			t.Errorf("it ran %d times", n)
		}
	})
}

// A schedule in the local zone is that of whichever node looks at it, by
// whatever name TZ calls the zone here: it may be a path, which is no name.
func TestLocalZoneHasNoName(t *testing.T) {
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
