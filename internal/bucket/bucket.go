// Package bucket is a token bucket on a clock of its user.
//
// It is a plain structure. It takes no locks.
package bucket

import "math"

// Bucket is a token bucket. Instead of tokens it has the instant at which it is full, so that
// nothing is rounded. The zero Bucket has no bound. Instants are nanoseconds.
type Bucket struct {
	Interval int64 // between two tokens; 0 for no bound
	Burst    int64 // tokens that the bucket holds
	full     int64
}

// Bounded reports whether there is a bound.
func (b *Bucket) Bounded() bool { return b.Interval > 0 }

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
