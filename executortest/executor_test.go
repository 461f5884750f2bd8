package executortest

import (
	"context"
	"sync"
	"testing"

	"github.com/executor-go/executor"
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

// closed registers a shutdown of p at the end of the test, and returns p.
func closed(t *testing.T, p Pool) executor.Executor {
	t.Cleanup(func() {
		p.ShutdownNow()
		if err := p.AwaitTermination(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// The suites for executors and futures pass for every pool of package executor, and
// for the simplest executors that users write.
func TestExecutorPassesForPools(t *testing.T) {
	makers := map[string]func(*testing.T) executor.Executor{
		"inline":     func(*testing.T) executor.Executor { return inline{} },
		"goroutines": func(*testing.T) executor.Executor { return goroutines{} },
	}
	for name, make := range presets {
		makers[name] = func(t *testing.T) executor.Executor { return closed(t, make()) }
	}
	for name, c := range configs {
		makers[name] = func(t *testing.T) executor.Executor { return closed(t, create(t, c)) }
	}
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			t.Run("executor", func(t *testing.T) { TestExecutor(t, make) })
			t.Run("future", func(t *testing.T) { TestFuture(t, make) })
		})
	}
}

// The suite for executors passes for a pool that is too small, if the policy runs each
// task or rejects it with an error.
func TestExecutorPassesForPoolsThatReject(t *testing.T) {
	for _, policy := range []string{"Abort", "CallerRuns", "Block", "RejectFunc"} {
		for name, c := range tooSmall {
			c.Reject = policies[policy]
			t.Run(policy+"/"+name, func(t *testing.T) {
				TestExecutor(t, func(t *testing.T) executor.Executor { return closed(t, create(t, c)) })
			})
		}
	}
}

// lostWakeUp is a pool that holds back every fifth task until the next one is submitted.
func lostWakeUp(p *executor.Pool) *faultyPool {
	type submission struct {
		ctx  context.Context
		task executor.Runnable
	}
	var mu sync.Mutex
	var n int
	var held []submission
	return &faultyPool{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%5 == 0 && p.Stats().Stage == executor.StageRunning {
			held = append(held, submission{ctx, task})
			return nil
		}
		for _, s := range held {
			p.Execute(s.ctx, s.task)
		}
		held = nil
		return p.Execute(ctx, task)
	}}
}

// A wake-up that an idle executor loses is found.
func TestExecutorFindsLostWakeUp(t *testing.T) {
	findAtLeast(t, executorChecks, executorWith(lostWakeUp), "RunsWhenIdle")
}

// A task that runs twice is found.
func TestExecutorFindsSecondRun(t *testing.T) {
	twice := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
			return p.Execute(ctx, executor.Func(func(ctx context.Context) error {
				task.Run(ctx)
				return task.Run(ctx)
			}))
		}}
	}
	// In other checks the second run is a data race with the check.
	checks := only(executorChecks, "RunsTask", "RunsEachOnce")
	findExactly(t, checks, executorWith(twice), "RunsTask", "RunsEachOnce")
}

// A task that runs again after an error is found.
func TestExecutorFindsRetry(t *testing.T) {
	retries := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
			if _, plain := task.(executor.Func); !plain {
				return p.Execute(ctx, task)
			}
			return p.Execute(ctx, executor.Func(func(ctx context.Context) error {
				if task.Run(ctx) == nil {
					return nil
				}
				return task.Run(ctx)
			}))
		}}
	}
	findExactly(t, executorChecks, executorWith(retries), "RunsAfterErrors")
}

// An executor that runs tasks without the context of Execute is found.
func TestExecutorFindsLostContext(t *testing.T) {
	ignores := func(p *executor.Pool) *faultyPool {
		return &faultyPool{Pool: p, execute: func(_ context.Context, task executor.Runnable) error {
			return p.Execute(context.Background(), task)
		}}
	}
	findExactly(t, executorChecks, executorWith(ignores), "DerivesContext", "EndedContext")
	findExactly(t, futureChecks, executorWith(ignores), "ContextEnds", "ParentContextEnds", "AllTimesOut")
}
