package delay

import (
	"testing"
	"time"
)

// The slack grows with the density, up to a bound; few elements have none, and those after a
// pause neither. One that is set stays.
func TestPaceSlack(t *testing.T) {
	for _, c := range []struct{ slack, gap, want time.Duration }{
		{0, time.Second, 0},
		{0, 10 * time.Millisecond, 0},
		{0, time.Millisecond, 0},
		{0, 400 * time.Microsecond, 400 * time.Microsecond},
		{0, 200 * time.Microsecond, MostSlack},
		{0, time.Nanosecond, MostSlack},
		{-1, time.Nanosecond, 0},
		{time.Second, 10 * time.Millisecond, time.Second},
	} {
		p := pace{slack: c.slack, gap: longestGap}
		now := int64(time.Hour)
		for range 1000 { // two elements for each wake-up
			now += int64(2 * c.gap)
			p.taken = 2
			p.wake(now)
		}
		if got := time.Duration(p.next(now+1) - now); got.Round(time.Microsecond) != c.want {
			t.Errorf("slack %v: the next wake-up comes %v after the last with elements every %v, want %v", c.slack, got, c.gap, c.want)
		}
		if at := now + int64(2*time.Second); p.next(at) != at {
			t.Errorf("slack %v: an element that is due after a pause is late by %v", c.slack, time.Duration(p.next(at)-at))
		}
		now += int64(time.Minute)
		p.taken = 1
		p.wake(now)
		if c.slack == 0 && p.next(now+1) != now+1 {
			t.Errorf("after a pause the slack is %v", time.Duration(p.next(now+1)-now))
		}
	}
}
