package durableotel_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durableotel "github.com/executor-go/executor/durable/otel"
	"go.opentelemetry.io/otel/attribute"
)

// failing is a store whose Counts fail.
type failing struct{ durable.Store }

var errDown = errors.New("down")

func (failing) Counts(context.Context, durable.Filter) ([]durable.Count, error) { return nil, errDown }

// want compares some of what was collected.
func want(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (there: %v), want %v; there are\n%s", name, g, ok, v,
				strings.Join(slices.Sorted(maps.Keys(got)), "\n"))
		}
	}
}

// Metrics count what happened to jobs.
func TestMetricsCountJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mp, collect := meters(t)
		jobs := newJobs(t, must(durableotel.Metrics(mp)), failing{memory.New()})
		k := durable.Handle(jobs, "mail", func(ctx context.Context, n int) (int, error) {
			if j, _ := durable.Current(ctx); n > 1 && j.Attempt < n {
				return 0, errDown
			}
			if n == 0 {
				return 0, executor.Permanent(context.DeadlineExceeded)
			}
			return 0, nil
		})
		stop := start(t, jobs)
		ids := must(k.AddAll(t.Context(), 0, []int{0, 1, 3}))
		ids = append(ids, must(k.Add(t.Context(), 1)))
		for _, id := range ids {
			await(t, jobs, id)
		}
		must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, 1))
		if _, err := jobs.Counts(t.Context(), durable.Filter{}); err == nil {
			t.Error("the store has not failed")
		}
		stop()
		got := collect()
		want(t, got, map[string]float64{
			"executor.job.added{executor.job.kind=mail}":                                                                        4,
			"executor.job.ended{executor.job.kind=mail,executor.job.state=succeeded}":                                           3,
			"executor.job.ended{executor.job.kind=mail,executor.job.state=dead}":                                                1,
			"executor.job.lateness{executor.job.kind=mail}":                                                                     6,
			"executor.job.run.duration{executor.job.kind=mail,executor.job.outcome=succeeded}":                                  3,
			"executor.job.run.duration{error.type=*errors.errorString,executor.job.kind=mail,executor.job.outcome=failed}":      2,
			"executor.job.run.duration{error.type=context.DeadlineExceeded,executor.job.kind=mail,executor.job.outcome=failed}": 1,
			"executor.store.operation.duration{executor.store.operation=insert}":                                                3,
			"executor.store.operation.duration{error.type=*errors.errorString,executor.store.operation=counts}":                 1,
			"executor.store.operation.duration{executor.store.operation=leave}":                                                 1,
		})
		for _, op := range []string{"claim", "heartbeat", "commit", "report"} {
			if got["executor.store.operation.duration{executor.store.operation="+op+"}"] == 0 {
				t.Errorf("there is no call of %s", op)
			}
		}
	})
}

// A run whose outcome was refused is counted as such, and ends no job.
func TestMetricsCountRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mp, collect := meters(t)
		store := memory.New()
		jobs := newJobs(t, must(durableotel.Metrics(mp)), store)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			j, _ := durable.Current(ctx)
			if j.Epoch > 1 {
				return 0, durable.Snooze(time.Hour)
			}
			_, err := store.Release(ctx, j.Owner, nil) // as if another node had declared it dead
			return 0, err
		})
		start(t, jobs)
		must(k.Add(t.Context(), 1))
		time.Sleep(time.Minute)
		got := collect()
		want(t, got, map[string]float64{
			"executor.job.refused{executor.job.kind=k}":                                   1,
			"executor.job.run.duration{executor.job.kind=k,executor.job.outcome=snoozed}": 1,
		})
		for name := range got {
			if strings.HasPrefix(name, "executor.job.ended") {
				t.Errorf("%s is there", name)
			}
		}
	})
}

// Register has the node while Run runs, and nothing after it or after unregister.
func TestRegisterHasTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mp, collect := meters(t)
		jobs := newJobs(t, durable.Hooks{})
		unregister := must(durableotel.Register(jobs, mp, attribute.String("store", "a")))
		end := make(chan struct{})
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { <-end; return 0, nil })
		if got := collect(); len(got) > 0 {
			t.Errorf("before Run: %v", got)
		}
		stop := start(t, jobs)
		must(k.Add(t.Context(), 1))
		synctest.Wait()
		want(t, collect(), map[string]float64{
			"executor.node.held{executor.node.phase=running,store=a}": 1,
			"executor.node.held{executor.node.phase=ahead,store=a}":   0,
			"executor.node.held{executor.node.phase=due,store=a}":     0,
			"executor.node.held{executor.node.phase=ending,store=a}":  0,
			"executor.node.lease.left{store=a}":                       2.5,
		})
		close(end)
		if err := unregister(); err != nil {
			t.Error(err)
		}
		if got := collect(); len(got) > 0 {
			t.Errorf("after unregister: %v", got)
		}
		stop()
	})
}

// RegisterCounts has what is in the store, which is asked no more often than age says.
func TestRegisterCountsHasTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mp, collect := meters(t)
		calls := 0
		jobs := newJobs(t, durable.Hooks{Call: func(op string, _ time.Duration, _ error) {
			if op == "counts" {
				calls++
			}
		}})
		unregister := must(durableotel.RegisterCounts(jobs, mp, 10*time.Second))
		defer unregister()
		k := durable.KindOf[int, int](jobs, "k")
		must(k.AddAll(t.Context(), 0, []int{1, 2}))
		must(durable.KindOf[int, int](jobs, "later").AddAfter(t.Context(), time.Hour, 1))
		time.Sleep(time.Minute)
		synctest.Wait()
		for range 3 {
			want(t, collect(), map[string]float64{
				"executor.job.count{executor.job.kind=k,executor.job.state=waiting}":     2,
				"executor.job.count{executor.job.kind=later,executor.job.state=waiting}": 1,
				"executor.job.due.age{executor.job.kind=k}":                              60,
				"executor.job.due.age{executor.job.kind=later}":                          0,
			})
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		if calls != 1 {
			t.Errorf("the store was asked %d times", calls)
		}
	})
}
