package subject

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/bench/drive"
)

var afterFunc = Subject{
	ID: "afterfunc", Title: "time.AfterFunc", Charts: true, StartsGoroutines: true,
	How: "`AfterFunc` and `Stop`; a periodic task sets its timer again with `Reset`. " +
		"The runtime has a heap for each processor, and runs each task in a goroutine of its own.",
	Choose: "for few timers, or where no limit on concurrency, no future, no order and no shutdown is needed.",
	Funcs: merge(
		drive.Schedules(func(_ int, task func()) drive.Timers[*time.Timer] {
			return drive.Timers[*time.Timer]{
				After:  func(d time.Duration) *time.Timer { return time.AfterFunc(d, task) },
				Cancel: (*time.Timer).Stop,
				Close:  func() {},
			}
		}),
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() {
			var over atomic.Bool
			for _, b := range tasks {
				var t *time.Timer
				t = time.AfterFunc(math.MaxInt64, func() {
					b.Run()
					if !over.Load() {
						t.Reset(time.Until(b.Next()))
					}
				})
				t.Reset(time.Until(b.First))
			}
			return func() { over.Store(true) }
		}),
	),
}
