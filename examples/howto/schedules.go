package howto

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
)

// A Digest is the payload of a job that mails a user what is new.
type Digest struct{ User int }

// registerSchedules makes the schedules in the store those of this program. Each node calls it when it starts.
func registerSchedules(ctx context.Context, jobs *durable.Jobs, backup, rates *durable.Kind[struct{}, int]) error {
	set := durable.ScheduleSet{Prefix: "app/", Absent: durable.DeleteAbsent}
	registered, err := jobs.RegisterSet(ctx, set,
		backup.PrepareOn("app/backup", cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), struct{}{}),
		rates.PrepareAtFixedRate("app/rates", 0, 15*time.Minute, struct{}{}, durable.OnMissed(durable.Skip(time.Minute))),
	)
	for _, s := range registered.Absent {
		slog.Info("schedule is no longer in the program", "key", s.Job.Key, "answer", s.Answer)
	}
	if errors.Is(err, durable.ErrDead) {
		slog.Error("a schedule is dead: revive it when the cause is fixed", "err", err)
		return nil // the other schedules are registered
	}
	return err
}

// chooseTimes is called when a user has chosen the times of a digest.
func chooseTimes(ctx context.Context, digests *durable.Kind[Digest, int], user int, spec string) error {
	schedule, err := cron.Parse(spec)
	if err != nil {
		return err // the text says what is wrong with the expression
	}
	_, err = digests.On(ctx, fmt.Sprintf("user/%d/digest", user), schedule, Digest{user}, durable.ReuseKey())
	return err
}

// stopDigest is called when a user wants no digest any more.
func stopDigest(ctx context.Context, jobs *durable.Jobs, user int) error {
	job, err := jobs.Find(ctx, fmt.Sprintf("user/%d/digest", user))
	if errors.Is(err, durable.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = jobs.Cancel(ctx, job.ID)
	return err
}
