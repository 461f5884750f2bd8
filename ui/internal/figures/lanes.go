package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// A Timeline has a lane for each of some schedules, with now in its middle.
type Timeline struct {
	Label  string
	All    int // schedules, of this and of others
	Height int
	Now    int // of the x axis
	Ticks  []poolview.Tick
	Lanes  []Lane
}

// A Lane is a line of the timeline.
type Lane struct {
	Name   string
	Path   string // of the page about it
	Y      int    // of the name
	Traces []Trace
}

// A Trace is a path of marks of one sort.
type Trace struct{ Class, D, Dash string }

const (
	namesWidth = 130
	lanesWidth = 700
	laneHeight = 16
	lanesTop   = 18
	marksLimit = 120 // of a trace
	lanesShown = 12  // at first, where there are many more
)

// NewTimelines returns the timeline of rows, span back and ahead. Where there are many rows it returns two: that of the
// rows that need attention and of those that ran most, and that of all others. In each, the rows that need attention now
// are the first, and all are ordered by name, so that they stay where they are.
func NewTimelines(rows []*Scheduled, now time.Time, span time.Duration) []Timeline {
	parts := [][]*Scheduled{rows}
	if len(rows) > lanesShown*3/2 {
		ranked := slices.Clone(rows)
		slices.SortStableFunc(ranked, func(a, b *Scheduled) int {
			return cmp.Or(cmp.Compare(b.trouble(now), a.trouble(now)), cmp.Compare(len(b.past), len(a.past)))
		})
		parts = [][]*Scheduled{ranked[:lanesShown], ranked[lanesShown:]}
	}
	var all []Timeline
	for _, part := range parts {
		t := newTimeline(part, now, span)
		t.All = len(rows)
		all = append(all, t)
	}
	return all
}

// trouble returns how much attention a schedule needs: most while its last run failed, it is late, or it runs for too
// long; else the more, the more of its runs failed or were missed.
func (s *Scheduled) trouble(now time.Time) (n int) {
	if s.lastFailed || s.overlaps(now) || s.overdue(now) {
		return math.MaxInt
	}
	for _, r := range s.past {
		if r.class != "ok" {
			n++
		}
	}
	return n
}

func newTimeline(rows []*Scheduled, now time.Time, span time.Duration) Timeline {
	a := poolview.Axis{From: now.Add(-span), Span: 2 * span, Left: namesWidth, Width: lanesWidth}
	t := Timeline{
		Label:  fmt.Sprintf("When schedules ran in the last %s, and are due in the next", SpanName(span)),
		Height: lanesTop + laneHeight*len(rows), Now: namesWidth + lanesWidth/2,
	}
	t.Ticks = a.Ticks(stepOf(span), func(at time.Time) string {
		if span > time.Hour && at.Hour() == 0 && at.Minute() == 0 {
			return at.Format("Mon 2")
		}
		return at.Format("15:04")
	})
	rank := func(s *Scheduled) int {
		if s.trouble(now) == math.MaxInt {
			return 0
		}
		return 1
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *Scheduled) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
	for i, row := range rows {
		t.Lanes = append(t.Lanes, row.lane(a, now, lanesTop+laneHeight*i))
	}
	return t
}

// stepOf returns how far apart the ticks of an axis are.
func stepOf(span time.Duration) time.Duration {
	switch {
	case span <= time.Hour:
		return 30 * time.Minute
	case span > 24*time.Hour:
		return 48 * time.Hour
	}
	return 6 * time.Hour
}

func (s *Scheduled) lane(a poolview.Axis, now time.Time, y int) Lane {
	l := Lane{Name: laneName(s.name), Path: s.path, Y: y + laneHeight - 4}
	middle := y + laneHeight/2
	l.Traces = ran(a, s.past, now, middle)
	var due []float64
	end := a.From.Add(a.Span)
	for _, t := range s.due {
		if !t.Before(now) && t.Before(end) {
			due = append(due, a.X(t))
		}
	}
	if s.dense {
		l.Traces = append(l.Traces, Trace{"due", fmt.Sprintf("M%.0f %dH%d", a.X(now), middle, namesWidth+lanesWidth), ""})
	} else if len(due) > 0 {
		l.Traces = append(l.Traces, marked("due", due, middle))
	}
	if since := s.runningSince; !since.IsZero() {
		if since.Before(a.From) {
			since = a.From
		}
		class := "run"
		if s.overlaps(now) {
			class = "failed"
		}
		x := a.X(since)
		l.Traces = append(l.Traces, Trace{class, fmt.Sprintf("M%.0f %dh%.0f", x, middle, max(a.X(now)-x, 2)), ""})
	}
	return l
}

// laneName returns a name that is short enough for a lane. Many long names differ at their ends, so the middle is cut.
func laneName(name string) string {
	text := []rune(page.Printable(name, 500))
	if len(text) <= 18 {
		return string(text)
	}
	return string(text[:9]) + "…" + string(text[len(text)-8:])
}

// cellWidth is the width of a cell, in which there is one mark for all runs that began then: twelve minutes of a day.
const cellWidth = 3

// bar is a mark from one place of the axis to another.
type bar struct{ from, to float64 }

// ran returns the marks of past runs, the oldest first: bars as long as the runs took. Where more than one began within a
// cell, the cell has one mark for all of them, and below it the share of those that failed.
func ran(a poolview.Axis, past []pastRun, now time.Time, y int) (traces []Trace) {
	type cell struct{ ok, failed int }
	left := float64(a.Left)
	x := func(t time.Time) float64 { return max(a.X(t), left) }
	at := func(r pastRun) int { return int((x(r.start) - left) / cellWidth) }
	seen := func(r pastRun) bool { return r.start.Before(now) && r.start.Add(r.took).After(a.From) }
	cells := make(map[int]cell)
	for _, r := range past {
		if c := cells[at(r)]; seen(r) {
			switch r.class {
			case "ok":
				c.ok++
			case "failed":
				c.failed++
			}
			cells[at(r)] = c
		}
	}
	bars := make(map[string][]bar)
	add := func(class string, from, to float64) { bars[class] = append(bars[class], bar{from, to}) }
	for _, r := range past {
		if !seen(r) {
			continue
		}
		switch c := cells[at(r)]; {
		case c.ok+c.failed < 2 || r.class != "ok" && r.class != "failed":
			add(r.class, x(r.start), min(max(a.X(r.start.Add(r.took)), x(r.start)+2), max(a.X(now), x(r.start)+2)))
		case c.ok > 0 && r.class == "ok", c.ok == 0:
			add(r.class, left+float64(at(r))*cellWidth, left+float64(at(r)+1)*cellWidth)
		}
	}
	for _, class := range []string{"ok", "failed", "other", "miss"} {
		if len(bars[class]) > 0 {
			traces = append(traces, Trace{Class: class, D: drawn(bars[class], y)})
		}
	}
	var d strings.Builder
	for _, i := range slices.Sorted(maps.Keys(cells)) {
		if c := cells[i]; c.failed > 0 && c.ok > 0 {
			const most, least = laneHeight - 2, 4
			height := max(most*c.failed/(c.ok+c.failed), least)
			fmt.Fprintf(&d, "M%d %dh%dv-%dh-%dz", a.Left+i*cellWidth, y+most/2, cellWidth, height, cellWidth)
		}
	}
	if d.Len() > 0 {
		traces = append(traces, Trace{Class: "share", D: d.String()})
	}
	return traces
}

// drawn returns a path of bars; those that touch are one.
func drawn(bars []bar, y int) string {
	slices.SortFunc(bars, func(a, b bar) int { return cmp.Compare(a.from, b.from) })
	var d strings.Builder
	for i := 0; i < len(bars); {
		from, to := bars[i].from, bars[i].to
		for i++; i < len(bars) && bars[i].from < to+1; i++ {
			to = max(to, bars[i].to)
		}
		fmt.Fprintf(&d, "M%.0f %dH%.0f", from, y, to)
	}
	return d.String()
}

// marked returns a mark for each x, which grow: a line of dashes if they are regular, a band if they are close.
func marked(class string, xs []float64, y int) Trace {
	if n := len(xs); n > 3 {
		first, last := xs[0], xs[n-1]
		step := (last - first) / float64(n-1)
		regular := true
		for i, x := range xs {
			if math.Abs(x-first-step*float64(i)) > 1 {
				regular = false
				break
			}
		}
		switch {
		case regular && step < 3:
			return Trace{class, fmt.Sprintf("M%.0f %dH%.0f", first, y, last+2), ""}
		case regular:
			return Trace{class, fmt.Sprintf("M%.0f %dH%.0f", first, y, last+2), fmt.Sprintf("2 %.2f", step-2)}
		}
	}
	var d strings.Builder
	at := -10
	n := 0
	for _, x := range xs {
		if x := int(math.Round(x)); x > at+2 && n < marksLimit { // else it could not be seen
			if n == 0 {
				fmt.Fprintf(&d, "M%d %dh2", x, y)
			} else {
				fmt.Fprintf(&d, "m%d 0h2", x-at-2)
			}
			at = x
			n++
		}
	}
	return Trace{class, d.String(), ""}
}

// SpanName returns a span in words.
func SpanName(d time.Duration) string {
	switch d {
	case time.Hour:
		return "hour"
	case 24 * time.Hour:
		return "24 hours"
	case 7 * 24 * time.Hour:
		return "7 days"
	}
	return page.Short(d)
}
