package subject

import (
	"time"

	"github.com/RussellLuo/timingwheel"

	"github.com/executor-go/executor/bench/drive"
)

var timingWheel = Subject{
	ID: "timingwheel", Title: "timingwheel", Module: "github.com/RussellLuo/timingwheel",
	Charts: true, StartsGoroutines: true,
	How: "`NewTimingWheel(time.Millisecond, 20)`, as in its examples, with `AfterFunc` and `Stop`, " +
		"and `ScheduleFunc` for periodic tasks. " +
		"It rounds times down to its tick of one millisecond: a task may run that much early, " +
		"and tasks of one tick run in any order.",
	Choose: "for millions of timeouts that need neither order nor a precision below a millisecond.",
	Funcs: merge(
		drive.Schedules(func(_ int, task func()) drive.Timers[*timingwheel.Timer] {
			w := startWheel()
			return drive.Timers[*timingwheel.Timer]{
				After:  func(d time.Duration) *timingwheel.Timer { return w.AfterFunc(d, task) },
				Cancel: (*timingwheel.Timer).Stop,
				Close:  w.Stop,
			}
		}),
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() {
			w := startWheel()
			for _, b := range tasks {
				w.ScheduleFunc(&grid{next: b.First, period: b.Period}, b.Run)
			}
			return w.Stop
		}),
	),
}

func startWheel() *timingwheel.TimingWheel {
	w := timingwheel.NewTimingWheel(time.Millisecond, 20)
	w.Start()
	return w
}

// grid is the schedule of a periodic task at a fixed rate.
type grid struct {
	next   time.Time
	period time.Duration
}

// Next is called by one goroutine at a time.
func (g *grid) Next(time.Time) time.Time {
	at := g.next
	g.next = at.Add(g.period)
	return at.UTC()
}
