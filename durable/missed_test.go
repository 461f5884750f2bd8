package durable_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // so that the zones exist on any machine

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// on registers a trigger.
func on(s executor.Trigger, m durable.Missed) func(*durable.Kind[string, string], context.Context) (durable.ID, error) {
	return func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
		return k.On(ctx, "key", s, "", durable.OnMissed(m))
	}
}

// What became due while nobody was there is dealt with as the policy says:
// coalesced into one run for the latest, left out, or caught up with.
func TestMissedOccurrences(t *testing.T) {
	for name, test := range map[string]struct {
		missed durable.Missed
		want   []time.Duration // occurrences, since the first registration
	}{
		"Coalesce":    {durable.Coalesce(), []time.Duration{10 * time.Hour, 11 * time.Hour}},
		"Skip":        {durable.Skip(time.Minute), []time.Duration{11 * time.Hour}},
		"SkipOverlap": {durable.SkipOverlap(), []time.Duration{10 * time.Hour, 11 * time.Hour}},
		"SkipInGrace": {durable.Skip(45 * time.Minute), []time.Duration{10 * time.Hour, 11 * time.Hour}},
		"CatchUp":     {durable.CatchUp(3), []time.Duration{8 * time.Hour, 9 * time.Hour, 10 * time.Hour, 11 * time.Hour}},
	} {
		for schedule, add := range map[string]func(*durable.Kind[string, string], context.Context) (durable.ID, error){
			"rate": func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
				return k.AtFixedRate(ctx, "key", time.Hour, time.Hour, "", durable.OnMissed(test.missed))
			},
			"cron":  on(cron.MustParse("CRON_TZ=UTC 0 * * * *"), test.missed),
			"every": on(cron.MustParse("@every 1h"), test.missed),
			"named": on(durable.NamedTrigger("named"), test.missed),
		} {
			t.Run(name+"/"+schedule, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					jobs := newJobs(t, store, func(c *durable.Config) {
						c.Triggers = map[string]executor.Trigger{"named": cron.MustParse("@every 1h")}
					})
					var d diary
					k := durable.Handle(jobs, "k", d.handler)
					begun := time.Now().UTC().Round(0)
					must(add(k, t.Context()))
					time.Sleep(10*time.Hour + 30*time.Minute)
					start(t, jobs)
					time.Sleep(time.Hour)
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

// A policy that catches up with everything does so whatever the period: the
// number of periods times their length may be more than a Duration holds.
func TestCatchUpWithLongPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		store := memory.New()
		jobs := newJobs(t, store)
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
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

// trigger is a function that counts its calls.
type trigger struct {
	next  func(time.Time) time.Time
	calls atomic.Int64
}

func (t *trigger) Next(after time.Time) time.Time {
	t.calls.Add(1)
	return t.next(after)
}

// The run for what was missed is for the latest time that the trigger gives if it is
// asked about one time after the other, whatever the trigger is; and it is not asked
// often, however much was missed.
func TestLatestMissedIsATimeOfItsTrigger(t *testing.T) {
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
				jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"named": tr} })
				first := make(chan durable.Job, 1)
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					j, _ := durable.Current(ctx)
					first <- j
					return "", executor.Stop
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

// A job with a fixed delay misses nothing, whatever its policy: after a pause it runs
// at once, and again a delay after that.
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

// To catch up with many runs that a trigger gives it is asked a few times for each,
// however many there are.
func TestCatchUpAsksTriggerLittle(t *testing.T) {
	const missed = 300
	synctest.Test(t, func(t *testing.T) {
		hourly := &trigger{next: func(t time.Time) time.Time { return t.Add(time.Hour) }}
		jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"hourly": hourly} })
		var d diary
		k := durable.Handle(jobs, "k", d.handler)
		must(k.On(t.Context(), "key", durable.NamedTrigger("hourly"), "", durable.OnMissed(durable.CatchUp(2*missed))))
		time.Sleep(missed*time.Hour + time.Minute)
		start(t, jobs)
		time.Sleep(time.Minute)
		if runs, calls := d.count(), hourly.calls.Load(); runs != missed || calls > 6*missed {
			t.Errorf("%d runs, want %d; the trigger was asked %d times", runs, missed, calls)
		}
	})
}

// While a job catches up more is missed, and the oldest is left out whenever that makes
// more than the latest that the policy names; also if somebody moves the job meanwhile.
func TestCatchUpFallsBehind(t *testing.T) {
	const most = 5
	for schedule, add := range map[string]func(*durable.Kind[string, string], context.Context) (durable.ID, error){
		"rate": func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
			return k.AtFixedRate(ctx, "key", time.Hour, time.Hour, "", durable.OnMissed(durable.CatchUp(most)))
		},
		"cron": on(cron.MustParse("CRON_TZ=UTC 0 * * * *"), durable.CatchUp(most)),
	} {
		t.Run(schedule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Lease, c.Poll = time.Hour, 10*time.Minute })
				type begin struct{ occurrence, hour int }
				var got, want []begin
				begun := time.Now()
				hours := func(t time.Time) int { return int(t.Sub(begun) / time.Hour) }
				next := 1
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					job, _ := durable.Current(ctx)
					now := hours(time.Now())
					got, want = append(got, begin{hours(job.Occurrence), now}), append(want, begin{max(next, now-most+1), now})
					if next = want[len(want)-1].occurrence + 1; len(got) == 8 {
						next = now + 30
						must(jobs.Reschedule(ctx, job.ID, begun.Add(time.Duration(next)*time.Hour)))
					}
					time.Sleep([...]time.Duration{0, 70, 20, 200, 5}[len(got)%5] * time.Minute)
					return "", nil
				})
				must(add(k, t.Context()))
				time.Sleep(3*time.Hour + time.Minute)
				start(t, jobs)
				time.Sleep(100 * time.Hour)
				synctest.Wait()
				if len(got) < 40 || !slices.Equal(got, want) {
					t.Errorf("began %v\nwant  %v", got, want)
				}
			})
		})
	}
}

// A job that is to catch up with less than it does now leaves out the oldest at once.
func TestCatchUpIsToldToLeaveOutMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		begun := time.Now()
		var got []int
		hourly := cron.MustParse("CRON_TZ=UTC 0 * * * *")
		var k *durable.Kind[string, string]
		k = durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			job, _ := durable.Current(ctx)
			if got = append(got, int(job.Occurrence.Sub(begun)/time.Hour)); len(got) == 2 {
				must(k.On(ctx, "key", hourly, "", durable.OnMissed(durable.CatchUp(3))))
			}
			return "", nil
		})
		must(k.On(t.Context(), "key", hourly, "", durable.OnMissed(durable.CatchUp(10))))
		time.Sleep(20*time.Hour + time.Minute)
		start(t, jobs)
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []int{11, 12, 18, 19, 20}; !slices.Equal(got, want) {
			t.Errorf("caught up with %v, want %v", got, want)
		}
	})
}
