package histogram_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/histogram"
)

// durations are of different lengths, so that no branch is predicted by habit.
var durations = draw("log-normal", 1<<12)

func BenchmarkHistogramRecord(b *testing.B) {
	var h histogram.Histogram
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.Record(durations[i&(len(durations)-1)])
		i++
	}
}

func BenchmarkHistogramRecordParallel(b *testing.B) {
	var h histogram.Histogram
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			h.Record(durations[i&(len(durations)-1)])
		}
	})
}

func BenchmarkHistogramSnapshot(b *testing.B) {
	var h histogram.Histogram
	for _, d := range durations {
		h.Record(d)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Snapshot()
	}
}

func BenchmarkSnapshotQuantile(b *testing.B) {
	s := of(durations...)
	for b.Loop() {
		s.Quantile(0.99)
	}
}

func BenchmarkSnapshotAdd(b *testing.B) {
	s, other := of(durations...), of(time.Nanosecond, time.Hour)
	for b.Loop() {
		s.Add(other)
	}
}
