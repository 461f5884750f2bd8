package howto

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// nightly backs up at half past two in Berlin, whatever the machine's zone is, with or without summer time.
func nightly(
	ctx context.Context, pool *executor.ScheduledPool, backup func(context.Context) error,
) (*executor.Series, error) {
	return pool.On(ctx, cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), backup,
		executor.Named("backup"),
		executor.Timeout(time.Hour),
		executor.Jitter(5*time.Minute), // so that not all machines begin at once
	)
}

// remind runs a reminder at the times that a user has typed, in the zone of the user.
func remind(
	ctx context.Context, pool *executor.ScheduledPool, spec, zone string, send func(context.Context) error,
) (*executor.Series, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	schedule, err := cron.ParseIn(spec, location)
	if err != nil {
		return nil, fmt.Errorf("your reminder: %w", err) // the text says where the mistake is, and how to mend it
	}
	return pool.On(ctx, schedule, send, executor.Named("reminder"))
}

// upcoming returns the next n times of a schedule after t.
func upcoming(schedule cron.Schedule, t time.Time, n int) (times []time.Time) {
	for next := range schedule.Upcoming(t) {
		if len(times) == n {
			break
		}
		times = append(times, next)
	}
	return times
}
