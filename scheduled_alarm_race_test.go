package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// A worker that is handed a task in the very moment in which it hears the alarm
// does not keep the alarm to itself: those that are still idle wake up for the
// next task.
func TestAlarmDuringHandOver(t *testing.T) {
	for range scale(1000) {
		bubble(t, func(t *testing.T) {
			p, ms := cored(t, 3), time.Millisecond
			p.PrestartAll()
			long := func(context.Context) (struct{}, error) { time.Sleep(time.Hour); return struct{}{}, nil }
			executor.Schedule(t.Context(), p, ms, long)
			begin := time.Now()
			next := executor.Schedule(t.Context(), p, 2*ms, func(context.Context) (time.Duration, error) {
				return time.Since(begin), nil
			})
			time.Sleep(ms) // ends in the same moment as the first task's delay
			executor.Submit(t.Context(), p, long)
			ran, err := next.Get(t.Context())
			expect(t, "error", err, nil)
			expect(t, "time of the next task", ran, 2*ms)
		})
		if t.Failed() {
			return
		}
	}
}
