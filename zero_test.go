package executor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// The zero values of the types that are made by a function work, or panic with a sentence that names
// that function; none waits for ever, whatever was called before.
func TestZeroValues(t *testing.T) {
	ctx := context.Background()
	var pool executor.Pool
	var sched executor.ScheduledPool
	var future executor.Future[int]
	var timed executor.ScheduledFuture[int]
	var service executor.CompletionService[int]
	var group executor.Group
	usable := newPool(t, executor.Config{Core: 1})
	nothing := func() {}
	for name, call := range map[string]func(){
		"Pool.Go":               func() { pool.Go(ctx, nop) },
		"Pool.Execute":          func() { pool.Execute(ctx, executor.Func(nop)) },
		"Pool.Submit":           func() { executor.Submit(ctx, &pool, value(1)) },
		"Pool.Stats":            func() { pool.Stats() },
		"Pool.Stage":            func() { pool.Stage() },
		"Pool.Name":             func() { _ = pool.Name() },
		"Pool.String":           func() { _ = pool.String() },
		"Pool.Close":            pool.Close,
		"Pool.Shutdown":         pool.Shutdown,
		"Pool.ShutdownNow":      func() { pool.ShutdownNow() },
		"Pool.AwaitTermination": func() { pool.AwaitTermination(ctx) },
		"Pool.Terminated":       func() { pool.Terminated() },
		"Pool.Core":             func() { pool.Core() },
		"Pool.SetCore":          func() { pool.SetCore(1) },
		"Pool.Prestart":         func() { pool.Prestart() },
		"Pool.Purge":            func() { pool.Purge() },
		"Pool.Remove":           func() { pool.Remove(executor.NewFuture(value(1))) },
		"Pool.Waiting": func() {
			for range pool.Waiting() {
			}
		},
		"ScheduledPool.Go":          func() { sched.Go(ctx, nop) },
		"ScheduledPool.Submit":      func() { executor.Submit(ctx, &sched, value(1)) },
		"ScheduledPool.Stats":       func() { sched.Stats() },
		"ScheduledPool.Close":       func() { sched.Close() },
		"ScheduledPool.Schedule":    func() { executor.Schedule(ctx, &sched, 0, value(1)) },
		"ScheduledPool.At":          func() { executor.At(ctx, &sched, time.Now(), value(1)) },
		"ScheduledPool.AtFixedRate": func() { sched.AtFixedRate(ctx, 0, time.Hour, nop) },
		"ScheduledPool.After":       func() { sched.After(ctx, 0, nop) },
		"ScheduledPool.Schedules":   func() { sched.Schedules() },
		"ScheduledPool.Delayed":     func() { sched.Delayed() },
		"ScheduledPool.SetDelayed":  func() { sched.SetDelayed(executor.DropAtShutdown) },
		"Future.Run":                func() { future.Run(ctx) },
		"Future.RunAndReset":        func() { future.RunAndReset(ctx) },
		"Future.Get":                func() { future.Get(ctx) },
		"Future.Join":               func() { future.Join(ctx) },
		"Future.Done":               func() { future.Done() },
		"Future.Cancel":             func() { future.Cancel() },
		"Future.Abandon":            func() { future.Abandon() },
		"Future.Complete":           func() { future.Complete(1) },
		"Future.Fail":               func() { future.Fail(errTask) },
		"Future.OnDone":             func() { future.OnDone(nothing) },
		"Future.Execute":            func() { usable.Execute(ctx, &future) },
		"Pool.Remove of a Future":   func() { usable.Remove(&future) },
		"Completed":                 func() { executor.Completed(&future)(func(*executor.Future[int]) bool { return true }) },
		"ScheduledFuture.Run":       func() { timed.Run(ctx) },
		"ScheduledFuture.Get":       func() { timed.Get(ctx) },
		"ScheduledFuture.Cancel":    func() { timed.Cancel() },
		"ScheduledFuture.Next":      func() { timed.Next() },
		"CompletionService.Submit":  func() { service.Submit(ctx, value(1)) },
		"CompletionService.Take":    func() { service.Take(ctx) },
		"CompletionService.Poll":    func() { service.Poll() },
		"CompletionService.Len":     func() { service.Len() },
		"Group.Go":                  func() { group.Go(nop) },
		"Group.Wait":                func() { group.Wait() },
	} {
		for range 2 { // what the first call leaves must not block the second
			text := func() (text string) {
				defer func() { text = fmt.Sprint(recover()) }()
				call()
				return ""
			}()
			if !strings.HasPrefix(text, "executor: ") || !strings.Contains(text, "not usable") ||
				strings.Contains(text, "\n") {
				t.Errorf("%s: panics with %q", name, text)
			}
		}
	}
	expect(t, "State", future.State(), executor.Pending)
	expect(t, "Err", future.Err(), executor.ErrNotDone)
	expect(t, "Name", future.Name(), "")
	expect(t, "Dropped", executor.Dropped{}.Run(ctx), nil)
	expect(t, "Execute of a Dropped", usable.Execute(ctx, executor.Dropped{}), nil)
	if _, err := executor.New(executor.Config{}); err != nil {
		t.Error(err)
	}
}

// What ShutdownNow returns, and what a RejectFunc gets of a task of Go, keep the task's name, its
// timeout and its priority, in another pool and by Run.
func TestOptionsOfTaskGivenOn(t *testing.T) {
	for name, give := range map[string]func(*testing.T, func(context.Context) error) executor.Runnable{
		"Dropped of Go": func(t *testing.T, body func(context.Context) error) executor.Runnable {
			pool := newPool(t, executor.Config{Core: 1})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			mustGo(t, pool, body, executor.Named("x"), executor.Timeout(time.Minute))
			defer block.Release()
			return pool.ShutdownNow()[0]
		},
		"Dropped of Submit": func(t *testing.T, body func(context.Context) error) executor.Runnable {
			pool := newPool(t, executor.Config{Core: 1})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			executor.Submit(t.Context(), pool, executor.Callable(body), executor.Named("x"), executor.Timeout(time.Minute))
			defer block.Release()
			return pool.ShutdownNow()[0]
		},
		"RejectFunc": func(t *testing.T, body func(context.Context) error) (got executor.Runnable) {
			pool := newPool(t, executor.Config{Core: 1, Queue: executor.Handoff(), Reject: executor.RejectFunc(
				func(_ context.Context, task executor.Runnable, _ *executor.Pool) error { got = task; return nil })})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			mustGo(t, pool, body, executor.Named("x"), executor.Timeout(time.Minute))
			block.Release()
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var took time.Duration
				var cause error
				task := give(t, func(ctx context.Context) error {
					start := time.Now()
					<-ctx.Done()
					took, cause = time.Since(start), context.Cause(ctx)
					return nil
				})
				check := func() {
					t.Helper()
					expect(t, "took", took, time.Minute)
					expectIs(t, "cause", cause, executor.ErrTimeout)
					took, cause = 0, nil
				}
				expect(t, "Run", task.Run(t.Context()), nil)
				check()
				var info executor.TaskInfo
				hooks := executor.Hooks{BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
					info = i
					return ctx
				}}
				other := newPool(t, executor.Config{Core: 1, Hooks: hooks})
				expect(t, "Execute", other.Execute(t.Context(), task), nil)
				other.Close()
				check()
				expect(t, "Name", info.Name, "x")
				timer := newScheduled(t, executor.ScheduledConfig{Core: 1, Hooks: hooks})
				info.Name = ""
				if _, again := task.(executor.Dropped); again {
					expect(t, "Execute", timer.Execute(t.Context(), task), nil)
					timer.Close()
					check()
					expect(t, "Name", info.Name, "x")
				}
			})
		})
	}
}
