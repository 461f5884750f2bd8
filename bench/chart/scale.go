package chart

import (
	"math"
	"strconv"
	"strings"
)

// A scale maps the logarithms of values to an interval of the drawing.
type scale struct {
	low, high float64 // of the values; positive
	from, to  float64 // of the drawing
}

// newScale returns a scale for all positive values, with some space around them.
func newScale(values []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 10
	}
	low, high = low/1.25, high*1.25
	if high/low < 4 { // otherwise small differences look large
		middle := math.Sqrt(low * high)
		low, high = middle/2, middle*2
	}
	return scale{low, high, from, to}
}

func (s scale) at(v float64) float64 {
	return s.from + (s.to-s.from)*math.Log(v/s.low)/math.Log(s.high/s.low)
}

// ticks returns round values within the scale: powers of ten, with 2 and 5 between them
// where there is space.
func (s scale) ticks() []float64 {
	factors := []float64{1, 2, 5}
	if s.high/s.low > 200 {
		factors = []float64{1}
	}
	var ts []float64
	for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
		for _, f := range factors {
			if t := f * math.Pow(10, e); t >= s.low && t <= s.high {
				ts = append(ts, t)
			}
		}
	}
	return ts
}

// label returns a value as short text.
func label(v float64) string {
	switch {
	case v >= 999_500:
		return trim(v/1e6, 1) + " M"
	case v >= 9_950:
		return trim(v/1e3, 0) + " k"
	case v >= 100:
		return trim(v, 0)
	case v >= 1:
		return trim(v, 1)
	}
	return trim(v, 3)
}

func trim(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
