package histogram

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// exact returns 2^(i/8) seconds in nanoseconds, rounded down, with 400 bits of precision.
func exact(i int) *big.Int {
	root := big.NewFloat(2).SetPrec(400)
	for range 3 {
		root.Sqrt(root)
	}
	x := big.NewFloat(1e9).SetPrec(400)
	for range i & 7 {
		x.Mul(x, root)
	}
	x.SetMantExp(x, i>>3)
	n, _ := x.Int(nil)
	return n
}

// The upper bound of each bucket is exact to the nanosecond.
func TestBucketBoundsAreExact(t *testing.T) {
	for k, got := range upper {
		want := exact(minIndex + k + 1)
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if want.Int64() != got {
			t.Errorf("upper bound of bucket %d is %d, want %v", minIndex+k, got, want)
		}
	}
}

// bucketOfSlow returns the place of the bucket of d by search.
func bucketOfSlow(d time.Duration) int {
	k := 0
	for upper[k] < int64(d) {
		k++
	}
	return k
}

// A duration is counted in the bucket whose bounds contain it, at each bound and beside it.
func TestBucketOfEachBound(t *testing.T) {
	check := func(d int64) {
		if d < 1 {
			return
		}
		if got, want := bucketOf(time.Duration(d)), bucketOfSlow(time.Duration(d)); got != want {
			t.Errorf("bucket of %d ns is %d, want %d", d, minIndex+got, minIndex+want)
		}
	}
	for _, bound := range upper {
		for _, d := range []int64{-2, -1, 0, 1, 2} {
			if d <= 0 || bound <= math.MaxInt64-d {
				check(bound + d)
			}
		}
	}
	for d := range int64(5000) {
		check(d)
	}
	for e := range 63 {
		for d := int64(-2); d <= 2; d++ {
			check(1<<e + d)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		check(random.Int64N(1 << (1 + random.IntN(62))))
	}
}

// A whole second and its powers of two are the upper bounds of their buckets, as in OpenTelemetry.
func TestRecordPowersOfTwo(t *testing.T) {
	for e := -9; e <= 33; e++ {
		var h Histogram
		h.Record(time.Duration(math.Exp2(float64(e)) * 1e9))
		s := h.Snapshot()
		if want := 8*e - 1; s.Offset != want || len(s.Buckets) != 1 || Bound(s.Offset) != math.Exp2(float64(e)) {
			t.Errorf("2^%d s is in bucket %d with the bound %v, want bucket %d", e, s.Offset, Bound(s.Offset), want)
		}
	}
}

// The shortest and the longest duration, and those that are not positive, are counted.
func TestRecordExtremes(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		h.Record(d)
	}
	s := h.Snapshot()
	if s.Count != 5 || s.Zero != 3 || s.Offset != minIndex || len(s.Buckets) != numBuckets {
		t.Errorf("count %d, zero %d, buckets from %d, %d of them", s.Count, s.Zero, s.Offset, len(s.Buckets))
	}
	if first, last := s.Buckets[0], s.Buckets[numBuckets-1]; first != 1 || last != 1 {
		t.Errorf("first bucket %d, last bucket %d, want 1 and 1", first, last)
	}
	if got := s.Quantile(1); got != math.MaxInt64 {
		t.Errorf("the maximum is %v, want %v", got, time.Duration(math.MaxInt64))
	}
}

// The sum of more than 584 years is right, too.
func TestRecordSumBeyondDuration(t *testing.T) {
	var h Histogram
	want := 0.0
	for range 1000 {
		h.Record(math.MaxInt64)
		h.Record(time.Second)
		want += math.MaxInt64/1e9 + 1
	}
	s := h.Snapshot()
	if math.Abs(s.Sum/want-1) > 1e-12 {
		t.Errorf("sum %v s, want %v s", s.Sum, want)
	}
	if got, want := s.Mean(), time.Duration(math.MaxInt64/2); math.Abs(float64(got)/float64(want)-1) > 1e-9 {
		t.Errorf("mean %v, want %v", got, want)
	}
}

// Record does not allocate.
func TestRecordDoesNotAllocate(t *testing.T) {
	var h Histogram
	d := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(d); d += d / 3 }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Concurrent calls of Record are all counted, and no count decreases from one snapshot to the
// next.
func TestRecordConcurrently(t *testing.T) {
	const writers, each = 4, 20_000
	var h Histogram
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for range each {
				h.Record(time.Duration(random.Int64N(1 << random.IntN(40))))
			}
		})
	}
	done := make(chan struct{})
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			previous := h.Snapshot()
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				s := h.Snapshot()
				if diff := s.Sub(previous); diff.Count != s.Count-previous.Count {
					t.Errorf("%d durations, then %d; the difference has %d", previous.Count, s.Count, diff.Count)
				}
				previous = s
			}
			if previous.Count != writers*each {
				t.Errorf("%d durations at the end, want %d", previous.Count, writers*each)
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
}
