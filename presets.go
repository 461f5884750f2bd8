package executor

import (
	"math"
	"time"
)

// Fixed returns a pool of n workers, started on demand and kept, over an unbounded queue.
// It panics if n is less than 1.
func Fixed(n int) *Pool {
	return must(New(Config{Core: atLeast(1, "Fixed", n)}))
}

// Cached returns a pool without a limit, which starts a worker whenever none is idle and
// keeps idle ones for a minute.
func Cached() *Pool {
	return must(New(Config{Max: math.MaxInt, KeepAlive: time.Minute, Queue: Handoff()}))
}

// Single returns a pool of one worker over an unbounded queue: tasks run one after the
// other, in order. It cannot be retuned, so that it stays like that.
func Single() *Pool {
	p := Fixed(1)
	p.frozen = true
	return p
}

// PerTask returns a pool without a limit that runs each task in a goroutine of its own and
// keeps none: the go statement with futures, hooks, counters and a shutdown.
func PerTask() *Pool {
	return must(New(Config{Max: math.MaxInt, Queue: Handoff()}))
}

// Scheduled returns a scheduled pool of n workers. It panics if n is negative; for 0 see
// ScheduledConfig.Core.
func Scheduled(n int) *ScheduledPool {
	return must(NewScheduled(ScheduledConfig{Core: atLeast(0, "Scheduled", n)}))
}

// SingleScheduled returns a scheduled pool of one worker: tasks never overlap. It cannot
// be retuned, but for its policies, as by SetDelayed.
func SingleScheduled() *ScheduledPool {
	p := Scheduled(1)
	p.frozen = true
	return p
}

func atLeast(least int, where string, n int) int {
	if n < least {
		panic(invalid("%s(%d): must be at least %d", where, n, least).Error())
	}
	return n
}

func must[P any](p P, err error) P {
	if err != nil {
		panic(err.Error())
	}
	return p
}
