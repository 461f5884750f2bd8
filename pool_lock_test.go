package executor

import (
	"context"
	"runtime"
	"testing"
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
