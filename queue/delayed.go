package queue

import (
	"math"
	"sync/atomic"
	"time"
)

// delayed is the shelf of a queue whose elements have to be due: ranked by the
// instant, in nanoseconds on the queue's clock.
type delayed[T any] struct {
	ranked[T, int64]
	clock *clock
}

// pop returns the first element if it is due.
func (s *delayed[T]) pop() (T, bool) {
	if at, _, ok := s.heap.Peek(); !ok || at > s.clock.now() {
		var none T
		return none, false
	}
	return s.ranked.pop()
}

// due returns the instant of the first element.
func (s *delayed[T]) due() (at int64, ok bool) {
	at, _, ok = s.heap.Peek()
	return at, ok
}

// clock counts nanoseconds on the monotonic clock from its epoch on. An int64
// of them cannot overflow, and a comparison of two is a plain <.
type clock struct {
	epoch time.Time // with a monotonic reading

	// ahead is how far the wall clock is ahead of the monotonic one, in ns,
	// both counted from epoch. It changes only when the wall clock has been
	// set, or the machine slept; measured anew for every element, it would
	// differ by some ns each time and put equal times out of order of arrival.
	ahead atomic.Int64
}

// never is the last instant, of all times that are farther away.
const never = math.MaxInt64

// now returns the present instant; it is never negative.
func (c *clock) now() int64 { return int64(time.Since(c.epoch)) }

// instant returns the instant of t, the first or the last that there is if t
// is out of range.
func (c *clock) instant(t time.Time) int64 {
	wall := t.Round(0)
	if t != wall {
		return int64(t.Sub(c.epoch)) // both have a monotonic reading; saturates
	}
	at := int64(wall.Sub(c.epoch.Round(0)))
	if at == never {
		return never
	}
	return saturatingSub(at, c.wallAhead())
}

// wallAhead returns ahead, after measuring whether that still holds. Only what
// is measured twice counts: between its readings of the two clocks, time.Now
// may be interrupted for as long as the scheduler likes.
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

// near reports whether a and b are less than a millisecond apart: two
// measurements of one distance are, and two clocks that keep step.
func near(a, b int64) bool { return max(a-b, b-a) < int64(time.Millisecond) }

// saturatingSub returns a-b, or the nearest int64.
func saturatingSub(a, b int64) int64 {
	switch d := a - b; {
	case b > 0 && d > a:
		return math.MinInt64
	case b < 0 && d < a:
		return math.MaxInt64
	default:
		return d
	}
}
