package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// point is what pools did at one time. A value is NaN where it is not known.
type point struct {
	at     time.Time
	values [seriesCount]float64
}

// What the charts show.
const (
	seriesRate     = iota // runs in a second
	seriesFailed          // those of them that failed
	seriesQueued          // tasks that wait
	seriesWait            // the 99th percentile of the waits, in milliseconds
	seriesLate            // that of the lateness of scheduled runs
	seriesRejected        // tasks that were rejected in a minute
	seriesCount
)

// chart is what is drawn together: what has the same unit.
type chart struct {
	title, unit string // the unit is "ms" for durations, else ""
	lines       []line
}

// poolCharts are those of pools, and jobCharts those of jobs, whose points have a value for each line of them.
var poolCharts = []chart{
	{"Runs per second", "", []line{{seriesRate, "runs", "c1"}, {seriesFailed, "failed", "bad"}}},
	{"Waiting tasks", "", []line{{seriesQueued, "waiting", "c1"}}},
	{"Delays", "ms", []line{{seriesWait, "wait p99", "c1"}, {seriesLate, "lateness p99", "c2"}}},
	{"Rejected tasks a minute", "", []line{{seriesRejected, "rejected", "bad"}}},
}

var jobCharts = []chart{{"Delay and duration of 95 % of the runs, by the hour", "ms", []line{{0, "waited", "c1"}, {1, "took", "c2"}}}}

// line is a line of a chart.
type line struct {
	series      int
	name, color string
}

// totals has the points of the last minutes.
type totals struct {
	points [pointLimit]point // a ring
	n      int               // points ever
}

const (
	pointLimit = 300
	gapTime    = 90 * time.Second // between two points of pools, between which there is no line
)

// pointOf returns what pools did at a look.
func pointOf(at time.Time, pools []poolview.Pool) point {
	p := point{at: at}
	var wait, late histogram.Snapshot
	known := false
	for i := range pools {
		s := &pools[i]
		p.values[seriesQueued] += float64(s.Queued)
		if s.Recent.Rate >= 0 {
			p.values[seriesRate] += s.Recent.Rate
			p.values[seriesFailed] += s.Recent.FailRate
			known = true
		}
		p.values[seriesRejected] += float64(s.Recent.Rejected)
		justWait, justLate := s.Recent.Just()
		wait, late = wait.Add(justWait), late.Add(justLate)
	}
	if !known {
		p.values[seriesRate], p.values[seriesFailed] = math.NaN(), math.NaN()
	}
	p.values[seriesWait], p.values[seriesLate] = millis(wait), millis(late)
	return p
}

// add adds what a look has seen, and returns it.
func (t *totals) add(l *poolview.Look) point {
	p := pointOf(l.At, l.Pools)
	t.points[t.n%pointLimit] = p
	t.n++
	return p
}

// millis returns the 99th percentile of s in milliseconds.
func millis(s histogram.Snapshot) float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return float64(s.Quantile(0.99)) / 1e6
}

// rounded returns x with three digits.
func rounded(x float64) float64 {
	if x == 0 || math.IsNaN(x) {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-2)
	if unit >= 1 {
		return math.Round(x/unit) * unit
	}
	per := math.Round(1 / unit) // a power of ten, so that what is divided by it has no further digits
	return math.Round(x*per) / per
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

// joined returns minutes and the points of looks, in the order of time. A minute in which there was a look is left out.
func joined(minutes, looks []point) (all []point) {
	i := 0
	for _, m := range minutes {
		for i < len(looks) && !looks[i].at.After(m.at.Add(-time.Minute)) {
			all = append(all, looks[i])
			i++
		}
		if i == len(looks) || looks[i].at.After(m.at) {
			all = append(all, m)
		}
	}
	return append(all, looks[i:]...)
}

// Plots are the charts of pools over a span of time.
type Plots struct {
	Shown  bool // also if there is none yet
	All    []Plot
	Points string // as JSON: the seconds since 1970, and the values of each series; "" with what is drawn by scripts already
	Span   int    // seconds
}

// A Plot is one of the large charts.
type Plot struct {
	Number  int
	Title   string
	Unit    string // "ms", or ""
	Series  string // for scripts: of each line its series, its color and its name
	Label   string
	Picture *picture // for those who have no scripts; nil with what they have already
	Names   []string
	Rows    []plotRow
}

type plotRow struct {
	Time   string
	Values []string
}

// Plots returns the charts of a pool, of all pools for 0, as they were in a span until now. With live they are for a page
// that has them already.
func (p *Pools) Plots(pool int, span time.Duration, live bool, in *time.Location) Plots {
	l := p.Look()
	points := p.memory.points(pool, l.At.Add(-span))
	if pool == 0 {
		var recent []point
		for _, one := range l.totals {
			if l.At.Sub(one.at) <= span {
				recent = append(recent, one)
			}
		}
		points = joined(points, recent)
	} else if of := l.Pool(pool); of != nil {
		points = joined(points, []point{pointOf(l.At, []poolview.Pool{*of})})
	}
	return newPlots(poolCharts, points, gapTime, span, live, in)
}

// Hourly is how long runs waited and took in an hour; negative if that is not known.
type Hourly struct {
	Until      time.Time
	Wait, Took time.Duration
}

// HourlyPlots returns the chart of some hours. With live it is for a page that has it already.
func HourlyPlots(hours []Hourly, live bool, in *time.Location) Plots {
	var points []point
	for _, h := range hours {
		p := point{at: h.Until, values: hole}
		for i, d := range []time.Duration{h.Wait, h.Took} {
			if d >= 0 {
				p.values[i] = float64(d) / float64(time.Millisecond)
			}
		}
		points = append(points, p)
	}
	return newPlots(jobCharts, points, 2*time.Hour, 24*time.Hour, live, in)
}

// newPlots returns charts of points, between which there is no line if they are further from each other than gap.
func newPlots(charts []chart, points []point, gap, span time.Duration, live bool, in *time.Location) (all Plots) {
	all.Shown, all.Span = true, int(span.Seconds())
	for number, c := range charts {
		if plot, ok := newPlot(number, c, points, gap, live, in); ok {
			all.All = append(all.All, plot)
		}
	}
	if !live {
		all.Points = columns(points, gap)
	}
	return all
}

// newPlot returns a chart, false if there is nothing to be drawn.
func newPlot(number int, of chart, points []point, gap time.Duration, live bool, in *time.Location) (Plot, bool) {
	var drawn []line
	for _, line := range of.lines {
		n, most := 0, 0.0
		for _, p := range points {
			if v := p.values[line.series]; !math.IsNaN(v) {
				n, most = n+1, max(most, v)
			}
		}
		if n > 1 && most > 0 { // else there is nothing to be seen
			drawn = append(drawn, line)
		}
	}
	c := Plot{Number: number, Title: of.title, Unit: of.unit}
	if drawn == nil {
		return c, false
	}
	var series []string
	for _, line := range drawn {
		series, c.Names = append(series, fmt.Sprint(line.series, " ", line.color, " ", line.name)), append(c.Names, line.name)
	}
	c.Series = strings.Join(series, "|")
	c.Label = of.title + ", " + span(points)
	if live {
		return c, true
	}
	c.Picture = newPicture(drawn, of.unit, points, gap, in)
	const rows = 24
	for i, step := len(points)-1, 1+len(points)/rows; i >= 0; i -= step {
		row := plotRow{Time: points[i].at.In(in).Format("15:04:05")}
		for _, line := range drawn {
			row.Values = append(row.Values, value(points[i].values[line.series], of.unit))
		}
		c.Rows = append(c.Rows, row)
	}
	return c, true
}

// span returns how long the time of points is.
func span(points []point) string {
	return "the last " + page.Short(points[len(points)-1].at.Sub(points[0].at).Round(time.Second))
}

// number3 returns x for JSON, which has no NaN.
func number3(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return rounded(x)
}

// value returns a value with its unit.
func value(x float64, unit string) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case unit == "ms":
		return page.Short(time.Duration(x * float64(time.Millisecond)))
	case x >= 1000:
		return page.Count(int64(math.Round(x)))
	}
	return fmt.Sprintf("%.3g", x)
}

// columns returns points as JSON, with a hole between two that are far from each other.
func columns(points []point, gap time.Duration) string {
	all := [1 + seriesCount][]any{{}}
	add := func(x int64, values [seriesCount]float64) {
		all[0] = append(all[0], x)
		for i, v := range values {
			all[1+i] = append(all[1+i], number3(v))
		}
	}
	for i, p := range points {
		if i > 0 && p.at.Sub(points[i-1].at) > gap {
			add(points[i-1].at.Unix()+1, hole)
		}
		add(p.at.Unix(), p.values)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic("ui: " + err.Error()) // they are numbers
	}
	return string(text)
}

var hole = func() (values [seriesCount]float64) {
	for i := range values {
		values[i] = math.NaN()
	}
	return values
}()

// Newest returns the newest values of a pool, of all for 0, as JSON: the time, and the values of each series.
func (l *Look) Newest(pool int) string {
	p := l.newest
	if of := l.Pool(pool); of != nil {
		p = pointOf(l.At, []poolview.Pool{*of})
	}
	all := []any{p.at.Unix()}
	for _, v := range p.values {
		all = append(all, number3(v))
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic("ui: " + err.Error())
	}
	return string(text)
}
