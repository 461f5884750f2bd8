package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor"
)

// letter is a task that can be compared, unlike a function, so that Remove finds it in a
// queue.
type letter struct{ to string }

func (l *letter) Run(context.Context) error {
	fmt.Println("sent to", l.to)
	return nil
}

func ExampleRunnable() {
	pool := executor.Fixed(1)
	pool.Execute(context.Background(), &letter{to: "ann"})
	pool.Close()
	// Output: sent to ann
}

func ExampleFunc() {
	hello := executor.Func(func(context.Context) error {
		fmt.Println("hello")
		return nil
	})
	pool := executor.Fixed(1)
	pool.Execute(context.Background(), hello)
	pool.Close()
	// Output: hello
}

func ExampleOption() {
	opts := []executor.Option{executor.Named("report"), executor.Timeout(time.Minute)}
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(ctx context.Context) (bool, error) {
		_, bounded := ctx.Deadline()
		return bounded, nil
	}, opts...)
	bounded, _ := f.Get(context.Background())
	fmt.Println(f.Name(), bounded)
	pool.Close()
	// Output: report true
}

func ExamplePanicError() {
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(context.Context) (int, error) { panic("oh") })
	_, err := f.Get(context.Background())
	if perr, ok := errors.AsType[*executor.PanicError](err); ok {
		fmt.Println(perr.Value, strings.Contains(string(perr.Stack), "ExamplePanicError"))
	}
	pool.Close()
	// Output: oh true
}

func ExampleQueue() {
	for _, q := range []executor.Queue{
		executor.Unbounded(), executor.Bounded(100), executor.Handoff(), executor.Prioritized(),
	} {
		pool, err := executor.New(executor.Config{Core: 1, Max: 2, Queue: q})
		if err != nil {
			panic(err)
		}
		pool.Close()
	}
	_, err := executor.New(executor.Config{Queue: executor.Bounded(0)})
	fmt.Println(err)
	// Output: executor: Bounded(0): must be at least 1; Handoff() is the queue without room
}

func ExampleRejectPolicy() {
	shed := executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
		fmt.Println("too much to do")
		return executor.Discard.Reject(ctx, task, pool)
	})
	pool, _ := executor.New(executor.Config{Core: 1, Queue: executor.Handoff(), Reject: shed})
	release := make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { <-release; return nil })
	fmt.Println(pool.Go(context.Background(), func(context.Context) error { return nil }))
	close(release)
	pool.Close()
	// Output:
	// too much to do
	// <nil>
}

func ExampleBlockFor() {
	pool, _ := executor.New(executor.Config{
		Core: 1, Queue: executor.Handoff(), Reject: executor.BlockFor(10 * time.Millisecond),
	})
	release := make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { <-release; return nil })
	fmt.Println(pool.Go(context.Background(), func(context.Context) error { return nil }))
	close(release)
	pool.Close()
	// Output: executor: task rejected: saturated
}

func ExampleState() {
	f := executor.NewFuture(func(context.Context) (int, error) { return 0, errors.New("no") })
	fmt.Println(f.State())
	f.Run(context.Background())
	fmt.Println(f.State(), f.State().Done())
	// Output:
	// pending
	// failed true
}

func ExampleStage() {
	pool := executor.Fixed(1)
	fmt.Println(pool.Stage())
	pool.Close()
	fmt.Println(pool.Stage())
	// Output:
	// running
	// terminated
}

func ExampleStats() {
	pool := executor.Fixed(1)
	pool.Go(context.Background(), func(context.Context) error { return nil })
	pool.Go(context.Background(), func(context.Context) error { return context.Canceled })
	pool.Close()
	s := pool.Stats()
	fmt.Println(s.Submitted, "=", s.Succeeded, "+", s.Failed, "of", s.Ended())
	// Output: 2 = 1 + 1 of 2
}

func ExampleTaskInfo() {
	pool, _ := executor.New(executor.Config{Name: "mail", Core: 1, Hooks: executor.Hooks{
		AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
			fmt.Println(info.Executor, info.Worker, info.Name, err)
		},
	}})
	pool.Go(context.Background(), func(context.Context) error { return nil }, executor.Named("digest"))
	pool.Close()
	// Output: mail 1 digest <nil>
}

func ExampleDropped() {
	pool := executor.Fixed(1)
	started, release := make(chan struct{}), make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { close(started); <-release; return nil })
	pool.Execute(context.Background(), &letter{to: "bob"})
	<-started

	other := executor.Fixed(1)
	for _, task := range pool.ShutdownNow() {
		other.Execute(context.Background(), task)
	}
	other.Close()
	close(release)
	pool.Close()
	// Output: sent to bob
}

func ExampleAfterShutdown() {
	pool, _ := executor.NewScheduled(executor.ScheduledConfig{Core: 1, Delayed: executor.DropAtShutdown})
	one := func(context.Context) (int, error) { return 1, nil }
	f := executor.Schedule(context.Background(), pool, time.Hour, one)
	pool.Close() // does not wait for an hour
	fmt.Println(f.Err())
	// Output: executor: task canceled: shut down
}

// loud is a task that prints when it runs.
type loud struct{ executor.ScheduledTask }

func (l loud) Run(ctx context.Context) error {
	fmt.Println("now")
	return l.ScheduledTask.Run(ctx)
}

func ExampleScheduledTask() {
	pool, _ := executor.NewScheduled(executor.ScheduledConfig{
		Decorate: func(t executor.ScheduledTask) executor.ScheduledTask { return loud{t} },
	})
	one := func(context.Context) (int, error) { return 1, nil }
	f := executor.Schedule(context.Background(), pool, time.Millisecond, one)
	fmt.Println(f.Get(context.Background()))
	pool.Close()
	// Output:
	// now
	// 1 <nil>
}
