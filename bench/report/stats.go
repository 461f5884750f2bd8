package report

import (
	"math"
	"slices"
)

// Median gives the middle of the samples, of an even number of them the mean of
// the two in the middle. It is 0 if there are none.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// Spread gives how far the samples lie apart: half of the distance between the
// quarters, as a part of the median. It is 0 if there are fewer than three.
func Spread(samples []float64) float64 {
	m := Median(samples)
	if len(samples) < 3 || m == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	return (quantile(s, 0.75) - quantile(s, 0.25)) / 2 / m
}

// quantile interpolates between the sorted samples.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
