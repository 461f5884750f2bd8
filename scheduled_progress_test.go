package executor_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// The state of periodic work is pending between runs and running during one.
func TestPeriodicStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		f, _ := p.AtFixedRate(t.Context(), time.Second, 2*time.Second, func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}, executor.Times(2))
		time.Sleep(time.Second / 2)
		for i, want := range []executor.State{
			executor.Pending, executor.Running, executor.Pending, executor.Running, executor.Succeeded,
		} {
			testkit.StateIs(t, fmt.Sprint("the task in second ", i), f, want)
			_, err := f.Result()
			expect(t, "there is an outcome", err == nil, want.Done())
			time.Sleep(time.Second)
		}
	})
}

// Next, Delay and Runs tell where periodic work is: before a run its time,
// during a run the time of that run, and nothing once it is done.
func TestPeriodicProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		begin := time.Now()
		f, _ := p.AtFixedRate(t.Context(), time.Second, 10*time.Second, func(context.Context) error {
			time.Sleep(4 * time.Second)
			return nil
		}, executor.Times(2))
		at := func(now, next, delay time.Duration, runs int64) {
			t.Helper()
			elapse(now - time.Since(begin))
			expect(t, "Next", f.Next().Sub(begin), next)
			expect(t, "Delay", f.Delay(), delay)
			expect(t, "Runs", f.Runs(), runs)
		}
		s := time.Second
		at(0, s, s, 0)
		at(2*s, s, -s, 0)
		at(6*s, 11*s, 5*s, 1)
		at(13*s, 11*s, -2*s, 1)
		elapse(3 * s)
		expect(t, "Next of a task that is done", f.Next(), time.Time{})
		expect(t, "Delay of a task that is done", f.Delay(), 0)
		expect(t, "Runs", f.Runs(), 2)
	})
}

// A future that was never accepted has no time.
func TestProgressOfRejectedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		p.Shutdown()
		f := executor.Schedule(t.Context(), p, time.Hour, nopValue)
		expect(t, "Next", f.Next(), time.Time{})
		expect(t, "Delay", f.Delay(), 0)
		expect(t, "Runs", f.Runs(), 0)
		expect(t, "LastError", f.LastError(), nil)
	})
}

// Next can be asked at any time, also while a worker finds the next time.
func TestNextDuringRuns(t *testing.T) {
	for _, decorate := range []func(executor.ScheduledTask) executor.ScheduledTask{
		nil, func(inner executor.ScheduledTask) executor.ScheduledTask {
			return &testkit.Decoration{ScheduledTask: inner}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, executor.ScheduledConfig{Core: 2, Decorate: decorate})
			every := testkit.TriggerFunc(func(t time.Time) time.Time { return t.Add(1) })
			f, _ := p.On(t.Context(), every, nop, executor.Times(300))
			g, _ := p.AtFixedRate(t.Context(), 0, 1, nop, executor.Times(300))
			for !f.State().Done() || !g.State().Done() {
				for _, f := range []*executor.ScheduledFuture[struct{}]{f, g} {
					f.Next()
					f.Delay()
					f.Runs()
					f.LastError()
				}
				time.Sleep(time.Nanosecond)
			}
		})
	}
}
