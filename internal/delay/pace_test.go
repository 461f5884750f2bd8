package delay

import (
	"testing"
	"time"
)

// The slack grows with the density, up to a bound and a part of the delay; few elements have none, and those after a
// pause neither. One that is set stays.
func TestPaceSlack(t *testing.T) {
	for _, c := range []struct{ slack, gap, delay, want time.Duration }{
		{0, time.Second, time.Minute, 0},
		{0, 10 * time.Millisecond, time.Minute, 0},
		{0, time.Millisecond, time.Second, 0},
		{0, 400 * time.Microsecond, time.Second, 400 * time.Microsecond},
		{0, 200 * time.Microsecond, time.Second, MostSlack},
		{0, time.Nanosecond, time.Hour, MostSlack},
		{0, 100 * time.Microsecond, 10 * time.Millisecond, 10 * time.Microsecond},
		{-1, time.Nanosecond, time.Second, 0},
		{time.Second, 10 * time.Millisecond, 0, time.Second},
	} {
		p := pace{slack: c.slack, gap: longest}
		now := int64(time.Hour)
		for range 1000 { // two elements for each wake-up
			now += int64(2 * c.gap)
			p.push(c.delay)
			p.taken = 2
			p.wake(now)
		}
		if got := time.Duration(p.next(now+1) - now); got.Round(time.Microsecond) != c.want {
			t.Errorf("slack %v: the next wake-up comes %v after the last with elements every %v, each after %v, want %v",
				c.slack, got, c.gap, c.delay, c.want)
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
