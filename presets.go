package executor

import (
	"math"
	"time"
)

// The presets are Configs with a name of their own. Each takes functions that change the
// Config before the pool is made, as to name it or to give it hooks:
//
//	pool := executor.Cached(func(c *executor.Config) { c.Name = "mail" })

// Fixed returns a pool of n workers, started on demand and kept, over an unbounded queue:
// New with Config{Core: n}, after it was changed by the functions with. It panics if n is
// less than 1, or the Config is invalid.
func Fixed(n int, with ...func(*Config)) *Pool {
	return preset(Config{Core: atLeast(1, "Fixed", n)}, with)
}

// Cached returns a pool without a limit, which starts a worker whenever none is idle and
// keeps idle ones for a minute. It is [New] with
//
//	Config{Max: math.MaxInt, KeepAlive: time.Minute, Queue: Handoff()}
//
// after it was changed by the functions with. It panics if the Config is invalid. For a
// limit set Max and, for tasks beyond it to wait, Queue to [Unbounded] and Growth to
// [GrowWhenBusy].
func Cached(with ...func(*Config)) *Pool {
	return preset(Config{Max: math.MaxInt, KeepAlive: time.Minute, Queue: Handoff()}, with)
}

// Single returns a pool of one worker over an unbounded queue: tasks run one after the
// other, in order. It is [New] with Config{Core: 1}, after it was changed by the functions
// with, except that it cannot be retuned, so that it stays like that. It panics if the
// Config is invalid, or not one of a single worker.
func Single(with ...func(*Config)) *Pool {
	p := Fixed(1, with...)
	if p.Max() != 1 {
		panic(invalid("Single: Max is %d; it must be 1", p.Max()).Error())
	}
	p.frozen = true
	return p
}

// PerTask returns a pool without a limit that runs each task in a goroutine of its own and
// keeps none: the go statement with futures, hooks, counters and a shutdown. It is [New]
// with
//
//	Config{Max: math.MaxInt, Queue: Handoff()}
//
// after it was changed by the functions with. It panics if the Config is invalid.
func PerTask(with ...func(*Config)) *Pool {
	return preset(Config{Max: math.MaxInt, Queue: Handoff()}, with)
}

// Scheduled returns a scheduled pool of n workers: [NewScheduled] with
// ScheduledConfig{Core: n}, after it was changed by the functions with. It panics if n is
// negative, for 0 see ScheduledConfig.Core, or the ScheduledConfig is invalid.
func Scheduled(n int, with ...func(*ScheduledConfig)) *ScheduledPool {
	c := ScheduledConfig{Core: atLeast(0, "Scheduled", n)}
	for _, change := range with {
		change(&c)
	}
	return must(NewScheduled(c))
}

// SingleScheduled returns a scheduled pool of one worker: tasks never overlap. It cannot
// be retuned, but for its policies, as by SetDelayed. Otherwise it is Scheduled(1). It
// panics if the functions with make it one of several workers.
func SingleScheduled(with ...func(*ScheduledConfig)) *ScheduledPool {
	p := Scheduled(1, with...)
	if p.Core() > 1 {
		panic(invalid("SingleScheduled: Core is %d; it must not be more than 1", p.Core()).Error())
	}
	p.frozen = true
	return p
}

// preset returns New of c, after it was changed.
func preset(c Config, with []func(*Config)) *Pool {
	for _, change := range with {
		change(&c)
	}
	return must(New(c))
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
