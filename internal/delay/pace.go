package delay

import "time"

// The slack of a queue that has none of its own: MostSlack from denseGap on, in proportion
// below, and none beyond sparseGap. There it would make elements late, and hardly two of
// them would share a wake-up. It is at most a part of the delay, as the kernel's slack of
// select is.
const (
	MostSlack = 800 * time.Microsecond
	denseGap  = 200 * time.Microsecond // 5,000 elements a second
	sparseGap = 500 * time.Microsecond // 2,000
	delayPart = 1000
)

// pace keeps the wake-ups of a queue apart, so that what is due in between shares one. The
// first after a pause is exact.
type pace struct {
	slack time.Duration // the least time between two wake-ups; 0 to go by the gap, negative for none
	woken int64         // the last wake-up, on the monotonic clock
	taken int64         // elements since
	gap   time.Duration // moving mean of the time between elements
	delay time.Duration // moving mean of the time for which they are to wait
}

// longest is the longest gap or delay that counts, and the mean gap in the beginning.
const longest = time.Second

// push takes note of an element that is due after d.
func (p *pace) push(d time.Duration) { p.delay += (min(max(d, 0), longest) - p.delay) / 16 }

// wake takes note of a wake-up.
func (p *pace) wake(now int64) {
	gap := time.Duration((now - p.woken) / max(p.taken, 1))
	p.gap += (min(gap, longest) - p.gap) / 8
	p.woken, p.taken = now, 0
}

// next returns when to wake for an element that is due at the time at: then, or later.
func (p *pace) next(at int64) int64 { return max(at, After(p.woken, int64(p.present()))) }

// present returns the slack at present.
func (p *pace) present() time.Duration {
	switch {
	case p.slack != 0:
		return p.slack
	case p.gap > sparseGap:
		return 0
	}
	return min(MostSlack*denseGap/max(p.gap, denseGap), p.delay/delayPart)
}
