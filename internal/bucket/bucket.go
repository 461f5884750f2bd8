// Package bucket is a token bucket on a clock of its user.
//
// It is a plain structure. It takes no locks.
package bucket

import (
	"math"
	"math/bits"
)

// Bucket is a token bucket. Instead of tokens it has the instant at which it is full, so that
// nothing is rounded. The zero Bucket has no bound. Instants are nanoseconds.
type Bucket struct {
	Interval int64 // between two tokens; 0 for no bound
	Burst    int64 // tokens that the bucket holds
	full     int64
}

// Bounded reports whether there is a bound.
func (b *Bucket) Bounded() bool { return b.Interval > 0 }

// Tokens returns how many tokens there are, math.MaxInt64 without a bound.
func (b *Bucket) Tokens(now int64) int64 {
	switch missing := b.full - now; {
	case b.Interval == 0:
		return math.MaxInt64
	case missing <= 0:
		return b.Burst
	default:
		return max(b.Burst-(missing-1)/b.Interval-1, 0)
	}
}

// Has reports whether there are more than n tokens.
func (b *Bucket) Has(now int64, n int) bool { return b.Interval == 0 || now >= b.Next(n) }

// Next returns the instant from which there are more than n tokens, math.MaxInt64 if the
// bucket does not hold as many.
func (b *Bucket) Next(n int) int64 {
	if int64(n) >= b.Burst {
		return math.MaxInt64
	}
	return b.full - (b.Burst-int64(n)-1)*b.Interval
}

// Take takes a token.
func (b *Bucket) Take(now int64) {
	if b.Interval > 0 {
		b.full = max(b.full, now) + b.Interval
	}
}

// Change changes interval and burst. The bucket keeps its tokens, as far as they are not more
// than the new burst; one that had no bound is full.
func (b *Bucket) Change(now, interval, burst int64) {
	missing := int64(0) // ns until it is full
	if b.Interval > 0 && interval > 0 {
		has := max(b.Burst*b.Interval-max(b.full-now, 0), 0)
		if whole := has / b.Interval; whole < burst {
			hi, lo := bits.Mul64(uint64(has%b.Interval), uint64(interval))
			part, _ := bits.Div64(hi, lo, uint64(b.Interval))
			missing = (burst-whole)*interval - int64(part)
		}
	}
	*b = Bucket{Interval: interval, Burst: burst, full: now + missing}
}
