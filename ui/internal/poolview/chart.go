package poolview

import (
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/page"
)

// Spark is a small chart of the tasks that wait, over time.
type Spark struct {
	Points []string // of lines; there is a gap where the page was not read
	Label  string
}

const sparkWidth, sparkHeight = 60, 16

// spark returns the chart of the points of the last minute.
func (s *history) spark() Spark {
	newest, ok := s.ago(0)
	if !ok {
		return Spark{}
	}
	most, n := 0, 0
	for i := range historyLen {
		p, ok := s.ago(i)
		if !ok || newest.at.Sub(p.at) > sparkWidth*time.Second {
			break
		}
		most, n = max(most, p.queued), i+1
	}
	v := Spark{Label: fmt.Sprintf("at most %s waited", page.Count(most))}
	if most == 0 {
		return v
	}
	var line strings.Builder
	lineLen := 0
	flush := func() {
		if lineLen > 1 {
			v.Points = append(v.Points, line.String())
		}
		line.Reset()
		lineLen = 0
	}
	step := 1 + n/16 // enough points for the eye
	var before time.Time
	for i := (n - 1) / step * step; i >= 0; i -= step {
		p, _ := s.ago(i)
		if !before.IsZero() && p.at.Sub(before) > 5*time.Second*time.Duration(step) {
			flush()
		}
		before = p.at
		if lineLen > 0 {
			line.WriteByte(' ')
		}
		lineLen++
		x := sparkWidth - int(newest.at.Sub(p.at).Seconds())
		fmt.Fprintf(&line, "%d,%d", x, sparkHeight-p.queued*(sparkHeight-1)/most)
	}
	flush()
	return v
}

// Chart is a histogram with a bar for each half octave, or more if there were many.
type Chart struct {
	Title, Label string
	Width        int
	Bars         []Bar
	Ticks        []Tick
}

// Bar is a rectangle of a chart.
type Bar struct{ X, Y, H int }

// Tick is a mark of an axis, with its text.
type Tick struct {
	X    int
	Text string
}

const (
	barStep     = 14
	barLimit    = 24
	chartHeight = 80
)

// charted returns the chart of s.
func charted(title string, s histogram.Snapshot) Chart {
	c := Chart{Title: title, Label: title + ": " + s.String()}
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
			c.Bars = append(c.Bars, Bar{i * barStep, chartHeight - h, h})
		}
	}
	c.Width = len(sums) * barStep
	for i := 0; i <= len(sums); i += max(4, (len(sums)+4)/5) {
		bound := histogram.Bound((first+i)*barBuckets - 1)
		c.Ticks = append(c.Ticks, Tick{i * barStep, page.Short(time.Duration(bound * 1e9))})
	}
	c.Width = max(c.Width, 6*barStep) + 60 // room for the last tick
	return c
}
