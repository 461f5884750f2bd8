package histogram_test

import (
	"fmt"
	"time"

	"github.com/executor-go/executor/histogram"
)

func Example() {
	var latency histogram.Histogram
	for i := range 100 {
		latency.Record(time.Duration(i+1) * time.Millisecond)
	}
	s := latency.Snapshot()
	fmt.Println(s.Count, s.Quantile(0.5).Round(time.Millisecond), s.Quantile(1).Round(time.Millisecond))
	fmt.Println(s)
	// Output:
	// 100 50ms 105ms
	// 100 durations, mean 50.5ms, p50 50.3ms, p90 90.3ms, p99 103ms, at most 105ms
}

// The difference of two snapshots has the durations of the time between them.
func ExampleSnapshot_Sub() {
	var latency histogram.Histogram
	latency.Record(time.Second)
	before := latency.Snapshot()
	latency.Record(time.Hour)
	latency.Record(time.Hour)
	fmt.Println(latency.Snapshot().Sub(before).Count)
	// Output: 2
}

// The snapshots of several histograms add up.
func ExampleSnapshot_Add() {
	var reads, writes histogram.Histogram
	reads.Record(time.Millisecond)
	writes.Record(20 * time.Millisecond)
	all := reads.Snapshot().Add(writes.Snapshot())
	fmt.Println(all.Count, all.Mean())
	// Output: 2 10.5ms
}

// A loop over the buckets, as for the cumulative buckets of a classic Prometheus histogram.
func ExampleBound() {
	var latency histogram.Histogram
	for _, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		latency.Record(d)
	}
	s := latency.Snapshot()
	sum := s.Zero
	for k, n := range s.Buckets {
		if sum += n; n > 0 {
			fmt.Printf("at most %v s: %d\n", histogram.Bound(s.Offset+k), sum)
		}
	}
	// Output:
	// at most 1 s: 1
	// at most 2 s: 2
	// at most 4 s: 3
}
