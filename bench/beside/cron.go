package beside

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	ours "github.com/executor-go/executor/cron"
	"github.com/robfig/cron/v3"
)

// NightlyByCron backs up at half past two in Berlin until ctx ends, and then waits for the backup in progress.
func NightlyByCron(ctx context.Context, berlin *time.Location, backup func()) error {
	c := cron.New(cron.WithLocation(berlin), cron.WithChain(
		cron.SkipIfStillRunning(cron.DefaultLogger),
		cron.Recover(cron.DefaultLogger), // last; otherwise all runs after a panic would be skipped
	))
	if _, err := c.AddFunc("30 2 * * *", backup); err != nil {
		return err
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}

// Nightly does the same, also in the night in which Berlin has no half past two.
func Nightly(ctx context.Context, berlin *time.Location, backup func()) error {
	schedule, err := ours.ParseIn("30 2 * * *", berlin)
	if err != nil {
		return err
	}
	pool := executor.Scheduled(1)
	defer pool.Close() // waits for the backup in progress
	series, err := pool.On(ctx, schedule, func(context.Context) error { backup(); return nil },
		executor.ContinueAfterPanic())
	if err != nil {
		return err
	}
	<-series.Done() // ends with ctx
	return nil
}
