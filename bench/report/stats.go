package report

import (
	"math"
	"slices"
)

// Median returns the median of the samples: the middle one, or the mean of the two in the
// middle. It returns 0 if there are none.
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

// Spread returns half of the distance between the quartiles, relative to the median. It
// returns 0 if there are fewer than three samples.
func Spread(samples []float64) float64 {
	m := Median(samples)
	if len(samples) < 3 || m == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	return (quantile(s, 0.75) - quantile(s, 0.25)) / 2 / m
}

// quantile returns a quantile of sorted samples, by interpolation.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
