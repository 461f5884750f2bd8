package queue

import (
	"math"
	"testing"
	"time"
)

// A wall clock that is ahead of the monotonic clock, or behind, makes a time without a
// monotonic reading earlier or later, and times out of range stay so.
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

// When the wall clock was set, its distance from the monotonic clock is measured anew.
func TestClockIsMeasuredAnew(t *testing.T) {
	c := &clock{epoch: time.Now()}
	c.ahead.Store(int64(time.Hour)) // as before the clock was set back
	got := c.instant(time.Now().Round(0))
	if off := time.Duration(got - c.now()).Abs(); off > time.Minute {
		t.Errorf("now is off by %v", off)
	}
}
