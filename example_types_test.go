package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
)

// Futures of different types can be handled together.
func ExampleAwaitable() {
	pool := executor.Fixed(2)
	defer pool.Close()
	ctx := context.Background()
	name := executor.Submit(ctx, pool, func(context.Context) (string, error) { return "Ann", nil })
	age := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 0, errors.New("not told") })

	for _, f := range []executor.Awaitable{name, age} {
		f.Join(ctx)
		fmt.Println(f.State(), f.Err())
	}
	// Output:
	// succeeded <nil>
	// failed not told
}

// The outcome of a canceled task tells who canceled it.
func ExampleCanceledError() {
	pool := executor.Single()
	defer pool.Close()
	busy := make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { <-busy; return nil })

	request, gone := context.WithCancelCause(context.Background())
	f := executor.Submit(request, pool, func(context.Context) (int, error) { return 1, nil })
	gone(errors.New("the client hung up"))

	_, err := f.Get(context.Background())
	var c *executor.CanceledError
	fmt.Println(errors.As(err, &c), errors.Is(err, context.Canceled))
	fmt.Println(err)
	close(busy)
	// Output:
	// true true
	// executor: task canceled: context canceled: the client hung up
}

// A single worker runs tasks one after the other, so that what they share needs
// no lock.
func ExampleSingle() {
	pool := executor.Single()
	total := 0
	for n := range 100 {
		pool.Go(context.Background(), func(context.Context) error { total += n; return nil })
	}
	pool.Close()
	fmt.Println(total)
	// Output:
	// 4950
}

// A cached pool has a worker for each task that can't wait.
func ExampleCached() {
	pool := executor.Cached()
	ctx := context.Background()
	ping, pong := make(chan int), make(chan int)
	pool.Go(ctx, func(context.Context) error { pong <- <-ping + 1; return nil })
	pool.Go(ctx, func(context.Context) error { ping <- 41; return nil })
	fmt.Println(<-pong)
	pool.Close()
	// Output:
	// 42
}

// PerTask is the go statement with futures, counters and an end.
func ExamplePerTask() {
	pool := executor.PerTask()
	ctx := context.Background()
	fs := executor.SubmitAll(ctx, pool,
		func(context.Context) (int, error) { return 1, nil },
		func(context.Context) (int, error) { return 2, nil },
	)
	pool.Close()
	for _, f := range fs {
		fmt.Println(f.Result())
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
}

// A pool of users' requests: it grows under load, keeps a short queue, and
// slows its submitters down when that is full.
func ExampleConfig() {
	pool, err := executor.New(executor.Config{
		Name:      "requests",
		Core:      2,
		Max:       8,
		KeepAlive: time.Minute,
		Queue:     executor.Bounded(4),
		Reject:    executor.Block,
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // bounds the wait, too
	defer cancel()
	var fs []*executor.Future[int]
	for n := range 100 {
		fs = append(fs, executor.Submit(ctx, pool, func(context.Context) (int, error) { return n, nil }))
	}
	pool.Close()
	sum := 0
	for _, f := range fs {
		n, _ := f.Result()
		sum += n
	}
	fmt.Println(sum, pool.Stats().Rejected)
	// Output:
	// 4950 0
}
