package chart

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A scale maps its bounds to the ends of the drawing, and all its values and ticks between
// them.
func TestScaleMapsBoundsToEnds(t *testing.T) {
	for _, values := range [][]float64{{1, 10}, {0.003, 70_000}, {50}, {0, -1}, nil, {99, 101}} {
		s := newScale(values, 100, 0)
		if s.at(s.low) != 100 || math.Abs(s.at(s.high)) > 1e-9 {
			t.Errorf("%v: the bounds are at %v and %v", values, s.at(s.low), s.at(s.high))
		}
		for _, v := range values {
			if v > 0 && (s.at(v) < 0 || s.at(v) > 100) {
				t.Errorf("%v: %v is at %v, want 0 to 100", values, v, s.at(v))
			}
		}
		ts := s.ticks()
		if len(ts) == 0 || len(ts) > 12 {
			t.Errorf("%v: %d ticks", values, len(ts))
		}
		for i, tick := range ts {
			if tick < s.low || tick > s.high || i > 0 && tick <= ts[i-1] {
				t.Errorf("%v: ticks are %v within %v to %v", values, ts, s.low, s.high)
			}
		}
	}
}

// Labels are short.
func TestLabelIsShort(t *testing.T) {
	for v, want := range map[float64]string{
		0.002: "0.002", 0.5: "0.5", 1: "1", 2.5: "2.5", 140: "140", 1000: "1000", 20_000: "20 k", 3_000_000: "3 M",
	} {
		if got := label(v); got != want {
			t.Errorf("label(%v) = %q, want %q", v, got, want)
		}
	}
}

// A missing value has no mark.
func TestLinesWithMissingValue(t *testing.T) {
	svg := string(Lines("a & b", []Panel{{
		Title: "ns", X: "n", Ticks: []string{"1", "2", "3"},
		Series: []Series{{Name: "one", Style: Style{Color: "#123456"}, Values: []float64{5, 0, 7}}},
	}}))
	if n := strings.Count(svg, "<circle"); n != 3 { // two values, one in the legend
		t.Errorf("%d marks for two values and a legend", n)
	}
	if !strings.Contains(svg, "a &amp; b") {
		t.Error("the title is not escaped")
	}
}

// The scale of ratios includes 1, the reference, even if all values are far from it.
func TestRatiosIncludeReference(t *testing.T) {
	svg := string(Ratios("t", "b", []string{"row"}, []Series{{Name: "slow", Values: []float64{50}}}))
	if !strings.Contains(svg, ">1 ×<") || !strings.Contains(svg, "slow: 50 ×") && !strings.Contains(svg, "slow: 50") {
		t.Errorf("the chart lacks 1 × or the value:\n%s", svg)
	}
}

// The length of a bar is relative to the longest of its panel. A panel may be empty.
func TestBarsLengths(t *testing.T) {
	svg := string(Bars("t", "b", []BarPanel{
		{Title: "ns", Bars: []Bar{
			{Name: "one", Value: 40, Label: "40", Own: true}, {Name: "two", Value: 80, Label: "80"},
		}},
		{Title: "empty"},
		{Title: "zero", Bars: []Bar{{Name: "none", Label: "0"}}},
	}))
	widths := regexp.MustCompile(`width="([0-9.]+)" height="12.0" rx="2" class="(\w+)"`).FindAllStringSubmatch(svg, -1)
	if len(widths) != 3 || widths[0][2] != "own" || widths[1][2] != "bar" {
		t.Fatalf("the bars are %v", widths)
	}
	one, _ := strconv.ParseFloat(widths[0][1], 64)
	two, _ := strconv.ParseFloat(widths[1][1], 64)
	if math.Abs(two-2*one) > 0.2 {
		t.Errorf("80 has length %v, 40 has %v", two, one)
	}
	if strings.Contains(svg, "NaN") {
		t.Error("a bar has no length")
	}
}
