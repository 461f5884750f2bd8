package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// impatient makes a pool whose decorations have the body run in another goroutine, and
// return by leave as soon as it has begun.
func impatient(t *testing.T, hooks executor.Hooks, leave func()) (p *executor.ScheduledPool, begun chan<- struct{}) {
	c := make(chan struct{})
	p, _ = decorating(t, executor.ScheduledConfig{Hooks: hooks}, testkit.Decoration{
		RunFunc: func(ctx context.Context, inner executor.ScheduledTask) error {
			go inner.Run(ctx)
			<-c
			leave()
			return nil
		},
	})
	return p, c
}

// A run is over when the body is, also if its decoration has returned before, in
// whatever way: the next does not begin, the work goes on, and the pool knows of it.
func TestDecorationEndsBeforeBody(t *testing.T) {
	for name, leave := range map[string]func(){
		"returns": func() {},
		"panics":  func() { panic("boom") },
		"Goexit":  runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, begun := impatient(t, executor.Hooks{}, leave)
				d := newDiary()
				beat, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
					d.Note("begin")
					begun <- struct{}{}
					time.Sleep(3 * time.Second)
					d.Note("end")
					return nil
				}, executor.Times(2))
				once := executor.Schedule(t.Context(), p, time.Hour, func(context.Context) (int, error) {
					begun <- struct{}{}
					time.Sleep(time.Second)
					return 42, nil
				})
				elapse(time.Second)
				expect(t, "active during the first run", checkStats(t, p).Active, 1)
				elapse(2 * time.Hour)
				d.Check(t, "begin@0s", "end@3s", "begin@3s", "end@6s")
				testkit.StateIs(t, "the periodic task", beat, executor.Succeeded)
				v, err := once.Result()
				expect(t, "value", v, 42)
				expect(t, "error", err, nil)
				expect(t, "succeeded", checkStats(t, p).Succeeded, 2)
			})
		})
	}
}

// How such a body ends is told like any other end, also if it does not return.
func TestEndAfterDecorationIsTold(t *testing.T) {
	for want, end := range map[error]func() error{
		errTask:            func() error { panic(errTask) },
		executor.ErrGoexit: func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			var told error
			p, begun := impatient(t, executor.Hooks{
				AfterTask: func(_ context.Context, _ executor.TaskInfo, err error) { told = err },
			}, func() {})
			beat, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
				begun <- struct{}{}
				time.Sleep(time.Second)
				return end()
			})
			elapse(time.Minute)
			expectIs(t, "outcome", beat.Err(), want)
			expectIs(t, "AfterTask", told, want)
		})
	}
}
