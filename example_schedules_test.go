package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// Schedules lists the periodic work of a pool, in the order of the next runs.
func ExampleScheduledPool_Schedules() {
	pool := executor.Scheduled(2)
	defer pool.Close()
	ctx := context.Background()
	nothing := func(context.Context) error { return nil }
	pool.On(ctx, cron.MustParse("CRON_TZ=UTC 0 0 1 1 *"), nothing, executor.Named("fireworks"))
	pool.AtFixedRate(ctx, time.Minute, time.Hour, nothing, executor.Named("report"), executor.Times(3))
	pool.WithFixedDelay(ctx, 0, 5*time.Minute, nothing, executor.Named("tidy"), executor.StartPaused())

	for _, s := range pool.Schedules() {
		fmt.Printf("%s: %v, %d runs, paused %t, %d more times known\n",
			s.Name, s.Rhythm, s.Runs, s.Paused, len(s.NextN(10)))
	}
	// Unordered output:
	// report: every 1h0m0s, 0 runs, paused false, 3 more times known
	// fireworks: CRON_TZ=UTC 0 0 1 1 *, 0 runs, paused false, 10 more times known
	// tidy: 5m0s after each run, 0 runs, paused true, 0 more times known
}

// A paused series keeps its place on the grid, and makes up for nothing when it is resumed.
func ExampleSeries_Pause() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	report, err := pool.AtFixedRate(context.Background(), time.Hour, time.Hour, func(context.Context) error {
		return nil // write the report
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	before := report.Next()
	report.Pause()
	fmt.Println("paused:", report.Next().IsZero())
	report.Resume()
	fmt.Println("resumed:", report.Next().Equal(before))
	// Output:
	// paused: true
	// resumed: true
}

// RunNow makes one run besides those of the rhythm, but never one beside another.
func ExampleSeries_RunNow() {
	pool := executor.Scheduled(4)
	defer pool.Close()
	began, end := make(chan bool), make(chan bool)
	backup, err := pool.On(context.Background(), cron.MustParse("30 2 * * *"), func(context.Context) error {
		began <- true
		<-end
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(backup.RunNow())
	<-began
	fmt.Println(backup.RunNow(), errors.Is(backup.RunNow(), executor.ErrRunning))
	close(end)
	// Output:
	// <nil>
	// executor: a run is in progress true
}

// Reschedule sets another rhythm; name, options and counts stay.
func ExampleSeries_Reschedule() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	poll, err := pool.AtFixedRate(context.Background(), time.Hour, time.Hour, func(context.Context) error {
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []executor.Rhythm{
		executor.FixedDelay(10 * time.Minute),
		executor.OnTrigger(cron.MustParse("*/5 9-17 * * mon-fri")),
		executor.FixedRate(0),
	} {
		err := poll.Reschedule(r)
		fmt.Println(poll.Info().Rhythm, err)
	}
	// Output:
	// 10m0s after each run <nil>
	// */5 9-17 * * mon-fri <nil>
	// */5 9-17 * * mon-fri executor: Reschedule: period is 0s; it must be positive
}

// With ContinueAfterPanic a panic is a failed run, and the next one follows.
func ExampleContinueAfterPanic() {
	pool, err := executor.NewScheduled(executor.ScheduledConfig{Core: 1, Hooks: executor.Hooks{
		OnPanic: func(_ context.Context, info executor.TaskInfo, err *executor.PanicError) {
			fmt.Println("run", info.Run, "of", info.Name, "panicked:", err.Value)
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	var cache map[string]int
	work := func(context.Context) error {
		defer func() { cache = make(map[string]int) }()
		cache["runs"]++ // panics in the first run
		return nil
	}
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, work,
		executor.Named("count"), executor.Times(3), executor.ContinueAfterPanic())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Wait(context.Background()), s.Info().Runs, s.Info().Failures)
	// Output:
	// run 1 of count panicked: assignment to entry in nil map
	// <nil> 3 1
}

// With Overlap a run begins though others are in progress, up to three of them here.
func ExampleOverlap() {
	pool := executor.Scheduled(4)
	defer pool.Close()
	together := make(chan bool)
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, func(context.Context) error {
		<-together // all three get here, since none waits for the end of another
		return nil
	}, executor.Overlap(3), executor.Times(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		together <- true
	}
	fmt.Println(s.Wait(context.Background()), s.Runs())
	// Output:
	// <nil> 3
}

// With StartPaused a series waits for Resume, as until a program is ready, or for RunNow.
func ExampleStartPaused() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, func(context.Context) error {
		return nil
	}, executor.StartPaused(), executor.Times(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("paused:", s.Info().Paused, s.State())
	s.Resume()
	fmt.Println(s.Wait(context.Background()), s.Runs())
	// Output:
	// paused: true pending
	// <nil> 2
}
