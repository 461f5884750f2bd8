package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A task may wait for tasks of its own pool by InvokeAll, InvokeAny and Completed, even
// on the only worker, and in a tree: it runs what no worker has begun.
func TestInvokeInOwnPool(t *testing.T) {
	add := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { time.Sleep(time.Second); return n, nil }
	}
	for name, call := range map[string]func(ctx context.Context, ex executor.Executor) (int, error){
		"InvokeAll": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for _, f := range executor.InvokeAll(ctx, ex, add(1), add(2), add(3)) {
				v, e := f.Get(ctx)
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
		"InvokeAny": func(ctx context.Context, ex executor.Executor) (int, error) {
			failure := func(context.Context) (int, error) { return 0, errors.New("no") }
			return executor.InvokeAny(ctx, ex, failure, failure, add(6))
		},
		"Completed": func(ctx context.Context, ex executor.Executor) (sum int, err error) {
			for f := range executor.Completed(executor.SubmitAll(ctx, ex, add(1), add(2), add(3))...) {
				v, e := f.Result()
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum, err
		},
	} {
		for where, ex := range map[string]func() (executor.Executor, func()){
			"Single":          func() (executor.Executor, func()) { p := executor.Single(); return p, p.Close },
			"Fixed(3)":        func() (executor.Executor, func()) { p := executor.Fixed(3); return p, p.Close },
			"SingleScheduled": func() (executor.Executor, func()) { p := executor.SingleScheduled(); return p, p.Close },
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ex, end := ex()
					defer end()
					nested := func(ctx context.Context) (int, error) {
						outer := executor.InvokeAll(ctx, ex, func(ctx context.Context) (int, error) { return call(ctx, ex) })
						return outer[0].Get(ctx)
					}
					if sum, err := executor.Submit(t.Context(), ex, nested).Get(t.Context()); sum != 6 || err != nil {
						t.Errorf("%d, %v; want 6", sum, err)
					}
				})
			})
		}
	}
}

// A goroutine that is no task of the pool runs nothing of it: Single stays in order.
func TestInvokeAllOutsideRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Single()
		defer pool.Close()
		inside := 0
		fn := func(context.Context) (int, error) {
			inside++
			if inside > 1 {
				t.Error("two tasks of a pool with one worker run at once")
			}
			time.Sleep(time.Second)
			inside--
			return 0, nil
		}
		executor.InvokeAll(t.Context(), pool, fn, fn, fn)
	})
}

// Completed does not run what is not due yet.
func TestCompletedKeepsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sched := executor.Scheduled(2)
		defer sched.Close()
		began := time.Now()
		_, err := executor.Submit(t.Context(), sched, func(ctx context.Context) (int, error) {
			f := executor.Schedule(ctx, sched, time.Hour, func(context.Context) (int, error) { return 0, nil })
			for range executor.Completed(&f.Future) {
			}
			return 0, nil
		}).Get(t.Context())
		if took := time.Since(began); err != nil || took < time.Hour {
			t.Errorf("it ran after %v, error %v", took, err)
		}
	})
}
