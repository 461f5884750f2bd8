package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// heldContext never ends. Whoever takes down the first watch over it has to
// wait for gate: a worker that completes a task of it is counted as idle by
// then, but does not listen to anything yet.
type heldContext struct {
	context.Context
	done    chan struct{}
	gate    chan struct{}
	watched bool
}

func newHeldContext() *heldContext {
	return &heldContext{context.Background(), make(chan struct{}), make(chan struct{}), false}
}

func (c *heldContext) Done() <-chan struct{} { return c.done }

// AfterFunc is what [context.AfterFunc] calls on a context that has it. The
// first watch is that over the task, the others are those of its runs.
func (c *heldContext) AfterFunc(func()) (stop func() bool) {
	if c.watched {
		return func() bool { return true }
	}
	c.watched = true
	return func() bool {
		<-c.gate
		return true
	}
}

// A worker that is handed a task in the very moment in which it hears the alarm
// does not keep the alarm to itself: those that are still idle wake up for the
// next task.
func TestAlarmDuringHandOver(t *testing.T) {
	for range 64 { // in each the worker notices one of the two first, at random
		if bubble(t, alarmDuringHandOver); t.Failed() {
			return
		}
	}
}

func alarmDuringHandOver(t *testing.T) {
	const ms = time.Millisecond
	ctx, begin := context.Background(), time.Now()
	busy := func(d time.Duration) func(context.Context) (time.Duration, error) {
		return func(context.Context) (time.Duration, error) {
			began := time.Since(begin)
			time.Sleep(d)
			return began, nil
		}
	}
	p := cored(t, 3)

	// Shutdown ends two series in their runs: at 3 and 4 ms their workers are
	// idle, and held. At 5 ms the alarm goes off, and nobody hears it.
	var held [2]*heldContext
	for i := range held {
		held[i] = newHeldContext()
		_, err := p.AtFixedRate(held[i], ms, time.Hour, func(context.Context) error {
			time.Sleep(time.Duration(2+i) * ms)
			return nil
		})
		expect(t, "error of AtFixedRate", err, nil)
	}
	executor.Submit(ctx, p, busy(7*ms))
	for range 2 {
		executor.Schedule(ctx, p, 5*ms, busy(time.Hour))
	}
	next := executor.Schedule(ctx, p, 9*ms, busy(0))
	time.Sleep(2 * ms)
	p.Shutdown()

	// At 7 ms the third worker takes one of the tasks that are due, and hands
	// the other to the worker that became idle last. Let go, that one finds the
	// task and the alarm. The other worker has to hear of the last task.
	time.Sleep(6 * ms)
	expect(t, "idle workers", settled(t, p).Idle, 1)
	close(held[1].gate)
	synctest.Wait()
	close(held[0].gate)
	began, err := next.Get(ctx)
	expect(t, "error of the last task", err, nil)
	expect(t, "time of the last task", began, 9*ms)
}
