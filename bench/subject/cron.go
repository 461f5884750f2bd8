package subject

import (
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var cronRunner = Subject{
	ID: "cron", Title: "robfig/cron", Module: "github.com/robfig/cron/v3", Few: 1000,
	How:    "`Schedule` with a Schedule of our own, since its own know no fractions of a second, and `Remove`. All entries are sorted whenever one is added or runs. What it leaves out of runs that it missed is not counted as late.",
	Choose: "for a handful of crontab lines and nothing else.",
	Can: both(
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
		drive.Lateness(func(_ int, beats []*drive.Beat) func() {
			c := cron.New()
			for _, b := range beats {
				s := &told{beat: b}
				c.Schedule(s, cron.FuncJob(s.run))
			}
			c.Start()
			return func() { <-c.Stop().Done() }
		}),
	),
}

// once is a schedule with one time.
type once time.Time

func (o once) Next(now time.Time) time.Time {
	if at := time.Time(o); at.After(now) {
		return at
	}
	return time.Time{}
}

// told is the schedule of a beat, and remembers the times that it gave.
type told struct {
	beat *drive.Beat
	mu   sync.Mutex
	dues []time.Time
}

func (t *told) Next(now time.Time) time.Time {
	at := t.beat.First
	if behind := now.Sub(at); behind >= 0 {
		at = at.Add((behind/t.beat.Period + 1) * t.beat.Period)
	}
	t.mu.Lock()
	t.dues = append(t.dues, at)
	t.mu.Unlock()
	return at
}

func (t *told) run() {
	t.mu.Lock()
	due := t.dues[0]
	t.dues = t.dues[1:]
	t.mu.Unlock()
	t.beat.RunAt(due)
}
