package queue

import (
	"math"
	"sync/atomic"
	"time"
)

// clock counts nanoseconds on the monotonic clock since its epoch. An instant is such a
// count. It is an int64, so that instants are compared by <.
type clock struct {
	epoch time.Time // with a monotonic reading

	// ahead is the wall clock minus the monotonic clock, in ns, both counted from
	// epoch. It changes only when the wall clock was set or the machine slept.
	// Measured anew for every element, it would differ by some ns each time, and
	// equal times would not leave in order of arrival.
	ahead atomic.Int64
}

// never is the last instant. It stands for all times beyond.
const never = math.MaxInt64

// now returns the present instant. It is never negative.
func (c *clock) now() int64 { return int64(time.Since(c.epoch)) }

// instant returns the instant of t, saturating: all times that are too far away are the
// first instant or never.
func (c *clock) instant(t time.Time) int64 {
	wall := t.Round(0)
	if t != wall {
		return int64(t.Sub(c.epoch)) // both have a monotonic reading; Sub saturates
	}
	return int64(wall.Sub(c.epoch.Round(0).Add(time.Duration(c.wallAhead()))))
}

// wallAhead returns ahead, after measuring whether it still holds. A measurement counts
// if the next one agrees: time.Now may be interrupted between its readings of the two
// clocks for any time.
func (c *clock) wallAhead() int64 {
	known := c.ahead.Load()
	for last := known; ; {
		ahead := c.measure()
		switch {
		case near(ahead, known):
			return known
		case near(ahead, last):
			c.ahead.CompareAndSwap(known, ahead)
			return c.ahead.Load()
		}
		last = ahead
	}
}

func (c *clock) measure() int64 {
	now := time.Now()
	return int64(now.Round(0).Sub(c.epoch.Round(0)) - now.Sub(c.epoch))
}

// near reports whether a and b differ by less than a millisecond, as two measurements do
// unless a clock was set between them.
func near(a, b int64) bool { return max(a-b, b-a) < int64(time.Millisecond) }
