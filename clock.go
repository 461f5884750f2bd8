package executor

import (
	"math"
	"time"
)

// clock counts the time of one pool: nanoseconds since the pool was made, on
// the monotonic clock. It starts at 1, so that 0 can stand for "no time".
type clock struct{ epoch time.Time }

// instant is one reading of both clocks.
type instant struct {
	mono int64 // since the pool's epoch
	wall int64 // Unix time in nanoseconds
}

// never is the last instant, on either clock: that of all times which are farther
// away.
const never = math.MaxInt64

func newClock() clock { return clock{time.Now().Add(-1)} }

func (c clock) now() instant {
	t := time.Now()
	return instant{mono: int64(t.Sub(c.epoch)), wall: t.UnixNano()}
}

// elapsed gives the reading of the monotonic clock alone, which is cheaper.
func (c clock) elapsed() int64 { return int64(time.Since(c.epoch)) }

// on gives the reading of the one clock or the other.
func (i instant) on(wall bool) int64 {
	if wall {
		return i.wall
	}
	return i.mono
}

// time gives a reading as a time.Time; that of a monotonic one is the wall
// clock's as it was set when the pool was made, and compares exactly.
func (c clock) time(ns int64, wall bool) time.Time {
	if wall {
		return time.Unix(0, ns)
	}
	return c.epoch.Add(time.Duration(ns))
}

// in gives t as a reading, never 0.
func (c clock) in(t time.Time, wall bool) int64 {
	if wall {
		return max(wallNanos(t), 1)
	}
	return max(int64(t.Sub(c.epoch)), 1)
}

// wallNanos gives t in Unix nanoseconds, saturating: a time beyond the years
// 1678 and 2262 is never or at once.
func wallNanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s > math.MaxInt64/1_000_000_000-1:
		return never
	case s < math.MinInt64/1_000_000_000+1:
		return math.MinInt64
	}
	return t.UnixNano()
}

// after gives t+d for a delay d, of which a negative one counts as none. It
// saturates: a delay that is too long is for ever, not in the past.
func after(t, d int64) int64 {
	if d <= 0 {
		return t
	}
	if sum := t + d; sum > t {
		return sum
	}
	return never
}

// until gives a-b, saturating.
func until(a, b int64) time.Duration {
	d := a - b
	if (a^b)&(a^d) >= 0 {
		return time.Duration(d)
	}
	if a < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}
