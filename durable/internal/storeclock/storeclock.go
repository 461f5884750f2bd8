// Package storeclock has the clock of a store as a node knows it.
package storeclock

import (
	"slices"
	"sync"
	"time"
)

// jump is the change of the store's clock that counts as a jump.
const jump = 100 * time.Millisecond

// Noise is by how much a node's idea of the clock may go back because the quickest answer has left the sample,
// while the clock has not.
const Noise = time.Millisecond

// A Clock is the clock of the store as a node knows it: the monotonic clock of this machine and an offset. This
// machine's wall clock plays no part, so that it may be wrong by any amount.
//
// Each answer of the store carries a time that was read between sending and receiving. So the true offset lies in [time
// - received, time - sent]. The offset used is the greatest lower bound of the latest answers: with it the store's
// clock is never ahead of the truth, and nothing is ever early; what is lost is the time that the quickest of these
// answers took. The midpoint, as in NTP, would be early by up to half of it.
type Clock struct {
	Base time.Time // the monotonic clock's zero

	mu struct {
		sync.Mutex
		samples [8]bounds     // a ring
		n       int           // how many there have been since the last jump
		offset  time.Duration // of the store's Unix time over the time since base
		era     int           // rises with the first answer, and with each jump that is known
	}
}

// bounds are those that an answer sets to the offset.
type bounds struct{ low, high time.Duration }

// New returns a clock that the store has not spoken to.
func New() *Clock {
	c := &Clock{Base: time.Now()}
	c.mu.offset = time.Duration(c.Base.UnixNano()) // until the store has spoken
	return c
}

// A Question is what the clock has to know of a call of the store when the answer comes.
type Question struct {
	At  time.Time
	era int
}

// Ask is called before a call of the store.
func (c *Clock) Ask() Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Question{time.Now(), c.mu.era}
}

// Observe learns from the answer to q. It reports by how much the node's idea of the clock has moved, 0 if that is
// little, and whether the store's own clock has jumped: after a time of slow answers a quick one moves the idea too,
// and is no jump.
//
// An answer to a Question from before the last jump was known says nothing, since it may have been read before the jump
// or after it. So it is with a Question from before the first answer: there may have been a jump in between.
func (c *Clock) Observe(q Question, received, store time.Time) (moved time.Duration, jumped bool) {
	if store.IsZero() {
		return 0, false
	}
	unix := time.Duration(store.UnixNano())
	b := bounds{low: unix - received.Sub(c.Base), high: unix - q.At.Sub(c.Base)}

	c.mu.Lock()
	defer c.mu.Unlock()
	if q.era != c.mu.era {
		return 0, false
	}
	switch samples := c.samplesLocked(); {
	case len(samples) == 0:
		c.mu.era++
	case b.low > c.mu.offset+jump:
		moved = b.low - c.mu.offset
		jumped = slices.ContainsFunc(samples, func(s bounds) bool { return b.low > s.high+jump })
	case b.high < c.mu.offset-jump:
		moved, jumped = b.high-c.mu.offset, true
	}
	if jumped {
		c.mu.n = 0
		c.mu.era++
	}
	c.mu.samples[c.mu.n%len(c.mu.samples)] = b
	c.mu.n++
	c.mu.offset = b.low
	for i, s := range c.samplesLocked() {
		if s.low > b.high {
			// A clock that was put back leaves bounds behind that are too great.
			c.mu.samples[i] = b
		}
		c.mu.offset = max(c.mu.offset, c.mu.samples[i].low)
	}
	return moved, jumped
}

// samplesLocked returns the latest answers, in no order.
func (c *Clock) samplesLocked() []bounds {
	return c.mu.samples[:min(c.mu.n, len(c.mu.samples))]
}

// Trip returns how long the quickest of the latest answers took, 0 if there was none.
func (c *Clock) Trip() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	quickest := time.Duration(0)
	for i, s := range c.samplesLocked() {
		if d := s.high - s.low; i == 0 || d < quickest {
			quickest = d
		}
	}
	return quickest
}

// Known reports whether the store has answered.
func (c *Clock) Known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.n > 0
}

// Now returns the time of the store.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, int64(c.mu.offset+time.Since(c.Base))).UTC()
}

// Until returns how long it is until the store's clock reads t.
func (c *Clock) Until(t time.Time) time.Duration {
	return t.Sub(c.Now())
}

// A Start is when a run began, on the store's clock and on this machine's. The monotonic clock measures how long a run
// takes: the store's may have jumped since.
type Start struct{ At, Local time.Time }

// Start returns what begins now.
func (c *Clock) Start() Start { return Start{c.Now(), time.Now()} }

// Now returns the time that the store's clock would show if it had not jumped since.
func (s Start) Now() time.Time { return s.At.Add(time.Since(s.Local)) }
