package executortest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/executortest"
	"github.com/executor-go/executor/queue"
)

// inline runs each task in the goroutine that submits it.
type inline struct{}

func (inline) Execute(ctx context.Context, task executor.Runnable) error {
	task.Run(ctx)
	return nil
}

// goroutines runs each task in a goroutine of its own.
type goroutines struct{}

func (goroutines) Execute(ctx context.Context, task executor.Runnable) error {
	go task.Run(ctx)
	return nil
}

// pools are what package executor has, made with hooks where they can be.
var pools = map[string]func() executortest.Pool{
	"Fixed(1)":        func() executortest.Pool { return executor.Fixed(1) },
	"Fixed(4)":        func() executortest.Pool { return executor.Fixed(4) },
	"Cached":          func() executortest.Pool { return executor.Cached() },
	"Single":          func() executortest.Pool { return executor.Single() },
	"PerTask":         func() executortest.Pool { return executor.PerTask() },
	"Scheduled(0)":    func() executortest.Pool { return executor.Scheduled(0) },
	"Scheduled(1)":    func() executortest.Pool { return executor.Scheduled(1) },
	"Scheduled(4)":    func() executortest.Pool { return executor.Scheduled(4) },
	"SingleScheduled": func() executortest.Pool { return executor.SingleScheduled() },
}

// configs are pools with every kind of queue and of workers.
var configs = map[string]executor.Config{
	"defaults":       {},
	"unbounded":      {Core: 2, Queue: executor.Unbounded()},
	"bounded":        {Core: 1, Max: 4, Queue: executor.Bounded(64)},
	"handoff":        {Core: 2, Max: 64, KeepAlive: time.Second, Queue: executor.Handoff()},
	"prioritized":    {Core: 2, Queue: executor.Prioritized()},
	"core times out": {Core: 3, KeepAlive: time.Millisecond, AllowCoreTimeout: true},
	"no core":        {Max: 1, Queue: executor.Unbounded()},
	"named":          {Name: "x", Core: 2},
}

// policies are the rejection policies, for pools that are too small.
var policies = map[string]executor.RejectPolicy{
	"Abort": executor.Abort, "CallerRuns": executor.CallerRuns, "Discard": executor.Discard,
	"DiscardOldest": executor.DiscardOldest, "Block": executor.Block,
	"RejectFunc": executor.RejectFunc(func(ctx context.Context, task executor.Runnable, p *executor.Pool) error {
		return fmt.Errorf("%w: %w", executor.ErrRejected, executor.ErrSaturated)
	}),
}

// tooSmall are configurations that reject some of what the suites submit.
var tooSmall = map[string]executor.Config{
	"bounded": {Core: 1, Max: 2, Queue: executor.Bounded(2)},
	"handoff": {Core: 1, Max: 3, Queue: executor.Handoff()},
}

// newPool makes a pool of c.
func newPool(t *testing.T, c executor.Config) *executor.Pool {
	p, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// closed ends an executor that is a pool when the test has ended.
func closed(t *testing.T, p executortest.Pool) executor.Executor {
	t.Cleanup(func() {
		p.ShutdownNow()
		if err := p.AwaitTermination(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Every executor of ours, and the least ones that users write, are executors,
// and futures work over them.
func TestExecutors(t *testing.T) {
	makers := map[string]func(*testing.T) executor.Executor{
		"inline":     func(*testing.T) executor.Executor { return inline{} },
		"goroutines": func(*testing.T) executor.Executor { return goroutines{} },
	}
	for name, make := range pools {
		makers[name] = func(t *testing.T) executor.Executor { return closed(t, make()) }
	}
	for name, c := range configs {
		makers[name] = func(t *testing.T) executor.Executor { return closed(t, newPool(t, c)) }
	}
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			t.Run("executor", func(t *testing.T) { executortest.TestExecutor(t, make) })
			t.Run("future", func(t *testing.T) { executortest.TestFuture(t, make) })
		})
	}
}

// Policies under which each task runs, or is refused with an error, keep the
// promises of an executor in a pool that is too small.
func TestExecutorsThatReject(t *testing.T) {
	for _, policy := range []string{"Abort", "CallerRuns", "Block", "RejectFunc"} {
		for name, c := range tooSmall {
			c.Reject = policies[policy]
			make := func(t *testing.T) executor.Executor { return closed(t, newPool(t, c)) }
			t.Run(policy+"/"+name, func(t *testing.T) { executortest.TestExecutor(t, make) })
		}
	}
}

// Every pool of ours is a pool.
func TestPools(t *testing.T) {
	for name, make := range pools {
		t.Run(name, func(t *testing.T) {
			executortest.TestPool(t, func(*testing.T) executortest.Pool { return make() })
		})
	}
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			executortest.TestPool(t, func(t *testing.T) executortest.Pool { return newPool(t, c) })
		})
	}
}

// A pool that is too small loses no task, whatever its policy.
func TestPoolsThatReject(t *testing.T) {
	for policy := range policies {
		for name, c := range tooSmall {
			c.Reject = policies[policy]
			t.Run(policy+"/"+name, func(t *testing.T) {
				executortest.TestPool(t, func(t *testing.T) executortest.Pool { return newPool(t, c) })
			})
		}
	}
}

// Every pool of ours calls the hooks that it is made with.
func TestHooks(t *testing.T) {
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			executortest.TestHooks(t, func(t *testing.T, h executor.Hooks) executortest.Pool {
				c := c
				c.Hooks = h
				return newPool(t, c)
			})
		})
	}
	t.Run("scheduled", func(t *testing.T) {
		executortest.TestHooks(t, func(t *testing.T, h executor.Hooks) executortest.Pool {
			return newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: h})
		})
	})
}

func newScheduled(t *testing.T, c executor.ScheduledConfig) *executor.ScheduledPool {
	p, err := executor.NewScheduled(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// decoration is a task of a user's own that changes nothing.
type decoration struct{ executor.ScheduledTask }

// Every scheduled pool of ours, of one worker, is one.
func TestScheduled(t *testing.T) {
	for name, c := range map[string]executor.ScheduledConfig{
		"no core":        {},
		"one worker":     {Core: 1},
		"core times out": {Core: 1, KeepAlive: time.Second, AllowCoreTimeout: true},
		"retains":        {Core: 1, RetainCanceled: true},
		"keeps":          {Core: 1, Periodic: executor.KeepAfterShutdown},
		"decorates": {Core: 1, Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			return decoration{task}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			executortest.TestScheduled(t, func(t *testing.T) executortest.Scheduled { return newScheduled(t, c) })
		})
	}
}

// Every queue of package queue is one. Those of the delay queue are due.
func TestQueues(t *testing.T) {
	type blocking = *queue.Blocking[executortest.Item]
	rank := func(v executortest.Item) int { return v.Rank }
	due := func(v executortest.Item) time.Time { return time.Now().Add(time.Duration(v.Rank) - time.Hour) }
	for name, c := range map[string]struct {
		order executortest.Order
		make  func() blocking
	}{
		"unbounded":    {executortest.ByArrival, queue.NewUnbounded[executortest.Item]},
		"bounded(1)":   {executortest.ByArrival, func() blocking { return queue.NewBounded[executortest.Item](1) }},
		"bounded(100)": {executortest.ByArrival, func() blocking { return queue.NewBounded[executortest.Item](100) }},
		"handoff":      {executortest.ByArrival, queue.NewHandoff[executortest.Item]},
		"priority":     {executortest.ByRank, func() blocking { return queue.NewPriority(rank) }},
		"delay":        {executortest.ByRank, func() blocking { return queue.NewDelay(due) }},
	} {
		t.Run(name, func(t *testing.T) {
			executortest.TestQueue(t, c.order, func(*testing.T) executortest.Queue { return c.make() })
		})
	}
}
