package executor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
)

// A pipeline with back pressure: a stage that is full holds up the one before.
// What a body hands on gets the outer context, since its own ends when it returns.
func Example_pipeline() {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stage := func(workers int) *executor.Pool {
		pool, err := executor.New(executor.Config{Core: workers, Queue: executor.Bounded(2), Reject: executor.Block})
		if err != nil {
			panic(err)
		}
		return pool
	}
	parse, store := stage(2), stage(1)

	var sum atomic.Int64
	for _, line := range []string{"1", "20", "300"} {
		err := parse.Go(ctx, func(context.Context) error {
			var n int64
			if _, err := fmt.Sscan(line, &n); err != nil {
				return err
			}
			return store.Go(ctx, func(context.Context) error {
				sum.Add(n)
				return nil
			})
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	parse.Close() // the first stage first: what it does may still need the second
	store.Close()
	fmt.Println(sum.Load())
	// Output:
	// 321
}

// A body that waits for tasks of its own pool runs those that no worker has begun.
// So tasks may fork and join, even with one worker.
func ExampleFuture_Run() {
	ctx := context.Background()
	pool := executor.Fixed(1)
	defer pool.Close()

	var fib func(n int) func(context.Context) (int, error)
	fib = func(n int) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			if n < 2 {
				return n, nil
			}
			fork := executor.Submit(ctx, pool, fib(n-1))
			b, err := fib(n - 2)(ctx)
			if err != nil {
				return 0, err
			}
			fork.Run(ctx) // does nothing if a worker has it
			a, err := fork.Get(ctx)
			return a + b, err
		}
	}
	fmt.Println(executor.Submit(ctx, pool, fib(10)).Get(ctx))
	// Output:
	// 55 <nil>
}

// A hedged request: a second is made only if the first takes long.
func ExampleCompleted_scheduled() {
	pool := executor.Scheduled(2)
	defer pool.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends the one that is not needed, before Close waits for it

	slow := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	quick := func(context.Context) (string, error) { return "from the replica", nil }
	first := executor.Schedule(ctx, pool, 0, slow)
	second := executor.Schedule(ctx, pool, 10*time.Millisecond, quick)
	for f := range executor.Completed(&first.Future, &second.Future) {
		if answer, err := f.Result(); err == nil {
			fmt.Println(answer)
			break
		}
	}
	// Output:
	// from the replica
}
