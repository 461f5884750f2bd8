package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// A scheduled pool runs tasks after a delay, in the order of their due times.
func ExampleSchedule() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	later := executor.Schedule(ctx, pool, 20*time.Millisecond, func(context.Context) (string, error) {
		fmt.Println("second")
		return "done", nil
	})
	executor.Schedule(ctx, pool, time.Millisecond, func(context.Context) (string, error) {
		fmt.Println("first")
		return "", nil
	})
	fmt.Println(later.Get(ctx))
	// Output:
	// first
	// second
	// done <nil>
}

// A task that is canceled before it is due leaves the queue at once.
func ExampleScheduledFuture() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	reminder := executor.Schedule(context.Background(), pool, 24*time.Hour, func(context.Context) (int, error) {
		return 0, errors.New("not reached")
	}, executor.Named("reminder"))

	fmt.Println(reminder.Name(), reminder.State(), reminder.Delay() > 23*time.Hour)
	reminder.Cancel()
	fmt.Println(reminder.Err(), pool.Stats().Queued)
	// Output:
	// reminder pending true
	// executor: task canceled 0
}

// At runs a task at a time of day. If that has passed, the task runs at once.
func ExampleAt() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.At(ctx, pool, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), func(context.Context) (string, error) {
		return "better late than never", nil
	})
	fmt.Println(f.Get(ctx))
	// Output:
	// better late than never <nil>
}

// A schedule at a fixed rate catches up after a long run. It continues after an error,
// and ends by Stop, Times, Until, Cancel, or a panic.
func ExampleScheduledPool_AtFixedRate() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	n := 0
	ticker, err := pool.AtFixedRate(ctx, 0, time.Millisecond, func(context.Context) error {
		n++
		fmt.Println("run", n)
		if n == 3 {
			return executor.Stop
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = ticker.Get(ctx)
	fmt.Println(ticker.Runs(), ticker.State(), err)
	// Output:
	// run 1
	// run 2
	// run 3
	// 3 succeeded <nil>
}

// A fixed delay is the time from the end of a run to the start of the next.
func ExampleScheduledPool_WithFixedDelay() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	tidy, _ := pool.WithFixedDelay(ctx, 0, time.Millisecond, func(context.Context) error {
		fmt.Println("tidying up")
		return nil
	}, executor.Named("tidy"), executor.Times(2))
	tidy.Get(ctx)
	// Output:
	// tidying up
	// tidying up
}

// A cron schedule is a trigger.
func ExampleScheduledPool_On() {
	pool := executor.Scheduled(1)
	defer pool.Close()

	spec := cron.MustParse("CRON_TZ=UTC 30 2 * * *")
	nightly, err := pool.On(context.Background(), spec, func(context.Context) error {
		return nil // backup
	}, executor.Named("backup"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nightly.Name(), "at", nightly.Next().Format("15:04 MST"))
	nightly.Cancel()
	// Output:
	// backup at 02:30 UTC
}

// launch is a trigger with one due time.
type launch struct{ at time.Time }

func (l launch) Next(t time.Time) time.Time {
	if t.Before(l.at) {
		return l.at
	}
	return time.Time{}
}

// Whatever has a method Next can be a schedule; the zero time ends it.
func ExampleTrigger() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	f, err := pool.On(ctx, launch{time.Now().Add(10 * time.Millisecond)}, func(context.Context) error {
		fmt.Println("lift-off")
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Get(ctx)
	fmt.Println(f.State())
	// Output:
	// lift-off
	// succeeded
}

// audited is a task that prints its runs.
type audited struct{ executor.ScheduledTask }

func (a audited) Run(ctx context.Context) error {
	fmt.Println("begin")
	err := a.ScheduledTask.Run(ctx)
	fmt.Println("end:", err)
	return err
}

// Decorate wraps each task of a scheduled pool.
func ExampleScheduledConfig() {
	pool, err := executor.NewScheduled(executor.ScheduledConfig{
		Core:     1,
		Decorate: func(task executor.ScheduledTask) executor.ScheduledTask { return audited{task} },
	})
	if err != nil {
		panic(err)
	}
	executor.Schedule(context.Background(), pool, time.Millisecond, func(context.Context) (int, error) {
		fmt.Println("working")
		return 1, nil
	})
	pool.Close() // a task that is scheduled once still runs
	// Output:
	// begin
	// working
	// end: <nil>
}

// Due returns the time at which the current run was due.
func ExampleDue() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.Schedule(ctx, pool, time.Millisecond, func(ctx context.Context) (bool, error) {
		return time.Since(executor.Due(ctx)) >= 0, nil
	})
	fmt.Println(f.Get(ctx))
	// Output:
	// true <nil>
}
