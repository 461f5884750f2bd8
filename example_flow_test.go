package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
)

// A pipeline with back pressure: a full stage blocks the stage before it. A task of
// the next stage gets the outer context, because that of a body ends when it returns.
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
	parse.Close() // the first stage first, because its tasks need the second
	store.Close()
	fmt.Println(sum.Load())
	// Output:
	// 321
}

// A body that waits for tasks of its own pool runs those that no worker has started, so
// that tasks may fork and join even with one worker.
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
			fork.Run(ctx) // returns at once if a worker has started it
			a, err := fork.Get(ctx)
			return a + b, err
		}
	}
	fmt.Println(executor.Submit(ctx, pool, fib(10)).Get(ctx))
	// Output:
	// 55 <nil>
}

// A hedged request: the second is sent only if the first takes long.
func ExampleCompleted_scheduled() {
	pool := executor.Scheduled(2)
	defer pool.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends the request that is not needed, before Close waits for it

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

// The first error ends the others.
func ExampleNewGroup() {
	pool := executor.Fixed(4)
	defer pool.Close()

	g := executor.NewGroup(context.Background(), pool)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		g.Go(func(ctx context.Context) error {
			if name == "b.txt" {
				return errors.New("b.txt: no such file")
			}
			<-ctx.Done() // as a long download does
			return ctx.Err()
		})
	}
	fmt.Println(g.Wait())
	// Output: b.txt: no such file
}

func ExampleAll() {
	pool := executor.Fixed(4)
	defer pool.Close()

	length := func(s string) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return len(s), nil }
	}
	fmt.Println(executor.All(context.Background(), pool, length("one"), length("three")))
	// Output: [3 5] <nil>
}

// At most two words are in flight, and the results come in order.
func ExampleMap() {
	pool := executor.Fixed(4)
	defer pool.Close()

	words := slices.Values([]string{"to", "be", "or", "not"})
	for upper, err := range executor.Map(context.Background(), pool, 2, words, func(_ context.Context, s string) (string, error) {
		return strings.ToUpper(s), nil
	}) {
		fmt.Println(upper, err)
	}
	// Output:
	// TO <nil>
	// BE <nil>
	// OR <nil>
	// NOT <nil>
}
