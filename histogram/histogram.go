// Package histogram counts durations in exponential buckets. It is fast enough for hot paths.
//
// The zero [Histogram] is ready to use, by any number of goroutines. Record counts a duration, and Snapshot returns the
// counts so far:
//
//	var latency histogram.Histogram
//	latency.Record(time.Since(start))
//	fmt.Println(latency.Snapshot().Quantile(0.99))
//
// # Buckets
//
// The bounds of the buckets are 2^(i/8) seconds, for all integers i. Each bound is 1.09 times the one before, so that a
// quantile has an error of less than 9.1 %. The buckets cover every positive [time.Duration], from a nanosecond to 292
// years. Zero has a counter of its own, which also counts negative durations.
//
// These are the buckets of an exponential histogram of OpenTelemetry with scale 3 and of a native histogram of
// Prometheus with schema 3, in seconds. A [Snapshot] has their form, so that it can be exported to them and merged
// there without loss.
package histogram

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Scale is the scale of an exponential histogram of OpenTelemetry with these buckets, and the schema of such a native
// histogram of Prometheus. There are 2^Scale buckets for each power of two.
const Scale = 3

// A Histogram counts durations. The zero Histogram is empty and ready to use. Its methods may be called by several
// goroutines at the same time. A Histogram takes 4 KiB and must not be copied after its first use.
type Histogram struct {
	zero    atomic.Uint64
	sum     atomic.Uint64 // in nanoseconds, modulo 2^64
	carry   atomic.Uint64 // how often sum has overflowed
	buckets [numBuckets]atomic.Uint64
}

// Record counts d. A negative duration counts as zero. Record takes a few nanoseconds, does not allocate and never
// waits.
func (h *Histogram) Record(d time.Duration) {
	if d <= 0 {
		h.zero.Add(1)
		return
	}
	h.buckets[bucketOf(d)].Add(1)
	if sum := h.sum.Add(uint64(d)); sum < uint64(d) {
		h.carry.Add(1)
	}
}

// Snapshot returns the counts so far. A Record in another goroutine at the same time may be in the Snapshot or not. The
// sum is read separately from the counts, so that it may include a duration that is not counted, or lack one that is.
func (h *Histogram) Snapshot() Snapshot {
	var c counts
	for i := range h.buckets {
		c[i] = h.buckets[i].Load()
	}
	return c.snapshot(h.zero.Load(), h.seconds())
}

// seconds returns the sum. It reads again if sum overflowed in between. A call between an overflow
// and its carry lacks 2^64 ns: a moment once in 584 years of recorded time.
func (h *Histogram) seconds() float64 {
	for {
		carry := h.carry.Load()
		sum := h.sum.Load()
		if h.carry.Load() == carry {
			return (float64(carry)*(1<<64) + float64(sum)) / 1e9
		}
	}
}

const (
	// minIndex is the index of the bucket of a nanosecond, and maxIndex that of the longest
	// Duration. The bucket with index i has the durations of more than 2^(i/8) and at most
	// 2^((i+1)/8) seconds, as in OpenTelemetry.
	minIndex   = -240
	maxIndex   = 264
	numBuckets = maxIndex - minIndex + 1
)

// octave has the bounds of one octave: 2^(j/8) seconds in nanoseconds, times 2^33, rounded down.
var octave = [8]uint64{
	0x7735940000000000, 0x81ffa7a9549ca6e3, 0x8dc3b8960164a7d9, 0x9a9867054d512391,
	0xa8965f74bf065071, 0xb7d88a12d0dd9ea0, 0xc87c3e7d03cdbec3, 0xdaa17c2cd19555db,
}

// upper[k] is the longest duration in the bucket with index minIndex+k, in nanoseconds.
var upper = func() (upper [numBuckets]int64) {
	for k := range upper {
		i := minIndex + k + 1 // the bound is 2^(i/8) seconds
		bound := octave[i&7] >> (33 - i>>3)
		upper[k] = int64(min(bound, 1<<63-1))
	}
	return upper
}()

// first has, for each 64th of the interval from one power of two to the next, the place of the
// bucket in which it begins. Places are counted from the bucket of the power of two. No two
// bounds are in one 64th, so that a duration is in this bucket or in the next.
var first = func() (first [64]uint8) {
	const octave = 40
	for s := range first {
		begin := int64(64+s) << (octave - 6)
		k := 8 * octave
		for upper[k] < begin {
			k++
		}
		first[s] = uint8(k - 8*octave)
	}
	return first
}()

// bucketOf returns the place in upper of the bucket of a positive duration.
func bucketOf(d time.Duration) int {
	zeros := bits.LeadingZeros64(uint64(d))
	part := uint64(d) << zeros >> 57 & 63 // the 64th of its octave
	k := 8*(63-zeros) + int(first[part])
	// One more if d is beyond the bound, without a branch that the processor would mispredict.
	return k + int(uint64(upper[k]-int64(d))>>63)
}
