package bucket

import (
	"math"
	"testing"
)

// Within any d, at most burst + d/interval tokens are taken, and as many if they are asked for
// all the time.
func TestBucketRate(t *testing.T) {
	const interval, burst = 10, 3
	b := Bucket{Interval: interval, Burst: burst}
	var taken []int64
	for now := int64(1); now < 1000; now++ {
		if now > 200 && now < 500 {
			continue // it fills up meanwhile
		}
		for b.Has(now, 0) {
			b.Take(now)
			taken = append(taken, now)
		}
	}
	for i, first := range taken {
		for j, last := range taken[i:] {
			if most := burst + (last-first)/interval; int64(j+1) > most {
				t.Fatalf("%d tokens from %d to %d, the most is %d", j+1, first, last, most)
			}
		}
	}
	if n, want := len(taken), burst+199/interval+burst+499/interval; n != want {
		t.Errorf("took %d tokens, want %d", n, want)
	}
}

// Next returns the first instant at which Has reports true.
func TestBucketNext(t *testing.T) {
	b := Bucket{Interval: 7, Burst: 4}
	for range 4 {
		b.Take(100)
	}
	for n := range 4 {
		at := b.Next(n)
		if b.Has(at-1, n) || !b.Has(at, n) {
			t.Errorf("Next(%d) is %d; Has reports %t before and %t then", n, at, b.Has(at-1, n), b.Has(at, n))
		}
	}
	if at := b.Next(4); at != math.MaxInt64 {
		t.Errorf("Next(4) of a burst of 4 is %d, want never", at)
	}
}

// The zero Bucket has tokens at all times.
func TestBucketUnbounded(t *testing.T) {
	var b Bucket
	b.Take(5)
	if !b.Has(0, 1000) || b.Bounded() {
		t.Error("the zero Bucket has a bound")
	}
}
