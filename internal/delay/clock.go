package delay

import (
	"math"
	"time"
)

// Clock counts nanoseconds on the monotonic clock since its Epoch, which is set so
// that readings begin with 1: 0 stands for no time.
type Clock struct{ Epoch time.Time }

// Instant is one reading of both clocks.
type Instant struct {
	Mono int64 // since the epoch
	Wall int64 // Unix time in nanoseconds
}

// Never is the last instant on either clock. It stands for all times beyond.
const Never = math.MaxInt64

// Now reads both clocks.
func (c Clock) Now() Instant {
	t := time.Now()
	return Instant{Mono: int64(t.Sub(c.Epoch)), Wall: t.UnixNano()}
}

// On returns the reading of the wall clock, or of the monotonic one.
func (i Instant) On(wall bool) int64 {
	if wall {
		return i.Wall
	}
	return i.Mono
}

// Time returns a reading as a time.Time. That of the monotonic clock shows the wall
// clock as it was at the epoch, and compares exactly.
func (c Clock) Time(ns int64, wall bool) time.Time {
	if wall {
		return time.Unix(0, ns)
	}
	return c.Epoch.Add(time.Duration(ns))
}

// WallNanos returns t in Unix nanoseconds. It saturates: years before 1678 or after
// 2262 do not fit.
func WallNanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s > math.MaxInt64/1_000_000_000-1:
		return Never
	case s < math.MinInt64/1_000_000_000+1:
		return math.MinInt64
	}
	return t.UnixNano()
}

// After returns t+d. A negative d counts as 0. It saturates at Never.
func After(t, d int64) int64 {
	if d <= 0 {
		return t
	}
	if sum := t + d; sum > t {
		return sum
	}
	return Never
}

// Until returns a-b, saturating.
func Until(a, b int64) time.Duration {
	d := a - b
	if (a^b)&(a^d) >= 0 {
		return time.Duration(d)
	}
	if a < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}
