package executortest

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// createScheduled returns a new scheduled pool with the configuration c.
func createScheduled(t *testing.T, c executor.ScheduledConfig) *executor.ScheduledPool {
	t.Helper()
	p, err := executor.NewScheduled(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The suite for scheduled pools passes for every configuration of one worker.
func TestScheduledPassesForPools(t *testing.T) {
	for name, c := range map[string]executor.ScheduledConfig{
		"no core":        {},
		"one worker":     {Workers: 1},
		"core times out": {Workers: 1, KeepAlive: time.Second, KeepNone: true},
		"keep periodic":  {Workers: 1, KeepPeriodic: true},
		"around": {Workers: 1, Hooks: executor.Hooks{
			Around: func(ctx context.Context, _ executor.TaskInfo, run func(context.Context) error) error { return run(ctx) },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			TestScheduled(t, func(t *testing.T) Scheduled { return createScheduled(t, c) })
		})
	}
}

// ignoresContext is a scheduled pool whose schedules do not end with their context.
type ignoresContext struct{ *executor.ScheduledPool }

func (p ignoresContext) AtFixedRate(ctx context.Context, initial, period time.Duration,
	fn func(context.Context) error, opts ...executor.Option) (*series, error) {
	return p.ScheduledPool.AtFixedRate(context.WithoutCancel(ctx), initial, period, fn, opts...)
}

// A schedule that does not end with its context is found.
func TestScheduledFindsIgnoredContext(t *testing.T) {
	findExactly(t, scheduledChecks, func(*testing.T) Scheduled {
		return ignoresContext{executor.Scheduled(1)}
	}, "ParentContextEnds")
}

// hasty is a scheduled pool in which every other schedule is due a nanosecond early, which
// is enough to overtake others with the same time.
type hasty struct {
	*executor.ScheduledPool
	n int
}

func (p *hasty) AtFixedRate(ctx context.Context, initial, period time.Duration,
	fn func(context.Context) error, opts ...executor.Option) (*series, error) {
	p.n++
	early := time.Duration(p.n % 2)
	return p.ScheduledPool.AtFixedRate(ctx, initial-early, period, func(ctx context.Context) error {
		sleep(ctx, early) // so that the time of the run is as expected
		return fn(ctx)
	}, opts...)
}

// A pool that does not run tasks with equal times in the order of submission is found.
func TestScheduledFindsWrongOrderOfEqualTimes(t *testing.T) {
	findAtLeast(t, scheduledChecks, func(*testing.T) Scheduled {
		return &hasty{ScheduledPool: executor.Scheduled(1)}
	}, "EqualTimesInSubmissionOrder")
}
