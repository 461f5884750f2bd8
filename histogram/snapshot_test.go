package histogram_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/histogram"
)

// of returns the snapshot of a histogram with these durations.
func of(ds ...time.Duration) histogram.Snapshot {
	var h histogram.Histogram
	for _, d := range ds {
		h.Record(d)
	}
	return h.Snapshot()
}

// distributions are sources of durations of different shapes.
var distributions = map[string]func(r *rand.Rand) time.Duration{
	"log-normal":  func(r *rand.Rand) time.Duration { return time.Duration(math.Exp(r.NormFloat64()*1.5 + 12)) },
	"exponential": func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * 1e6) },
	"uniform":     func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(1e9)) },
	"two values": func(r *rand.Rand) time.Duration {
		return []time.Duration{time.Millisecond, time.Hour}[r.IntN(2)]
	},
	"mostly zero": func(r *rand.Rand) time.Duration { return time.Duration(max(r.Int64N(1000)-900, 0)) },
	"any":         func(r *rand.Rand) time.Duration { return time.Duration(r.Int64() >> r.IntN(63)) },
}

func draw(name string, n int) []time.Duration {
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(name))))
	ds := make([]time.Duration, n)
	for i := range ds {
		ds[i] = distributions[name](r)
	}
	return ds
}

// equal reports whether two snapshots have the same counts, and nearly the same sum.
func equal(a, b histogram.Snapshot) bool {
	near := math.Abs(a.Sum-b.Sum) <= 1e-9*math.Max(a.Sum, b.Sum)
	return near && a.Count == b.Count && a.Zero == b.Zero && a.Offset == b.Offset && slices.Equal(a.Buckets, b.Buckets)
}

// A quantile is at most 9.1 % and a nanosecond from the exact one.
func TestSnapshotQuantileError(t *testing.T) {
	for name := range distributions {
		for _, n := range []int{1, 2, 10, 1000, 50_000} {
			ds := draw(name, n)
			s := of(ds...)
			slices.Sort(ds)
			for _, q := range []float64{0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
				rank := max(int(math.Ceil(q*float64(n))), 1)
				got, want := s.Quantile(q), ds[rank-1]
				if diff := math.Abs(float64(got - want)); diff > 0.091*float64(want)+1 {
					t.Errorf("%s, %d durations: Quantile(%v) = %v, want %v", name, n, q, got, want)
				}
			}
		}
	}
}

// Quantile does not decrease with q.
func TestSnapshotQuantileIsMonotonic(t *testing.T) {
	for name := range distributions {
		s := of(draw(name, 500)...)
		last := time.Duration(-1)
		for q := -0.1; q <= 1.1; q += 0.001 {
			if got := s.Quantile(q); got < last {
				t.Fatalf("%s: Quantile(%v) = %v, after %v", name, q, got, last)
			} else {
				last = got
			}
		}
	}
}

// Quantile has a value for every q and for an empty snapshot.
func TestSnapshotQuantileOfAnything(t *testing.T) {
	var empty histogram.Snapshot
	s := of(time.Second, time.Minute)
	for _, q := range []float64{math.NaN(), math.Inf(-1), -1, 0, 1, 2, math.Inf(1)} {
		if got := empty.Quantile(q); got != 0 {
			t.Errorf("Quantile(%v) of the empty snapshot is %v, want 0", q, got)
		}
		want := time.Second
		if q >= 1 {
			want = time.Minute
		}
		if got := s.Quantile(q); math.Abs(float64(got-want)) > 0.091*float64(want) {
			t.Errorf("Quantile(%v) = %v, want about %v", q, got, want)
		}
	}
	if empty.Mean() != 0 {
		t.Errorf("Mean of the empty snapshot is %v, want 0", empty.Mean())
	}
}

// The snapshots of two histograms add to that of one with the durations of both.
func TestSnapshotAdd(t *testing.T) {
	for a := range distributions {
		for b := range distributions {
			x, y := draw(a, 300), draw(b, 200)
			want := of(append(slices.Clone(x), y...)...)
			if got := of(x...).Add(of(y...)); !equal(got, want) {
				t.Errorf("%s and %s: %+v, want %+v", a, b, got, want)
			}
			if got := of(y...).Add(of(x...)); !equal(got, want) {
				t.Errorf("%s and %s: %+v, want %+v", b, a, got, want)
			}
		}
	}
}

// The difference of two snapshots is that of the durations in between.
func TestSnapshotSub(t *testing.T) {
	for a := range distributions {
		for b := range distributions {
			x, y := draw(a, 300), draw(b, 200)
			later := of(append(slices.Clone(x), y...)...)
			want := of(y...)
			got := later.Sub(of(x...))
			got.Sum, want.Sum = 0, 0 // the difference of large sums is not exact
			if !equal(got, want) {
				t.Errorf("%s without %s: %+v, want %+v", b, a, got, want)
			}
		}
	}
}

// A count that would be negative is zero.
func TestSnapshotSubOfOther(t *testing.T) {
	got := of(0, time.Second).Sub(of(0, 0, time.Second, time.Second, time.Hour))
	if !equal(got, histogram.Snapshot{}) || got.Buckets != nil {
		t.Errorf("%+v, want an empty snapshot", got)
	}
}

// Add and Sub leave their operands as they are, and the result shares nothing with them.
func TestSnapshotAddAndSubCopy(t *testing.T) {
	a, b := of(time.Second, time.Minute), of(time.Second)
	sum, diff, same := a.Add(b), a.Sub(b), a.Add(histogram.Snapshot{})
	for _, s := range []histogram.Snapshot{sum, diff, same} {
		for k := range s.Buckets {
			s.Buckets[k] = 99
		}
	}
	if !equal(a, of(time.Second, time.Minute)) || !equal(b, of(time.Second)) {
		t.Errorf("operands are now %+v and %+v", a, b)
	}
}

// The zero Snapshot is the snapshot of an empty histogram.
func TestSnapshotZero(t *testing.T) {
	if got := of(); !reflect.DeepEqual(got, histogram.Snapshot{}) {
		t.Errorf("%+v, want the zero Snapshot", got)
	}
	if got, want := (histogram.Snapshot{}).String(), "0 durations"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// Neither the first nor the last bucket is empty.
func TestSnapshotIsTrimmed(t *testing.T) {
	for name := range distributions {
		s := of(draw(name, 50)...)
		if n := len(s.Buckets); n > 0 && (s.Buckets[0] == 0 || s.Buckets[n-1] == 0) {
			t.Errorf("%s: %v", name, s.Buckets)
		}
	}
}

// A snapshot with a bucket that no duration is in is rejected with its range.
func TestSnapshotWithForeignBuckets(t *testing.T) {
	for _, s := range []histogram.Snapshot{
		{Count: 1, Offset: -241, Buckets: []uint64{1}},
		{Count: 2, Offset: 264, Buckets: []uint64{1, 1}},
		{Count: 1, Offset: math.MaxInt, Buckets: []uint64{1}},
		{Count: 1, Offset: math.MinInt, Buckets: []uint64{1}},
	} {
		for name, call := range map[string]func(){
			"Add":       func() { of(time.Second).Add(s) },
			"Add of it": func() { s.Add(of(time.Second)) },
			"Sub":       func() { of(time.Second).Sub(s) },
		} {
			func() {
				defer func() {
					text, _ := recover().(string)
					first, last := "histogram: a Snapshot has the buckets ", "are -240 to 264"
					if !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
						t.Errorf("%s of buckets from %d: panic %q", name, s.Offset, text)
					}
				}()
				call()
			}()
		}
	}
}

// String has the count and quantiles with three digits.
func TestSnapshotString(t *testing.T) {
	var ds []time.Duration
	for i := range 1000 {
		ds = append(ds, time.Duration(i+1)*time.Millisecond)
	}
	got := of(ds...).String()
	const want = "1000 durations, mean 501ms, p50 500ms, p90 900ms, p99 990ms, at most 1s"
	if got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// decode returns durations from fuzz data, eight bytes each.
func decode(data []byte) (ds []time.Duration) {
	for ; len(data) >= 8; data = data[8:] {
		var v uint64
		for i, b := range data[:8] {
			v |= uint64(b) << (8 * i)
		}
		ds = append(ds, time.Duration(v))
	}
	return ds
}

// Any durations are counted in their buckets, and add and subtract.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 202, 154, 59, 0, 0, 0, 0}, uint8(1))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 127, 255, 255, 255, 255, 255, 255, 255, 255}, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		ds := decode(data)
		s := of(ds...)
		if s.Count != uint64(len(ds)) {
			t.Fatalf("%d durations counted of %d", s.Count, len(ds))
		}
		k := min(int(cut), len(ds))
		first, second := of(ds[:k]...), of(ds[k:]...)
		if sum := first.Add(second); !equal(sum, s) {
			t.Errorf("%+v and %+v add to %+v, want %+v", first, second, sum, s)
		}
		rest := s.Sub(first)
		rest.Sum = second.Sum
		if !equal(rest, second) {
			t.Errorf("%+v without %+v is %+v, want %+v", s, first, rest, second)
		}
		for _, d := range ds {
			one := of(d)
			if d <= 0 {
				if one.Zero != 1 || one.Buckets != nil {
					t.Fatalf("%d ns: %+v, want a zero", d, one)
				}
				continue
			}
			low, high := histogram.Bound(one.Offset-1), histogram.Bound(one.Offset)
			if seconds := float64(d) / 1e9; seconds < low*(1-1e-15) || seconds > high*(1+1e-15) {
				t.Errorf("%d ns is in the bucket from %v s to %v s", d, low, high)
			}
		}
		if len(ds) > 0 {
			slices.SortFunc(ds, cmp.Compare)
			if got, want := s.Quantile(1), max(ds[len(ds)-1], 0); math.Abs(float64(got-want)) > 0.091*float64(want)+1 {
				t.Errorf("Quantile(1) = %v, want %v", got, want)
			}
		}
	})
}
