package figures

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/executor-go/executor/ui/internal/poolview"
)

// picture is a chart as the server draws it.
type picture struct {
	Width, Height int
	Foot          int // of the lines; below are the times
	Lines         []pictureLine
	Marks         []pictureMark   // of the values
	Ticks         []poolview.Tick // of the times
}

type pictureLine struct {
	Color  string
	Name   string
	Points []string // a part of the line each, between which it is not known
}

type pictureMark struct {
	Y    int
	Text string
}

const (
	pictureWidth, pictureHeight = 720, 150
	pictureLeft                 = 48 // of the lines; beside it are the values
	pictureTop, pictureFoot     = 12, 130
	picturePart                 = 2 // units of the width that have a point of a line
)

// newPicture draws lines of points, of which there is one at least.
func newPicture(lines []line, unit string, points []point, gap time.Duration, in *time.Location) *picture {
	from, until := points[0].at, points[len(points)-1].at
	span := max(until.Sub(from), time.Second)
	axis := poolview.Axis{From: from.In(in), Span: span, Left: pictureLeft, Width: pictureWidth - pictureLeft}
	most := 0.0
	for _, line := range lines {
		for _, p := range points {
			if v := p.values[line.series]; v > most {
				most = v
			}
		}
	}
	c := &picture{Width: pictureWidth, Height: pictureHeight, Foot: pictureFoot}
	top := roundUp(most)
	y := func(v float64) int { return pictureFoot - int(math.Round((pictureFoot-pictureTop)*v/top)) }
	c.Marks = []pictureMark{{y(0), "0"}, {y(top / 2), value(top/2, unit)}, {y(top), value(top, unit)}}
	step, format := tickStep(span)
	c.Ticks = axis.Ticks(step, func(t time.Time) string { return t.Format(format) })
	for _, line := range lines {
		drawn := pictureLine{Color: line.color, Name: line.name}
		var part strings.Builder
		var before time.Time
		x, highest, n := -1, math.NaN(), 0 // of the points that have the same place
		flush := func() {
			if math.IsNaN(highest) {
				return
			}
			if n++; n > 1 {
				part.WriteByte(' ')
			}
			fmt.Fprintf(&part, "%d,%d", x, y(highest))
			highest = math.NaN()
		}
		end := func() {
			if flush(); n > 1 {
				drawn.Points = append(drawn.Points, part.String())
			}
			part.Reset()
			n = 0
		}
		for _, p := range points {
			v := p.values[line.series]
			if math.IsNaN(v) || !before.IsZero() && p.at.Sub(before) > gap {
				end()
			}
			before = p.at
			if math.IsNaN(v) {
				continue
			}
			if at := int(axis.X(p.at.In(in))) / picturePart * picturePart; at != x {
				flush()
				x = at
			}
			if math.IsNaN(highest) || v > highest {
				highest = v
			}
		}
		end()
		c.Lines = append(c.Lines, drawn)
	}
	return c
}

// roundUp returns a value for the top of an axis: 1, 2 or 5 times a power of ten, at least x.
func roundUp(x float64) float64 {
	if x <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{1, 2, 5} {
		if k*unit >= x {
			return k * unit
		}
	}
	return 10 * unit
}

// tickStep returns how far the ticks of an axis of time are apart, and how a time is written there.
func tickStep(span time.Duration) (step time.Duration, format string) {
	for _, step := range []time.Duration{
		time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
	} {
		if span/step <= 10 {
			if step < time.Minute {
				return step, "15:04:05"
			}
			return step, "15:04"
		}
	}
	return 4 * time.Hour, "15:04"
}
