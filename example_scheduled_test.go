package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// A scheduled pool runs tasks after a delay, in the order of their times.
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

// A task that is canceled before its time leaves at once.
func ExampleScheduledFuture() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	reminder := executor.Schedule(context.Background(), pool, 24*time.Hour, func(context.Context) (int, error) {
		return 0, errors.New("nobody reminds me")
	}, executor.Named("reminder"))

	fmt.Println(reminder.Name(), reminder.State(), reminder.Delay() > 23*time.Hour)
	reminder.Cancel()
	fmt.Println(reminder.Err(), pool.Stats().Queued)
	// Output:
	// reminder pending true
	// executor: task canceled 0
}

// At runs a task at a time of day; one that has passed is now.
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

// Work at a fixed rate keeps its pace, however long a run takes. It goes on
// after an error, and ends by Done, Times, Until, Cancel, or a panic.
func ExampleScheduledPool_AtFixedRate() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	n := 0
	beat, err := pool.AtFixedRate(ctx, 0, time.Millisecond, func(context.Context) error {
		n++
		fmt.Println("beat", n)
		if n == 3 {
			return executor.Stop
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = beat.Get(ctx)
	fmt.Println(beat.Runs(), beat.State(), err)
	// Output:
	// beat 1
	// beat 2
	// beat 3
	// 3 succeeded <nil>
}

// With a fixed delay there is a pause between the end of a run and the next.
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

// launch is a trigger of a user's own: one time, then never again.
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

// audited is a task that says what it does.
type audited struct{ executor.ScheduledTask }

func (a audited) Run(ctx context.Context) error {
	fmt.Println("begin")
	err := a.ScheduledTask.Run(ctx)
	fmt.Println("end:", err)
	return err
}

// Decorate puts a task of your own around each task of a scheduled pool.
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
	pool.Close() // what is scheduled once stays, and runs
	// Output:
	// begin
	// working
	// end: <nil>
}

// A body knows when it was due, and so how late it is.
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
