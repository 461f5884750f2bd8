package beside

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// Shops is a service that fetches the prices of shops every minute, and cleans up at night.
type Shops struct {
	Names  []string
	Fetch  func(ctx context.Context, shop string) error
	Clean  func(context.Context) error
	Failed func(job string, err error)
}

// ServeByGocron serves until ctx ends, with an errgroup in a job of gocron.
func (s *Shops) ServeByGocron(ctx context.Context) error {
	scheduler, err := gocron.NewScheduler(gocron.WithGlobalJobOptions(
		gocron.WithSingletonMode(gocron.LimitModeReschedule),
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(
			func(_ uuid.UUID, name string, err error) { s.Failed(name, err) },
		)),
	))
	if err != nil {
		return err
	}
	refresh := func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(8)
		for _, shop := range s.Names {
			g.Go(func() error { return s.Fetch(ctx, shop) })
		}
		return g.Wait()
	}
	if _, err := scheduler.NewJob(gocron.DurationJob(time.Minute), gocron.NewTask(refresh, ctx),
		gocron.WithName("refresh")); err != nil {
		return err
	}
	if _, err := scheduler.NewJob(gocron.CronJob("30 2 * * *", false), gocron.NewTask(s.Clean, ctx),
		gocron.WithName("clean")); err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown() // waits up to ten seconds for the jobs that run
}

// Serve does the same.
func (s *Shops) Serve(ctx context.Context) error {
	schedules, err := executor.NewScheduled(executor.ScheduledConfig{
		Workers: 2, // as many as there are schedules, so that none waits for another one
		Hooks: executor.Hooks{AfterTask: func(_ context.Context, run executor.TaskInfo, err error) {
			if err != nil {
				s.Failed(run.Name, err)
			}
		}},
	})
	if err != nil {
		return err
	}
	fetches := executor.Fixed(8)
	defer fetches.Close()
	refresh := func(ctx context.Context) error {
		g := executor.NewGroup(ctx, fetches)
		for _, shop := range s.Names {
			g.Go(func(ctx context.Context) error { return s.Fetch(ctx, shop) })
		}
		return g.Wait()
	}
	grace := context.WithoutCancel(ctx) // schedules that end with their pool log nothing
	if _, err := schedules.AtFixedRate(grace, time.Minute, time.Minute, refresh,
		executor.Named("refresh"), executor.CatchUp(0)); err != nil {
		return err
	}
	if _, err := schedules.On(grace, cron.MustParse("30 2 * * *"), s.Clean, executor.Named("clean")); err != nil {
		return err
	}
	<-ctx.Done()
	grace, cancel := context.WithTimeout(grace, 10*time.Second)
	defer cancel()
	schedules.Drain(grace) // waits up to ten seconds for the runs in progress, and then ends their contexts
	return nil
}
