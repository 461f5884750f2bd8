package subject

import (
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var gocronScheduler = Subject{
	ID: "gocron", Title: "gocron", Module: "github.com/go-co-op/gocron/v2", Few: 1000, Forgets: true,
	How:    "`NewJob` with `OneTimeJob` and `RemoveJob`; `DurationJob` with a start time for periodic tasks. It leaves out runs that it missed and does not tell when the others were due, so it is not measured where runs come more than a period late.",
	Choose: "for jobs of an application: tags, monitors, elections among several processes.",
	Can: both(
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
		drive.Lateness(func(_ int, beats []*drive.Beat) func() {
			s := startGocron()
			for _, b := range beats {
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
