package histogram

import (
	"fmt"
	"math"
	"time"
)

// A Snapshot has the counts of a [Histogram] at some time, or the sum or difference of such counts. It has the form of
// an exponential histogram of OpenTelemetry with [Scale] and with a zero threshold of 0. The zero Snapshot has no
// durations.
type Snapshot struct {
	Count uint64  // number of durations
	Zero  uint64  // number of durations that were zero or negative
	Sum   float64 // sum of the durations, in seconds; a negative one counts as zero

	// Buckets are the counts of positive durations. Buckets[k] is the number of durations of more than
	// Bound(Offset+k-1) and at most Bound(Offset+k) seconds. Neither the first nor the last count is 0. If there is no
	// positive duration, Buckets is nil and Offset is 0.
	Offset  int
	Buckets []uint64
}

// Bound returns the upper bound of the bucket with index i, in seconds: 2^((i+1)/8).
func Bound(i int) float64 { return math.Exp2(float64(i+1) / (1 << Scale)) }

// counts are the counts of all buckets, from minIndex on.
type counts [numBuckets]uint64

// snapshot returns the counts as a Snapshot.
func (c *counts) snapshot(zero uint64, sum float64) Snapshot {
	s := Snapshot{Count: zero, Zero: zero, Sum: sum}
	from, to := numBuckets, 0
	for k, n := range c {
		if n > 0 {
			from, to = min(from, k), k+1
			s.Count += n
		}
	}
	if from < to {
		s.Offset = minIndex + from
		s.Buckets = append([]uint64(nil), c[from:to]...)
	}
	return s
}

// of returns the part of c that has the buckets of s. It panics if s has a bucket that no
// duration is in.
func (c *counts) of(s Snapshot) []uint64 {
	if len(s.Buckets) == 0 {
		return nil
	}
	from := s.Offset - minIndex
	if from < 0 || from > numBuckets || len(s.Buckets) > numBuckets-from {
		panic(fmt.Sprintf("histogram: a Snapshot has the buckets %d to %d; those of a time.Duration, in seconds and with this Scale, are %d to %d",
			s.Offset, s.Offset+len(s.Buckets)-1, minIndex, maxIndex))
	}
	return c[from : from+len(s.Buckets)]
}

// Add returns the counts of s and other together, as if one histogram had the durations of both. It panics if either
// has a bucket beyond those of a [time.Duration], which no Histogram has.
func (s Snapshot) Add(other Snapshot) Snapshot {
	var c counts
	copy(c.of(s), s.Buckets)
	sums := c.of(other)
	for k, n := range other.Buckets {
		sums[k] += n
	}
	return c.snapshot(s.Zero+other.Zero, s.Sum+other.Sum)
}

// Sub returns the counts of s minus those of earlier. If earlier is an earlier snapshot of the same histogram, these
// are the durations that were recorded between the two. A count or a sum that would be negative is
// 0. Sub panics if either has a bucket beyond those of a [time.Duration], which no Histogram has.
func (s Snapshot) Sub(earlier Snapshot) Snapshot {
	var c counts
	copy(c.of(s), s.Buckets)
	rests := c.of(earlier)
	for k, n := range earlier.Buckets {
		rests[k] -= min(rests[k], n)
	}
	return c.snapshot(s.Zero-min(s.Zero, earlier.Zero), max(s.Sum-earlier.Sum, 0))
}

// Quantile returns an estimate of the q-quantile, the duration that a fraction q of the durations does not exceed: the
// median for 0.5, the minimum for 0, the maximum for 1. The result is between the bounds of the bucket of the exact
// value, and so differs from it by less than 9.1 % plus a nanosecond. A q below 0 and NaN count as 0, and a q above 1
// counts as 1. Quantile returns 0 if there are no durations.
func (s Snapshot) Quantile(q float64) time.Duration {
	if !(q > 0) {
		q = 0
	}
	// The rank counts from 1. A part of the durations in a bucket is below it.
	rank := max(min(q, 1)*float64(s.Count), 1)
	below := float64(s.Zero)
	if s.Count == 0 || rank <= below {
		return 0
	}
	for k, n := range s.Buckets {
		n := float64(n)
		if below+n >= rank || k == len(s.Buckets)-1 {
			part := min((rank-below)/n, 1)
			return duration(Bound(s.Offset+k-1) * math.Exp2(part/(1<<Scale)))
		}
		below += n
	}
	return 0
}

// Mean returns the arithmetic mean of the durations, rounded to a nanosecond. It is computed from Sum, so that the
// width of the buckets does not matter. Mean returns 0 if there are no durations.
func (s Snapshot) Mean() time.Duration {
	if s.Count == 0 {
		return 0
	}
	return duration(s.Sum / float64(s.Count))
}

// duration returns seconds as the nearest Duration.
func duration(seconds float64) time.Duration {
	ns := math.Round(seconds * 1e9)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// String returns the count, the mean, the quantiles 0.5, 0.9 and 0.99, and an upper bound of the maximum, as a text for
// logs. The form may change.
func (s Snapshot) String() string {
	if s.Count == 0 {
		return "0 durations"
	}
	return fmt.Sprintf("%d durations, mean %v, p50 %v, p90 %v, p99 %v, at most %v", s.Count,
		short(s.Mean()), short(s.Quantile(0.5)), short(s.Quantile(0.9)), short(s.Quantile(0.99)), short(s.Quantile(1)))
}

// short rounds d to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
