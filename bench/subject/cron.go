package subject

import (
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var cronRunner = Subject{
	ID: "cron", Title: "robfig/cron", Module: "github.com/robfig/cron/v3", MaxTasks: 1000,
	How: "`Schedule` with a Schedule of the benchmark, because its own have no fractions of a second, and `Remove`. " +
		"It sorts all entries when one is added or runs. " +
		"Runs that it skips do not count as late.",
	Choose: "for a few crontab lines and nothing else.",
	Funcs: merge(
		only(drive.Schedules(func(_ int, task func()) drive.Timers[cron.EntryID] {
			c := cron.New()
			c.Start()
			return drive.Timers[cron.EntryID]{
				After: func(d time.Duration) cron.EntryID {
					return c.Schedule(once(time.Now().Add(d)), cron.FuncJob(task))
				},
				Cancel: func(id cron.EntryID) bool { c.Remove(id); return true },
				Close:  func() { c.Stop() },
			}
		}), workload.ScheduleCancel, workload.Pending, workload.Idle),
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() {
			c := cron.New()
			for _, b := range tasks {
				s := &recordedSchedule{beat: b}
				c.Schedule(s, cron.FuncJob(s.run))
			}
			c.Start()
			return func() { <-c.Stop().Done() }
		}),
	),
}

// once is a schedule with one due time.
type once time.Time

func (o once) Next(now time.Time) time.Time {
	if at := time.Time(o); at.After(now) {
		return at
	}
	return time.Time{}
}

// recordedSchedule is the schedule of a periodic task, and records the times that it
// returned.
type recordedSchedule struct {
	beat *drive.Periodic
	mu   sync.Mutex
	dues []time.Time
}

func (t *recordedSchedule) Next(now time.Time) time.Time {
	at := t.beat.First
	if behind := now.Sub(at); behind >= 0 {
		at = at.Add((behind/t.beat.Period + 1) * t.beat.Period)
	}
	t.mu.Lock()
	t.dues = append(t.dues, at)
	t.mu.Unlock()
	return at
}

func (t *recordedSchedule) run() {
	t.mu.Lock()
	due := t.dues[0]
	t.dues = t.dues[1:]
	t.mu.Unlock()
	t.beat.RunAt(due)
}
