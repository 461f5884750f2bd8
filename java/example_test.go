package java_test

import (
	"context"
	"fmt"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/java"
)

// InvokeAll waits for all tasks, and returns the futures in the order of the functions.
func ExampleInvokeAll() {
	pool := executor.Fixed(4)
	defer pool.Close()

	square := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n * n, nil }
	}
	for _, f := range java.InvokeAll(context.Background(), pool, square(1), square(2), square(3)) {
		n, err := f.Result()
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
}

// A completion service returns results in the order in which they complete, for a stream
// of tasks.
func ExampleCompletionService() {
	pool := executor.Fixed(4)
	defer pool.Close()
	ctx := context.Background()

	squares := java.NewCompletionService[int](pool)
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
