package queue

import (
	"math"
	"testing"
	"time"
)

// A difference that is out of range is the nearest that is not.
func TestSaturatingSub(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	for _, c := range []struct{ a, b, want int64 }{
		{7, 5, 2}, {5, 7, -2}, {0, most, -most}, {most, most, 0}, {least, least, 0},
		{most, -1, most}, {most, least, most}, {0, least, most}, {-1, least, most},
		{least, 1, least}, {least, most, least}, {-2, most, least},
	} {
		if got := saturatingSub(c.a, c.b); got != c.want {
			t.Errorf("%d - %d = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A wall clock that is ahead of the monotonic one, or behind, makes a time
// without a monotonic reading earlier, or later, and the far ones stay far.
func TestClockAhead(t *testing.T) {
	for _, ahead := range []int64{-500_000, 500_000} { // less than is measured anew
		c := &clock{epoch: time.Now()}
		c.ahead.Store(ahead)
		if got := c.instant(c.epoch.Round(0).Add(time.Hour)); got != int64(time.Hour)-ahead {
			t.Errorf("an hour is %d", got)
		}
		if got := c.instant(c.epoch.Add(time.Hour)); got != int64(time.Hour) {
			t.Errorf("an hour on the monotonic clock is %d", got)
		}
		if got := c.instant(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); got != never {
			t.Errorf("the far future is %d", got)
		}
		if got := c.instant(time.Time{}); got > math.MinInt64+500_000 {
			t.Errorf("the zero Time is %d", got)
		}
	}
}

// A wall clock that was set is noticed: what is known of it is measured anew.
func TestClockIsMeasuredAnew(t *testing.T) {
	c := &clock{epoch: time.Now()}
	c.ahead.Store(int64(time.Hour)) // as before the clock was set back
	got := c.instant(time.Now().Round(0))
	if off := time.Duration(got - c.now()).Abs(); off > time.Minute {
		t.Errorf("now is off by %v", off)
	}
}
