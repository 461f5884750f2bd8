package executor

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// The gate's inside can't be reached from outside: who finds it open is through
// before anybody else can act.

// A submitter that found the gate open looks again once it has the lock: by then
// a worker may be idle, to whom the task is to go.
func TestGateIsLookedAtUnderItsLock(t *testing.T) {
	for range 1000 {
		g := gate{queue: new(stream)}
		g.open.Store(true)
		g.mu.Lock()
		admitted := make(chan bool)
		go func() { admitted <- g.admit(entry{Func(func(context.Context) error { return nil })}, nil) }()
		runtime.Gosched() // mostly, it waits for the lock by now
		g.open.Store(false)
		g.mu.Unlock()
		if <-admitted {
			t.Fatal("a task was queued though the gate was shut")
		}
	}
}

// A worker puts what has joined into its place once that is much, although it
// knows of a task that is due: those who schedule need not wait for that.
func TestCrowdAtTheGateIsLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Scheduled(1)
		step := make(chan int)
		run := func(context.Context) (struct{}, error) {
			<-step
			return struct{}{}, nil
		}
		loose := func() int {
			p.mu.gate.mu.Lock()
			defer p.mu.gate.mu.Unlock()
			return p.mu.delay.mono.Loose()
		}
		for range 3 {
			Schedule(t.Context(), p, 0, run) // the first is run, two are due
		}
		synctest.Wait()
		step <- 1 // the worker looks, and knows of the third
		synctest.Wait()
		for i := range many + 1 {
			Schedule(t.Context(), p, time.Hour-time.Duration(i), run)
		}
		if n := loose(); n != many {
			t.Errorf("%d of %d have no place", n, many)
		}
		step <- 2
		synctest.Wait()
		if n := loose(); n != 0 || p.mu.delay.crowded() || p.Stats().Active != 1 {
			t.Errorf("%d still have no place; crowded: %v", n, p.mu.delay.crowded())
		}
		step <- 3
		p.ShutdownNow()
		p.AwaitTermination(t.Context())
	})
}
