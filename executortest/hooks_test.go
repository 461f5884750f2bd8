package executortest

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// The suite for hooks passes for every pool of package executor that takes hooks.
func TestHooksPassesForPools(t *testing.T) {
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			TestHooks(t, func(t *testing.T, h executor.Hooks) Pool {
				c := c
				c.Hooks = h
				return create(t, c)
			})
		})
	}
	t.Run("scheduled", func(t *testing.T) {
		TestHooks(t, func(t *testing.T, h executor.Hooks) Pool {
			return createScheduled(t, executor.ScheduledConfig{Workers: 1, Hooks: h})
		})
	})
}

// hooksWith returns a function that makes pools with changed hooks.
func hooksWith(change func(*executor.Hooks)) func(*testing.T) func(executor.Hooks) Pool {
	return func(t *testing.T) func(executor.Hooks) Pool {
		return func(h executor.Hooks) Pool {
			change(&h)
			return create(t, executor.Config{Workers: 1, Hooks: h})
		}
	}
}

// A pool that recovers the panics of plain tasks without a report is found.
func TestHooksFindsSwallowedPanic(t *testing.T) {
	swallow := func(task executor.Runnable) executor.Runnable {
		return executor.Func(func(ctx context.Context) error {
			defer func() { recover() }()
			return task.Run(ctx)
		})
	}
	findExactly(t, hookChecks, func(t *testing.T) func(executor.Hooks) Pool {
		return func(h executor.Hooks) Pool {
			p := create(t, executor.Config{Workers: 1, Hooks: h})
			return &faultyPool{Pool: p, execute: func(ctx context.Context, task executor.Runnable) error {
				if _, plain := task.(executor.Func); plain {
					task = swallow(task)
				}
				return p.Execute(ctx, task)
			}}
		}
	}, "PanicCallsOnPanic")
}

// A pool that ignores the context from BeforeTask is found.
func TestHooksFindsIgnoredContext(t *testing.T) {
	findExactly(t, hookChecks, hooksWith(func(h *executor.Hooks) {
		if before := h.BeforeTask; before != nil {
			h.BeforeTask = func(ctx context.Context, info executor.TaskInfo) context.Context {
				before(ctx, info)
				return ctx
			}
		}
	}), "BeforeTaskContext")
}

// A pool that terminates before Terminated has returned is found.
func TestHooksFindsEarlyTermination(t *testing.T) {
	findExactly(t, hookChecks, hooksWith(func(h *executor.Hooks) {
		if terminated := h.Terminated; terminated != nil {
			h.Terminated = func() { go terminated() }
		}
	}), "TerminatedBeforeTermination")
}

// A pool that does not call Dropped, and one that does not call Around, are found.
func TestHooksFindsMissingHook(t *testing.T) {
	findExactly(t, hookChecks, hooksWith(func(h *executor.Hooks) { h.Dropped = nil }), "DroppedWithoutRun")
	findExactly(t, hookChecks, hooksWith(func(h *executor.Hooks) { h.Around = nil }), "Around")
}
