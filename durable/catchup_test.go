package durable_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// To catch up with many runs, a trigger is asked a few times for each, however many there are.
func TestCatchUpAsksTriggerLittle(t *testing.T) {
	const missed = 300
	synctest.Test(t, func(t *testing.T) {
		hourly := &trigger{next: func(t time.Time) time.Time { return t.Add(time.Hour) }}
		jobs, k, d := newNode(t, memory.New(),
			func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"hourly": hourly} })
		must(k.On(t.Context(), "key", durable.NamedTrigger("hourly"), "", durable.OnMissed(durable.CatchUp(2*missed))))
		time.Sleep(missed*time.Hour + time.Minute)
		start(t, jobs)
		time.Sleep(time.Minute)
		if runs, calls := d.count(), hourly.calls.Load(); runs != missed || calls > 6*missed {
			t.Errorf("%d runs, want %d; the trigger was asked %d times", runs, missed, calls)
		}
	})
}

// While a job catches up more is missed, and the oldest is left out whenever that makes more than the latest that the
// policy allows; also if the job is moved meanwhile.
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
				jobs := newJobs(t, memory.New(),
					func(c *durable.Config) { c.Lease, c.Poll = time.Hour, 10*time.Minute })
				type begin struct{ occurrence, hour int }
				var got, want []begin
				begun := time.Now()
				hours := func(t time.Time) int { return int(t.Sub(begun) / time.Hour) }
				next := 1
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					job, _ := durable.Current(ctx)
					now := hours(time.Now())
					got, want = append(got, begin{hours(job.Occurrence), now}), append(want,
						begin{max(next, now-most+1), now})
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
func TestCatchUpWithSmallerMaximum(t *testing.T) {
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

// A job that has missed more than can be counted, as it was moved to the year 1, runs for the latest times that its
// policy allows, and the node ends in time.
func TestCatchUpLeaps(t *testing.T) {
	for spec, step := range map[string]time.Duration{"@every 1s": time.Second, "CRON_TZ=UTC * * * * *": time.Minute} {
		t.Run(spec, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := &trigger{next: cron.MustParse(spec).Next}
				jobs, k, d := newNode(t, memory.New(), func(c *durable.Config) {
					c.Triggers = map[string]executor.Trigger{"t": asked}
				})
				id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), "", durable.OnMissed(durable.CatchUp(3))))
				must(jobs.Reschedule(t.Context(), id, time.Date(1, 2, 1, 0, 0, 0, 0, time.UTC)))
				time.Sleep(step / 2)
				now := time.Now().UTC()
				stop := start(t, jobs)
				stop()
				if calls := asked.calls.Load(); d.count() != 3 || calls > 100_000 {
					t.Fatalf("%d runs, for which the trigger was asked %d times", d.count(), calls)
				}
				for i, j := range d.all() {
					if want := now.Add(-step / 2).Add(time.Duration(i-2) * step); !j.Occurrence.Equal(want) {
						t.Errorf("run %d is for %v, want %v", i, j.Occurrence, want)
					}
				}
			})
		})
	}
}

// However much a policy allows, a trigger is asked a bounded number of times before the first run, which is for the
// 100,000th time before now.
func TestCatchUpOfTriggerIsBounded(t *testing.T) {
	const most = 100_000
	for spec, step := range map[string]time.Duration{"@every 1s": time.Second, "CRON_TZ=UTC * * * * *": time.Minute} {
		t.Run(spec, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := &trigger{next: cron.MustParse(spec).Next}
				jobs := newJobs(t, memory.New(), func(c *durable.Config) {
					c.Triggers = map[string]executor.Trigger{"t": asked}
				})
				begun := make(chan time.Time, 1)
				k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
					job, _ := durable.Current(ctx)
					begun <- job.Occurrence
					return "", executor.ErrStop
				})
				id := must(k.On(t.Context(), "key", durable.NamedTrigger("t"), "", durable.OnMissed(durable.CatchUp(1<<30))))
				must(jobs.Reschedule(t.Context(), id, time.Date(1, 2, 1, 0, 0, 0, 0, time.UTC)))
				time.Sleep(step / 2)
				want := time.Now().UTC().Add(-step / 2).Add(-(most - 1) * step)
				stop := start(t, jobs)
				got := <-begun
				stop()
				if calls := asked.calls.Load(); !got.Equal(want) || calls > 8*most {
					t.Errorf("the first run is for %v, want %v; the trigger was asked %d times", got, want, calls)
				}
			})
		})
	}
}

// A node that has much to count, since its policy allows it, ends at once: the handler was not called. The job waits as
// if it had not been tried.
func TestCatchUpIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &trigger{next: func(t time.Time) time.Time {
			time.Sleep(time.Millisecond)
			return t.Add(time.Second)
		}}
		jobs, k, d := newNode(t, memory.New(), func(c *durable.Config) {
			c.Triggers = map[string]executor.Trigger{"slow": slow}
		})
		id := must(k.On(t.Context(), "key", durable.NamedTrigger("slow"), "", durable.OnMissed(durable.CatchUp(1<<30))))
		must(jobs.Reschedule(t.Context(), id, time.Date(1970, 2, 1, 0, 0, 0, 0, time.UTC)))
		stop := start(t, jobs)
		time.Sleep(time.Second)
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 2*time.Second { // it looks after each thousand times
			t.Errorf("it took %v", took)
		}
		if j := must(jobs.Get(t.Context(), id)); d.count() != 0 || j.State != durable.Waiting || j.Attempt != 0 {
			t.Errorf("after %d runs the job is %+v", d.count(), j)
		}
	})
}
