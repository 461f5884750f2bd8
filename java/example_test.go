package java_test

import (
	"context"
	"fmt"
	"time"

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

// A body that runs more than once by hand, as by FutureTask.runAndReset, and has one future.
func ExampleRepeatingTask() {
	ctx := context.Background()
	n := 0
	task := java.NewRepeatingTask(func(context.Context) (int, error) { n++; return n, nil })
	fmt.Println(task.RunAndReset(ctx), task.Future().State())
	fmt.Println(task.RunAndReset(ctx), task.Future().State())
	task.Run(ctx)
	fmt.Println(task.Future().Result())
	// Output:
	// true pending
	// true pending
	// 3 <nil>
}

// What decorateTask does in Java: Hooks.Around surrounds each run of each task. TaskInfo.Task is the
// future or the series that the submitter has.
func Example_decorateTask() {
	pool := executor.Scheduled(1, func(c *executor.ScheduledConfig) {
		c.Hooks.Around = func(ctx context.Context, info executor.TaskInfo, run func(context.Context) error) error {
			fmt.Println("begin", info.Name)
			err := run(ctx)
			fmt.Println("end", info.Name, err)
			return err
		}
	})
	executor.SubmitAfter(context.Background(), pool, time.Millisecond, func(context.Context) (int, error) {
		fmt.Println("working")
		return 1, nil
	}, executor.Named("one"))
	pool.Close() // a task that is scheduled once still runs
	// Output:
	// begin one
	// working
	// end one <nil>
}

// halves are the times of another Trigger, moved to the next half minute: what getDelay of a
// decorated task does in Java.
type halves struct{ executor.Trigger }

func (h halves) Next(t time.Time) time.Time {
	return h.Trigger.Next(t).Add(30*time.Second - 1).Truncate(30 * time.Second)
}

func Example_decorateTask_times() {
	at := halves{executor.FixedRate(40 * time.Second)}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 3 {
		noon = at.Next(noon)
		fmt.Println(noon.Format(time.TimeOnly))
	}
	// Output:
	// 12:01:00
	// 12:02:00
	// 12:03:00
}

// A canceled task leaves the queue at once, so that there is nothing to purge. A program that looks at
// canceled tasks notes them when they leave.
func Example_purge() {
	pool := executor.Scheduled(1, func(c *executor.ScheduledConfig) {
		c.Hooks.Dropped = func(_ context.Context, info executor.TaskInfo, err error) {
			fmt.Println(info.Task, "left the queue")
		}
	})
	defer pool.Close()
	f := executor.SubmitAfter(context.Background(), pool, time.Hour,
		func(context.Context) (int, error) { return 1, nil }, executor.Named("report"))
	f.Cancel()
	fmt.Println(pool.Stats().Queued, "queued")
	// Output:
	// future "report": canceled left the queue
	// 0 queued
}
