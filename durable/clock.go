package durable

import (
	"sync"
	"time"
)

// clockJump is the change of the database's clock that counts as a jump.
const clockJump = 100 * time.Millisecond

// clockNoise is by how much the clock as a node knows it may go back because the
// quickest answer has left the sample, while the database's has not.
const clockNoise = time.Millisecond

// storeClock is the clock of the database as a node knows it: the monotonic
// clock of this machine and an offset. This machine's wall clock plays no part,
// so that it may be wrong by any amount.
//
// Each answer of the store carries a time that was read between sending and
// receiving. So the true offset lies in [time - received, time - sent]. The
// offset used is the greatest lower bound of the latest answers: by it the
// store's clock is never ahead of the truth, and nothing is ever early; what is
// lost is the time an answer of the quickest of them took. The midpoint, as in
// NTP, would be early by up to half of it.
type storeClock struct {
	base time.Time // the monotonic clock's zero

	mu struct {
		sync.Mutex
		samples [8]time.Duration // lower bounds, a ring
		n       int              // how many there have been since the last jump
		offset  time.Duration    // of the store's Unix time over the time since base
	}
}

func newStoreClock() *storeClock {
	c := &storeClock{base: time.Now()}
	c.mu.offset = time.Duration(c.base.UnixNano()) // until the store has spoken
	return c
}

// observe learns from an answer and reports by how much the clock has jumped, 0
// if it has not.
func (c *storeClock) observe(sent, received, store time.Time) time.Duration {
	if store.IsZero() {
		return 0
	}
	unix := time.Duration(store.UnixNano())
	low, high := unix-received.Sub(c.base), unix-sent.Sub(c.base)

	c.mu.Lock()
	defer c.mu.Unlock()
	var jump time.Duration
	switch {
	case c.mu.n == 0:
	case low > c.mu.offset+clockJump:
		jump = low - c.mu.offset
	case high < c.mu.offset-clockJump:
		jump = high - c.mu.offset
	}
	if jump != 0 {
		c.mu.n = 0
	}
	c.mu.samples[c.mu.n%len(c.mu.samples)] = low
	c.mu.n++
	c.mu.offset = low
	for i, s := range c.mu.samples[:min(c.mu.n, len(c.mu.samples))] {
		if s > high {
			// A clock that was put back leaves bounds behind that are too great.
			c.mu.samples[i], s = low, low
		}
		c.mu.offset = max(c.mu.offset, s)
	}
	return jump
}

// known reports whether the store has spoken.
func (c *storeClock) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.n > 0
}

// now gives the time of the store.
func (c *storeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, int64(c.mu.offset+time.Since(c.base))).UTC()
}

// until gives how long it is until the store's clock reads t.
func (c *storeClock) until(t time.Time) time.Duration {
	return t.Sub(c.now())
}
