package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/redis"
	"github.com/executor-go/executor/bench/workload"
)

var gocronScheduler = Subject{
	ID: "gocron", Title: "gocron", Module: "github.com/go-co-op/gocron/v2", MaxTasks: 1000, SkipsMissed: true,
	How: "`NewJob` with `OneTimeJob` and `RemoveJob`; `DurationJob` with a start time for periodic tasks. " +
		"It skips missed runs and does not report the due times of the others, so it is not measured where runs are " +
		"more than a period late.",
	Choose: "for jobs of an application: tags, monitors, leader election among several processes.",
	Funcs: merge(
		only(drive.Schedules(func(_ int, task func()) drive.Timers[uuid.UUID] {
			s := startGocron()
			return drive.Timers[uuid.UUID]{
				After: func(d time.Duration) uuid.UUID {
					at := gocron.OneTimeJobStartDateTime(time.Now().Add(d))
					job, err := s.NewJob(gocron.OneTimeJob(at), gocron.NewTask(task))
					must(err)
					return job.ID()
				},
				Cancel: func(id uuid.UUID) bool { return s.RemoveJob(id) == nil },
				Close:  func() { s.Shutdown() },
			}
		}), workload.ScheduleCancel, workload.Pending, workload.Idle),
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() { return runGocron(tasks) }),
	),
}

var gocronLocked = Subject{
	ID: "gocron-redis", Title: "gocron on Redis", Module: "github.com/go-co-op/gocron/v2", MaxTasks: 1000,
	SkipsMissed: true, Missing: redis.Look,
	How: "the same with `WithDistributedLocker`: a `redsync.Mutex` for each job, tried once, on the Redis of asynq. " +
		"A run that has no lock is left out, and nothing is stored about those that have one.",
	Choose: "for jobs that are in the code of each process, if a run may be lost together with its process.",
	Funcs: drive.DurablePeriodic(func(_ int, tasks []*drive.Periodic) func() {
		server, err := redis.Start()
		must(err)
		client := goredis.NewClient(&goredis.Options{Addr: server.Addr})
		stop := runGocron(tasks, gocron.WithDistributedLocker(locker{redsync.New(redsyncredis.NewPool(client))}))
		return func() {
			stop()
			must(client.Close())
			server.Close()
		}
	}),
}

// runGocron runs the tasks until stop is called.
func runGocron(tasks []*drive.Periodic, opts ...gocron.SchedulerOption) (stop func()) {
	s := startGocron(opts...)
	for i, b := range tasks {
		_, err := s.NewJob(gocron.DurationJob(b.Period),
			gocron.NewTask(func() { b.RunAt(time.Now().Add(-time.Since(b.First) % b.Period)) }),
			gocron.WithStartAt(gocron.WithStartDateTime(b.First)), gocron.WithName(fmt.Sprint("job", i)))
		must(err)
	}
	return func() { s.Shutdown() }
}

// locker is the adapter of redsync to gocron.
type locker struct{ *redsync.Redsync }

func (l locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	m := l.NewMutex(key, redsync.WithTries(1))
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	return lock{m}, nil
}

type lock struct{ *redsync.Mutex }

func (l lock) Unlock(ctx context.Context) error {
	_, err := l.UnlockContext(ctx)
	return err
}

func startGocron(opts ...gocron.SchedulerOption) gocron.Scheduler {
	s, err := gocron.NewScheduler(opts...)
	must(err)
	s.Start()
	return s
}
