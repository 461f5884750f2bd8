package beside

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
)

// PollByGocron polls every ten seconds until ctx ends, and skips the times that come during a poll.
func PollByGocron(ctx context.Context, poll func(context.Context) error, failed func(error)) error {
	s, err := gocron.NewScheduler()
	if err != nil {
		return err
	}
	_, err = s.NewJob(
		gocron.DurationJob(10*time.Second),
		gocron.NewTask(poll, ctx),
		gocron.WithName("poll"),
		gocron.WithSingletonMode(gocron.LimitModeReschedule),
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(
			func(_ uuid.UUID, _ string, err error) { failed(err) },
		)),
	)
	if err != nil {
		return err
	}
	s.Start()
	<-ctx.Done()
	return s.Shutdown()
}

// Poll does the same.
func Poll(ctx context.Context, poll func(context.Context) error, failed func(error)) error {
	pool := executor.Scheduled(1)
	defer pool.Close()
	series, err := pool.AtFixedRate(ctx, 10*time.Second, 10*time.Second, func(ctx context.Context) error {
		if err := poll(ctx); err != nil {
			failed(err)
		}
		return nil
	}, executor.Named("poll"), executor.CatchUp(0)) // skips the times that come during a poll
	if err != nil {
		return err
	}
	<-series.Done()
	return nil
}
