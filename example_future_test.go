package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
)

// Get returns when its context ends; the task continues.
func ExampleFuture_Get() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	release := make(chan struct{})
	f := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		<-release
		return "late, but here", nil
	})

	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err := f.Get(short)
	fmt.Println(err)

	close(release)
	fmt.Println(f.Get(ctx))
	// Output:
	// context deadline exceeded
	// late, but here <nil>
}

// Cancel completes the future at once and ends the context of the body. Join waits until
// the body has returned.
func ExampleFuture_Cancel() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	running := make(chan struct{})
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		close(running)
		<-ctx.Done()
		fmt.Println("cleaning up:", context.Cause(ctx))
		return 0, ctx.Err()
	})

	<-running
	fmt.Println("canceled:", f.Cancel())
	f.Join(ctx)
	_, err := f.Get(ctx)
	fmt.Println(f.State(), errors.Is(err, executor.ErrCanceled))
	// Unordered output:
	// canceled: true
	// cleaning up: executor: task canceled
	// canceled true
}

// Abandon completes the future and leaves the body undisturbed.
func ExampleFuture_Abandon() {
	pool := executor.Fixed(1)
	ctx := context.Background()
	running, release := make(chan struct{}), make(chan struct{})
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		close(running)
		<-release
		fmt.Println("undisturbed:", ctx.Err() == nil)
		return 1, nil
	})

	<-running
	f.Abandon()
	_, err := f.Get(ctx)
	fmt.Println(err)
	close(release)
	pool.Close()
	// Output:
	// executor: task canceled
	// undisturbed: true
}

// OnDone calls a function after a task, without a goroutine that waits for it.
func ExampleFuture_OnDone() {
	pool := executor.Fixed(1)
	f := executor.NewFuture(func(context.Context) (int, error) { return 6 * 7, nil })
	f.OnDone(func() { fmt.Println(f.Result()) })
	pool.Execute(context.Background(), f)
	pool.Close()
	// Output:
	// 42 <nil>
}

// Done is for a select.
func ExampleFuture_Done() {
	f := executor.NewPromise[string]()
	go f.Complete("hello")
	select {
	case <-f.Done():
		fmt.Println(f.Result())
	case <-time.After(time.Hour):
		fmt.Println("no reply")
	}
	// Output:
	// hello <nil>
}

// A future may be run without an executor. It runs once.
func ExampleNewFuture() {
	ctx := context.Background()
	f := executor.NewFuture(func(context.Context) (int, error) {
		fmt.Println("computing")
		return 1, nil
	})
	fmt.Println(f.State())
	f.Run(ctx)
	f.Run(ctx) // has no effect
	fmt.Println(f.State())
	// Output:
	// pending
	// computing
	// succeeded
}

// A promise is a future that is completed by a call of Complete, for results that do not
// come from a body.
func ExampleNewPromise() {
	reply := executor.NewPromise[string]()

	receive := func(message string) { // called by a library
		if !reply.Complete(message) {
			fmt.Println("too many replies:", message)
		}
	}
	receive("pong")
	receive("pong again")

	fmt.Println(reply.Get(context.Background()))
	// Output:
	// too many replies: pong again
	// pong <nil>
}

// Timeout limits the run of a task.
func ExampleTimeout() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		<-ctx.Done() // without a timeout, for ever
		return 0, context.Cause(ctx)
	}, executor.Timeout(time.Millisecond))

	_, err := f.Get(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, executor.ErrTimeout))
	// Output:
	// executor: task timed out after 1ms
	// true
}

// InvokeAll waits for all tasks, and returns the futures in the order of the functions.
func ExampleInvokeAll() {
	pool := executor.Fixed(4)
	defer pool.Close()

	square := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n * n, nil }
	}
	for _, f := range executor.InvokeAll(context.Background(), pool, square(1), square(2), square(3)) {
		n, err := f.Result()
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// InvokeAny returns the result of the first task that succeeds, and cancels the others.
func ExampleInvokeAny() {
	pool := executor.Cached()
	defer pool.Close()

	fast := func(context.Context) (string, error) { return "from the cache", nil }
	slow := func(ctx context.Context) (string, error) {
		<-ctx.Done() // canceled when fast has succeeded
		return "", ctx.Err()
	}
	broken := func(context.Context) (string, error) { return "", errors.New("connection refused") }
	fmt.Println(executor.InvokeAny(context.Background(), pool, slow, broken, fast))
	// Output:
	// from the cache <nil>
}

// Completed yields futures in the order in which they complete.
func ExampleCompleted() {
	pool := executor.Fixed(3)
	defer pool.Close()

	first, second := make(chan struct{}), make(chan struct{})
	fs := executor.SubmitAll(context.Background(), pool,
		func(context.Context) (string, error) { <-second; return "C", nil },
		func(context.Context) (string, error) { return "A", nil },
		func(context.Context) (string, error) { <-first; return "B", nil },
	)
	for f := range executor.Completed(fs...) {
		s, _ := f.Result()
		fmt.Println(s)
		switch s {
		case "A":
			close(first)
		case "B":
			close(second)
		}
	}
	// Output:
	// A
	// B
	// C
}

// A completion service returns results in the order in which they complete, for a stream
// of tasks.
func ExampleCompletionService() {
	pool := executor.Fixed(4)
	defer pool.Close()
	ctx := context.Background()

	squares := executor.NewCompletionService[int](pool)
	for n := range 10 {
		squares.Submit(ctx, func(context.Context) (int, error) { return n * n, nil })
	}
	sum := 0
	for range 10 {
		f, err := squares.Take(ctx)
		if err != nil {
			return
		}
		n, _ := f.Result()
		sum += n
	}
	fmt.Println(sum)
	// Output:
	// 285
}

// Callable adapts a function without a result.
func ExampleCallable() {
	pool := executor.Single()
	defer pool.Close()
	flush := func(context.Context) error { return nil }
	fn := executor.Callable(flush)
	for _, f := range executor.InvokeAll(context.Background(), pool, fn, fn) {
		fmt.Println(f.Err())
	}
	// Output:
	// <nil>
	// <nil>
}
