package executor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/internal/alarm"
)

// A worker that is handed a task in the very moment in which it hears the alarm
// does not keep the alarm to itself: it is set for those that are still idle.
// Between the two a worker is nowhere that a test could hold it, so one is made
// up that has received both.
func TestAlarmDuringHandOver(t *testing.T) {
	for range 64 { // in each the worker notices one of the two first, at random
		if synctest.Test(t, alarmDuringHandOver); t.Failed() {
			return
		}
	}
}

func alarmDuringHandOver(t *testing.T) {
	p, err := NewScheduled(ScheduledConfig{Core: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.ShutdownNow()
	p.PrestartAll()
	synctest.Wait()
	Schedule(context.Background(), p, time.Hour, func(context.Context) (int, error) { return 0, nil })

	w := &worker{wake: make(chan struct{}, 1), alarm: alarm.New()}
	defer w.alarm.Close()
	w.alarm.Set(0)
	synctest.Wait()
	w.wake <- struct{}{}
	if next := p.parkDelayed(w); next != works {
		t.Errorf("the worker's next step is %d, though it has a task", next)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.delay.set == 0 {
		t.Error("the alarm was heard and is not set again, though others are idle")
	}
}
