package delay

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Adding a delay never goes back in time: a negative delay is none, one that is
// too long is for ever.
func TestAfterSaturates(t *testing.T) {
	for _, c := range []struct{ t, d, want int64 }{
		{5, 7, 12},
		{5, 0, 5},
		{5, -1, 5},
		{5, math.MinInt64, 5},
		{5, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64 - 3, 3, math.MaxInt64},
		{-5, math.MaxInt64, math.MaxInt64 - 5},
		{math.MinInt64, 1, math.MinInt64 + 1},
	} {
		if got := After(c.t, c.d); got != c.want {
			t.Errorf("After(%d, %d) = %d, want %d", c.t, c.d, got, c.want)
		}
	}
}

// The difference of two times has the sign of their order, however far apart
// they are. JDK-6725789.
func TestUntilSaturates(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		want time.Duration
	}{
		{7, 5, 2},
		{5, 7, -2},
		{math.MaxInt64, -1, math.MaxInt64},
		{math.MaxInt64, math.MinInt64, math.MaxInt64},
		{math.MinInt64, 1, math.MinInt64},
		{math.MinInt64, math.MaxInt64, math.MinInt64},
		{-1, math.MaxInt64, math.MinInt64},
		{0, math.MinInt64, math.MaxInt64},
		{math.MinInt64, math.MinInt64, 0},
	} {
		if got := Until(c.a, c.b); got != c.want {
			t.Errorf("Until(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	for range 10_000 {
		a, b := int64(rand.Uint64()), int64(rand.Uint64())
		if d := Until(a, b); (d > 0) != (a > b) || (d < 0) != (a < b) {
			t.Fatalf("Until(%d, %d) = %d has the wrong sign", a, b, d)
		}
	}
}

// A time of day beyond the range of nanoseconds is never, or at once, and not
// somewhere else.
func TestWallNanosSaturates(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		t    time.Time
		want int64
	}{
		{time.Unix(0, 0), 0},
		{time.Unix(1, 5), 1_000_000_005},
		{year(2261), year(2261).UnixNano()},
		{year(2263), math.MaxInt64},
		{year(999_999), math.MaxInt64},
		{year(1679), year(1679).UnixNano()},
		{year(1677), math.MinInt64},
		{time.Time{}, math.MinInt64},
	} {
		if got := WallNanos(c.t); got != c.want {
			t.Errorf("WallNanos(%v) = %d, want %d", c.t, got, c.want)
		}
	}
}

// A reading of either clock survives the way to a time.Time and back.
func TestClockRoundTrip(t *testing.T) {
	c := Clock{time.Now().Add(-1)}
	if now := c.Now(); now.Mono <= 0 {
		t.Errorf("the clock starts at %d, want more than 0, which stands for no time", now.Mono)
	}
	for range 1000 {
		ns := 1 + rand.Int64N(math.MaxInt64/4)
		mono, wall := int64(c.Time(ns, false).Sub(c.Epoch)), WallNanos(c.Time(ns, true))
		if mono != ns || wall != ns {
			t.Fatalf("%d comes back as %d, and on the wall clock as %d", ns, mono, wall)
		}
	}
}
