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

// Tokens returns for how many numbers Has reports true.
func TestBucketTokens(t *testing.T) {
	b := Bucket{Interval: 7, Burst: 4}
	for taken := range 7 { // more than there are, as after Change
		for now := int64(90); now < 150; now++ {
			want := int64(0)
			for b.Has(now, int(want)) {
				want++
			}
			if got := b.Tokens(now); got != want {
				t.Errorf("%d tokens at %d after %d were taken, want %d", got, now, taken, want)
			}
		}
		b.Take(100)
	}
	var unbounded Bucket
	if n := unbounded.Tokens(5); n != math.MaxInt64 {
		t.Errorf("the zero Bucket has %d tokens", n)
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

// After Change a bucket has the tokens that it had, at most the new burst, and fills at the
// new interval.
func TestBucketChange(t *testing.T) {
	for _, c := range []struct {
		name            string
		taken           int
		interval, burst int64
		tokens          int   // at once
		next            int64 // ns until the token after those
	}{
		{"slower", 3, 100, 4, 1, 50},
		{"faster", 3, 2, 4, 1, 1},
		{"smaller", 0, 10, 2, 2, 10},
		{"smaller, with a part of a token", 2, 10, 2, 2, 10},
		{"greater", 4, 10, 9, 0, 5},
		{"no bound any more", 4, 0, 0, 50, 0},
	} {
		b := Bucket{Interval: 10, Burst: 4}
		for range c.taken {
			b.Take(100)
		}
		const now = 105 // half a token later
		b.Change(now, c.interval, c.burst)
		n := 0
		for ; n < 50 && b.Has(now, 0); n++ {
			b.Take(now)
		}
		if n != c.tokens || b.Has(now+c.next-1, 0) != (c.next == 0) || !b.Has(now+c.next, 0) {
			t.Errorf("%s: %d tokens at once, the next at %d; want %d and %d", c.name, n, b.Next(0)-now, c.tokens, c.next)
		}
	}
	var b Bucket
	b.Change(7, 10, 3)
	if !b.Has(7, 2) || b.Has(7, 3) {
		t.Error("a bucket that had no bound is not full")
	}
}
