package subject

import (
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/executor-go/executor/bench/drive"
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
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() {
			s := startGocron()
			for _, b := range tasks {
				_, err := s.NewJob(gocron.DurationJob(b.Period),
					gocron.NewTask(func() { b.RunAt(time.Now().Add(-time.Since(b.First) % b.Period)) }),
					gocron.WithStartAt(gocron.WithStartDateTime(b.First)))
				must(err)
			}
			return func() { s.Shutdown() }
		}),
	),
}

func startGocron() gocron.Scheduler {
	s, err := gocron.NewScheduler()
	must(err)
	s.Start()
	return s
}
