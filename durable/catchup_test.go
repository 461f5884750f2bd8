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
