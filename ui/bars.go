package ui

import (
	"time"

	"github.com/executor-go/executor/histogram"
)

// chart is a histogram with a bar for each half octave, or more if there were many.
type chart struct {
	Title, Label string
	Width        int
	Bars         []bar
	Ticks        []tick
}

type bar struct{ X, Y, H int }

type tick struct {
	X    int
	Text string
}

const (
	barStep     = 14
	barLimit    = 24
	chartHeight = 80
)

// charted returns the chart of s.
func charted(title string, s histogram.Snapshot) chart {
	c := chart{Title: title, Label: title + ": " + s.String()}
	if len(s.Buckets) == 0 {
		return c
	}
	barBuckets := 4
	floor := func(i int) int { // the bar of a bucket
		if i < 0 {
			return -((-i + barBuckets - 1) / barBuckets)
		}
		return i / barBuckets
	}
	for floor(s.Offset+len(s.Buckets)-1)-floor(s.Offset) >= barLimit {
		barBuckets *= 2
	}
	first := floor(s.Offset)
	sums := make([]uint64, floor(s.Offset+len(s.Buckets)-1)-first+1)
	var most uint64
	for k, n := range s.Buckets {
		i := floor(s.Offset+k) - first
		sums[i] += n
		most = max(most, sums[i])
	}
	for i, n := range sums {
		if n > 0 {
			h := max(1, int(float64(n)/float64(most)*chartHeight))
			c.Bars = append(c.Bars, bar{i * barStep, chartHeight - h, h})
		}
	}
	c.Width = len(sums) * barStep
	for i := 0; i <= len(sums); i += max(4, (len(sums)+4)/5) {
		bound := histogram.Bound((first+i)*barBuckets - 1)
		c.Ticks = append(c.Ticks, tick{i * barStep, short(time.Duration(bound * 1e9))})
	}
	c.Width = max(c.Width, 6*barStep) + 60 // room for the last tick
	return c
}
