package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/internal/poolview"
)

// point is what all pools together did at one time. A value is NaN where it is not known.
type point struct {
	at     time.Time
	values [seriesCount]float64
}

// What the charts show, in their order.
const (
	seriesRate   = iota // runs in a second
	seriesQueued        // tasks that wait
	seriesWait          // the 99th percentile of the waits, in milliseconds
	seriesLate          // that of the lateness of scheduled runs
	seriesCount
)

// totals has the points of the last minutes.
type totals struct {
	points [pointLimit]point // a ring
	n      int               // points ever
}

const (
	pointLimit = 300
	gapTime    = 5 * time.Second // between two points: nobody looked, and there is no line
)

// add adds what a look has seen, and returns it.
func (t *totals) add(l *poolview.Look) point {
	p := point{at: l.At}
	var wait, late histogram.Snapshot
	known := false
	rate := 0.0
	for i := range l.Pools {
		s := &l.Pools[i]
		p.values[seriesQueued] += float64(s.Queued)
		if s.Recent.Rate >= 0 {
			rate += s.Recent.Rate
			known = true
		}
		justWait, justLate := s.Recent.Just()
		wait, late = wait.Add(justWait), late.Add(justLate)
	}
	p.values[seriesRate] = math.NaN()
	if known {
		p.values[seriesRate] = math.Round(rate*10) / 10
	}
	p.values[seriesWait], p.values[seriesLate] = millis(wait), millis(late)
	t.points[t.n%pointLimit] = p
	t.n++
	return p
}

// millis returns the 99th percentile of s in milliseconds with three digits.
func millis(s histogram.Snapshot) float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	ms := float64(s.Quantile(0.99)) / 1e6
	if ms == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(ms))-2)
	return math.Round(ms/unit) * unit
}

// all returns the points of the last five minutes, the oldest first.
func (t *totals) all() (points []point) {
	for i := max(0, t.n-pointLimit); i < t.n; i++ {
		p := t.points[i%pointLimit]
		if newest := t.points[(t.n-1)%pointLimit]; newest.at.Sub(p.at) <= pointLimit*time.Second {
			points = append(points, p)
		}
	}
	return points
}

// A Plot is one of the large charts.
type Plot struct {
	Number         int
	Title, Names   string
	First, Second  string // the names of the series
	Start          int64
	Points         string   // as JSON: the seconds from Start, and the values of each series
	Lines, Seconds []string // the points of lines, without scripts
	Rows           []plotRow
}

type plotRow struct{ Time, First, Second string }

// Plots returns the two charts of the last minutes.
func (l *Look) Plots() []Plot {
	points := l.totals
	return []Plot{
		newPlot(0, "Runs and waiting tasks", "runs per second", "waiting tasks", points, seriesRate),
		newPlot(1, "Delays", "wait p99, ms", "lateness p99, ms", points, seriesWait),
	}
}

func newPlot(number int, title, first, second string, points []point, series int) Plot {
	c := Plot{Number: number, Title: title, Names: first + "|" + second, First: first, Second: second}
	if len(points) == 0 {
		c.Points = "[[],[],[]]"
		return c
	}
	c.Start = points[0].at.Unix()
	columns := [3][]any{}
	add := func(x int64, a, b float64) {
		columns[0] = append(columns[0], x)
		columns[1], columns[2] = append(columns[1], number3(a)), append(columns[2], number3(b))
	}
	for i, p := range points {
		x := p.at.Unix() - c.Start
		if i > 0 && p.at.Sub(points[i-1].at) > gapTime {
			add(points[i-1].at.Unix()-c.Start+1, math.NaN(), math.NaN())
		}
		add(x, p.values[series], p.values[series+1])
	}
	text, err := json.Marshal(columns)
	if err != nil {
		panic("ui: " + err.Error()) // they are numbers
	}
	c.Points = string(text)
	c.Lines, c.Seconds = polyline(points, series), polyline(points, series+1)
	for i := len(points) - 1; i >= 0; i -= 10 {
		p := points[i]
		c.Rows = append(c.Rows, plotRow{p.at.Format("15:04:05"), value(p.values[series]), value(p.values[series+1])})
	}
	return c
}

// number3 returns x for JSON, which has no NaN.
func number3(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return x
}

func value(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3g", x)
}

const plotWidth, plotHeight = 300, 60

// polyline returns a series as lines, which have gaps where it is not known.
func polyline(points []point, series int) (all []string) {
	newest := points[len(points)-1].at
	most := 0.0
	for _, p := range points {
		if v := p.values[series]; v > most {
			most = v
		}
	}
	var line strings.Builder
	n := 0
	flush := func() {
		if n > 1 {
			all = append(all, line.String())
		}
		line.Reset()
		n = 0
	}
	step := 1 + len(points)/60
	var before time.Time
	for i := 0; i < len(points); i += step {
		p := points[i]
		v := p.values[series]
		if math.IsNaN(v) || !before.IsZero() && p.at.Sub(before) > gapTime*time.Duration(step) {
			flush()
		}
		before = p.at
		if math.IsNaN(v) {
			continue
		}
		if n++; n > 1 {
			line.WriteByte(' ')
		}
		y := plotHeight - 1
		if most > 0 {
			y = int(float64(plotHeight-1) * (1 - v/most))
		}
		fmt.Fprintf(&line, "%d,%d", plotWidth-int(newest.Sub(p.at).Seconds()), y)
	}
	flush()
	return all
}

// Newest returns the newest values of the charts that are shown, as JSON.
func (l *Look) Newest() string {
	p := l.newest
	pair := func(i int) []any { return []any{number3(p.values[i]), number3(p.values[i+1])} }
	text, err := json.Marshal([]any{p.at.Unix(), pair(seriesRate), pair(seriesWait)})
	if err != nil {
		panic("ui: " + err.Error())
	}
	return string(text)
}
