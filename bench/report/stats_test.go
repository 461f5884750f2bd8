package report_test

import (
	"math"
	"testing"

	"github.com/executor-go/executor/bench/report"
)

// The median is the middle sample, or the mean of the two in the middle, in any order of
// the samples.
func TestMedianOfAnyOrder(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{100, 1, 3}, 3},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := report.Median(c.samples); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.samples, got, c.want)
		}
	}
}

// Median does not change the order of the samples.
func TestMedianKeepsOrder(t *testing.T) {
	samples := []float64{3, 1, 2}
	report.Median(samples)
	if samples[0] != 3 || samples[1] != 1 || samples[2] != 2 {
		t.Errorf("samples are now %v", samples)
	}
}

// The spread is half of the distance between the quartiles, relative to the median, and
// does not depend on one outlier.
func TestSpreadOfQuartiles(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    float64
	}{
		{nil, 0},
		{[]float64{1, 2}, 0},
		{[]float64{10, 10, 10, 10}, 0},
		{[]float64{8, 9, 10, 11, 12}, 0.1},
		{[]float64{8, 9, 10, 11, 1e9}, 0.1},
		{[]float64{0, 0, 0}, 0},
	} {
		if got := report.Spread(c.samples); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Spread(%v) = %v, want %v", c.samples, got, c.want)
		}
	}
}
