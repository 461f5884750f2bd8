package debug

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// schedulesPage is the page of all schedules.
type schedulesPage struct {
	Span   string // of the timeline
	Height int
	Lanes  []lane
	Ticks  []poolview.Tick
	Rows   []scheduleRow
	More   int // schedules that are not shown
}

// lane is a line of the timeline, with a mark for each time.
type lane struct {
	Name, Path string
	Y          int // of the name
}

type scheduleRow struct {
	Path, Title  string // of the pool
	Name, Rhythm string
	State, Class string // before Next, "" if there is none
	Next, Last   string
	Bad          bool // the last run has failed
	Runs, Failed string
	LeftOut      string
}

const (
	namesWidth = 120
	lanesWidth = 600
	laneHeight = 14
	marksLimit = 120 // of a lane
)

// spans are the lengths that a timeline may have. It has the first in which most schedules
// have a time.
var spans = []struct {
	time.Duration
	name, format string
	step         time.Duration // from tick to tick
}{
	{time.Minute, "minute", "15:04:05", 10 * time.Second}, {10 * time.Minute, "10 minutes", "15:04", 2 * time.Minute},
	{time.Hour, "hour", "15:04", 10 * time.Minute}, {6 * time.Hour, "6 hours", "15:04", time.Hour},
	{24 * time.Hour, "day", "Mon 15:04", 4 * time.Hour}, {7 * 24 * time.Hour, "week", "Mon 2", 24 * time.Hour},
}

type poolSchedule struct {
	pool *poolview.Pool
	executor.ScheduleInfo
}

// newSchedulesPage returns the page of all schedules: the next due first.
func newSchedulesPage(l *poolview.Look) *schedulesPage {
	var all []poolSchedule
	for i := range l.Pools {
		for _, s := range l.Pools[i].Schedules {
			all = append(all, poolSchedule{&l.Pools[i], s})
		}
	}
	slices.SortStableFunc(all, func(a, b poolSchedule) int {
		if a.Next.IsZero() || b.Next.IsZero() {
			return cmp.Compare(b.Next.Unix(), a.Next.Unix()) // the zero Time is the last
		}
		return a.Next.Compare(b.Next)
	})
	v := &schedulesPage{}
	if len(all) > poolview.RowLimit {
		v.More = len(all) - poolview.RowLimit
		all = all[:poolview.RowLimit]
	}
	span := spans[len(spans)-1]
	for _, s := range slices.Backward(spans) {
		within := 0
		for _, p := range all {
			if !p.Next.IsZero() && p.Next.Sub(l.At) <= s.Duration/2 {
				within++
			}
		}
		if within*10 < len(all)*8 {
			break
		}
		span = s
	}
	v.Span = span.name
	v.Height = 18 + laneHeight*len(all)
	a := poolview.Axis{From: l.At, Span: span.Duration, Left: namesWidth, Width: lanesWidth}
	v.Ticks = a.Ticks(span.step, func(at time.Time) string { return at.Format(span.format) })
	for i, s := range all {
		v.Rows = append(v.Rows, s.row(l.At))
		v.Lanes = append(v.Lanes, s.lane(a, 18+laneHeight*i))
	}
	return v
}

func (s *poolSchedule) row(now time.Time) scheduleRow {
	row := scheduleRow{
		Path: poolview.Path(s.pool.Number), Title: poolview.Title(s.pool.Name, s.pool.Number),
		Name: poolview.Task(s.Name), Rhythm: page.Printable(s.Rhythm, 80),
		Next: "–", Last: "–",
		Runs: page.Count(s.Runs), Failed: page.Count(s.Failures), LeftOut: page.Count(s.LeftOut),
	}
	switch {
	case s.Paused:
		row.State, row.Class, row.Next = "paused", "held", ""
	case !s.RunningSince.IsZero():
		row.State, row.Class, row.Next = "running", "busy", "for "+page.Age(now.Sub(s.RunningSince))
	case !s.Next.IsZero():
		row.Next = page.Since(s.Next, now)
		if late := now.Sub(s.Next); late > 0 {
			row.Next = page.Short(late) + " overdue"
		}
	}
	if !s.LastStart.IsZero() {
		row.Last = fmt.Sprintf("%s, took %s", s.LastStart.Format("15:04:05"), page.Short(s.LastDuration))
		row.Bad = s.LastError != nil
	}
	return row
}

// lane returns the times of a schedule on an axis that begins now.
func (s *poolSchedule) lane(a poolview.Axis, y int) lane {
	var path strings.Builder
	before := -2
	for _, at := range s.until(a.From.Add(a.Span)) {
		if x := max(int(a.X(at)), a.Left); x > before+1 { // else it could not be seen
			fmt.Fprintf(&path, "M%d %dv%d", x, y, laneHeight-4)
			before = x
		}
	}
	name := s.Name
	if name == "" {
		name = s.Rhythm
	}
	return lane{page.Printable(name, 18), path.String(), y + laneHeight - 5}
}

// until returns the next times up to end. It asks for few times first, since a Trigger may take
// long for times that are far away.
func (s *poolSchedule) until(end time.Time) []time.Time {
	for n := 1; ; n = min(4*n, marksLimit) {
		times := s.NextN(n)
		i, _ := slices.BinarySearchFunc(times, end, time.Time.Compare)
		if i < len(times) || len(times) < n || n == marksLimit {
			return times[:i]
		}
	}
}

// ScheduleReport is the schedule of periodic work in a [Report], see [executor.ScheduleInfo]. A time that is nil is not
// known, or there is none.
type ScheduleReport struct {
	Name         string     `json:"name"`
	Rhythm       string     `json:"rhythm"` // the schedule in words
	Paused       bool       `json:"paused"`
	Next         *time.Time `json:"next,omitempty"`
	RunningSince *time.Time `json:"runningSince,omitempty"`
	LastStart    *time.Time `json:"lastStart,omitempty"`
	LastDuration float64    `json:"lastDuration"` // in seconds
	LastFailed   bool       `json:"lastFailed"`
	Runs         int64      `json:"runs"`
	Failures     int64      `json:"failures"`
	LeftOut      int64      `json:"leftOut"` // due times that were left out
}

func scheduleReports(all []executor.ScheduleInfo) (rs []ScheduleReport) {
	for _, s := range all {
		rs = append(rs, ScheduleReport{
			s.Name, s.Rhythm, s.Paused, set(s.Next), set(s.RunningSince), set(s.LastStart),
			s.LastDuration.Seconds(), s.LastError != nil, s.Runs, s.Failures, s.LeftOut,
		})
	}
	return rs
}
