package durable

import (
	"slices"
	"sync"
	"time"
)

// clockJump is the change of the store's clock that counts as a jump.
const clockJump = 100 * time.Millisecond

// clockNoise is by how much a node's idea of the clock may go back because the quickest answer has left the sample,
// while the clock has not.
const clockNoise = time.Millisecond

// storeClock is the clock of the store as a node knows it: the monotonic clock of this machine and an offset. This
// machine's wall clock plays no part, so that it may be wrong by any amount.
//
// Each answer of the store carries a time that was read between sending and receiving. So the true offset lies in [time
// - received, time - sent]. The offset used is the greatest lower bound of the latest answers: with it the store's
// clock is never ahead of the truth, and nothing is ever early; what is lost is the time that the quickest of these
// answers took. The midpoint, as in NTP, would be early by up to half of it.
type storeClock struct {
	base time.Time // the monotonic clock's zero

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

func newStoreClock() *storeClock {
	c := &storeClock{base: time.Now()}
	c.mu.offset = time.Duration(c.base.UnixNano()) // until the store has spoken
	return c
}

// question is what the clock has to know of a call of the store when the answer comes.
type question struct {
	at  time.Time
	era int
}

// ask is called before a call of the store.
func (c *storeClock) ask() question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return question{time.Now(), c.mu.era}
}

// observe learns from the answer to q. It reports by how much the node's idea of the clock has moved, 0 if that is
// little, and whether the store's own clock has jumped: after a time of slow answers a quick one moves the idea too,
// and is no jump.
//
// An answer to a question from before the last jump was known says nothing, since it may have been read before the jump
// or after it. So it is with a question from before the first answer: there may have been a jump in between.
func (c *storeClock) observe(q question, received, store time.Time) (moved time.Duration, jumped bool) {
	if store.IsZero() {
		return 0, false
	}
	unix := time.Duration(store.UnixNano())
	b := bounds{low: unix - received.Sub(c.base), high: unix - q.at.Sub(c.base)}

	c.mu.Lock()
	defer c.mu.Unlock()
	if q.era != c.mu.era {
		return 0, false
	}
	switch samples := c.samplesLocked(); {
	case len(samples) == 0:
		c.mu.era++
	case b.low > c.mu.offset+clockJump:
		moved = b.low - c.mu.offset
		jumped = slices.ContainsFunc(samples, func(s bounds) bool { return b.low > s.high+clockJump })
	case b.high < c.mu.offset-clockJump:
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
func (c *storeClock) samplesLocked() []bounds {
	return c.mu.samples[:min(c.mu.n, len(c.mu.samples))]
}

// trip returns how long the quickest of the latest answers took, 0 if there was none.
func (c *storeClock) trip() time.Duration {
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

// known reports whether the store has answered.
func (c *storeClock) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.n > 0
}

// now returns the time of the store.
func (c *storeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, int64(c.mu.offset+time.Since(c.base))).UTC()
}

// until returns how long it is until the store's clock reads t.
func (c *storeClock) until(t time.Time) time.Duration {
	return t.Sub(c.now())
}

// start is when a run began, on the store's clock and on this machine's. The monotonic clock measures how long a run
// takes: the store's may have jumped since.
type start struct{ at, local time.Time }

func (c *storeClock) start() start { return start{c.now(), time.Now()} }

// now returns the time that the store's clock would show if it had not jumped since.
func (s start) now() time.Time { return s.at.Add(time.Since(s.local)) }
