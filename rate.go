package executor

import "math"

// Rate bounds how often something begins: a token bucket. It is made by [PerSecond]; the
// zero Rate is no bound.
type Rate struct {
	interval int64 // ns between two tokens; 0 for no bound
	burst    int64 // tokens that the bucket holds
	err      error
}

// PerSecond is a rate of n per second on average, and of up to burst at once: within any d
// seconds, at most burst + n*d begin. n must be positive, as 0.1 for one in ten seconds,
// and at most a billion; burst must be at least 1. Share returns an error otherwise.
func PerSecond(n float64, burst int) Rate {
	if !(n > 0) || n > 1e9 {
		return Rate{err: invalid("PerSecond(%v, %d): the rate must be positive and at most 1e9; "+
			"leave Rate out for no bound", n, burst)}
	}
	interval := math.Ceil(1e9 / n)
	if burst < 1 || float64(burst) > math.MaxInt64/2/interval {
		return Rate{err: invalid("PerSecond(%v, %d): the burst must be at least 1, and not more than the rate "+
			"makes in 146 years", n, burst)}
	}
	return Rate{interval: int64(interval), burst: int64(burst)}
}

// bucket is a token bucket for a Rate, on the clock of its pool. Instead of tokens it has
// the instant at which it is full, so that nothing is rounded.
type bucket struct {
	Rate
	full int64
}

// has reports whether there are more than n tokens.
func (b *bucket) has(now int64, n int) bool { return b.interval == 0 || now >= b.next(n) }

// next returns the instant from which there are more than n tokens, never if the bucket
// does not hold as many.
func (b *bucket) next(n int) int64 {
	if int64(n) >= b.burst {
		return math.MaxInt64
	}
	return b.full - (b.burst-int64(n)-1)*b.interval
}

// take takes a token.
func (b *bucket) take(now int64) {
	if b.interval > 0 {
		b.full = max(b.full, now) + b.interval
	}
}
