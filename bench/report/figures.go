package report

import (
	"fmt"
	"strconv"

	"github.com/executor-go/executor/bench/chart"
	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// styles are the colors and marks of the subjects, in all charts. The colors have a medium
// lightness, to be visible on white and on black.
var styles = map[string]chart.Style{
	"executor":    {Color: "#2f81f7", Shape: chart.Disc, Bold: true},
	"jdk":         {Color: "#d1711f", Shape: chart.Square},
	"goroutine":   {Color: "#7d8590", Shape: chart.Triangle},
	"channel":     {Color: "#2da44e", Shape: chart.Diamond},
	"errgroup":    {Color: "#a475f9", Shape: chart.Cross},
	"conc":        {Color: "#d4539a", Shape: chart.Square},
	"pond":        {Color: "#e5534b", Shape: chart.Triangle},
	"ants":        {Color: "#b08800", Shape: chart.Cross},
	"workerpool":  {Color: "#1b9aaa", Shape: chart.Disc},
	"afterfunc":   {Color: "#2da44e", Shape: chart.Triangle},
	"timingwheel": {Color: "#e5534b", Shape: chart.Diamond},
	"gocron":      {Color: "#a475f9", Shape: chart.Square},
	"cron":        {Color: "#b08800", Shape: chart.Cross},
}

// Charts returns the charts by file name.
func (r *Report) Charts() map[string][]byte {
	return map[string][]byte{
		"overview.svg": r.overview(),
		"ratios.svg":   r.ratios(),
		"execute.svg":  r.executeChart(),
		"pending.svg":  r.pendingChart(),
		"lateness.svg": r.latenessChart(),
		"everyday.svg": r.everydayChart(),
	}
}

func (r *Report) ratios() []byte {
	var ids []string
	for _, f := range families {
		if f.otherSubjects {
			continue
		}
		for _, o := range f.outputs() {
			if _, ok := r.ratio(o.ID, subject.Ours); ok && !o.growth && o.Unit != "MB" {
				ids = append(ids, o.ID)
			}
		}
	}
	var all []chart.Series
	for _, s := range subject.All() {
		one := chart.Series{Name: s.Title, Style: styles[s.ID]}
		any := false
		for _, id := range ids {
			v, ok := r.ratio(id, s.ID)
			one.Values = append(one.Values, v)
			any = any || ok
		}
		if any {
			all = append(all, one)
		}
	}
	const below = "left of 1 ×: better than executor; right of it: a multiple of its cost"
	return chart.Ratios("Cost relative to executor", below, ids, all)
}

// over returns a panel of records, one for each tick.
func (r *Report) over(title, x string, ticks, ids []string) chart.Panel {
	p := chart.Panel{Title: title, X: x, Ticks: ticks}
	for _, s := range subject.All() {
		one := chart.Series{Name: s.Title, Style: styles[s.ID]}
		points := 0
		for _, id := range ids {
			v, ok := r.Value(id, s.ID)
			one.Values = append(one.Values, v)
			if ok {
				points++
			}
		}
		if points > 1 {
			p.Series = append(p.Series, one)
		}
	}
	return p
}

func (r *Report) executeChart() []byte {
	var ticks, ids []string
	for _, n := range workload.Workers {
		ticks = append(ticks, strconv.Itoa(n))
		ids = append(ids, fmt.Sprintf("execute/%d", n))
	}
	var subTicks []string
	subIDs := []string{"execute/8"}
	for _, n := range workload.Submitters {
		subTicks = append(subTicks, strconv.Itoa(n))
		if n > 1 {
			subIDs = append(subIDs, fmt.Sprintf("execute-submitters/%d", n))
		}
	}
	return chart.Lines("Tiny tasks", []chart.Panel{
		r.over("ns a task, one submitter", "workers", ticks, ids),
		r.over("ns a task, 8 workers", "submitters", subTicks, subIDs),
	})
}

func (r *Report) pendingChart() []byte {
	var ticks, cancel, fire, bytes []string
	for _, n := range workload.Sizes {
		short := workload.Short(n)
		ticks = append(ticks, short)
		cancel = append(cancel, sized("schedule-cancel", short))
		fire = append(fire, "fire/"+short)
		bytes = append(bytes, sized("pending-bytes", short))
	}
	return chart.Lines("Cost as the number of pending tasks grows", []chart.Panel{
		r.over("schedule and cancel, ns a pair", "pending", ticks, cancel),
		r.over("come due together, ns a task", "pending", ticks, fire),
		r.over("memory, bytes a task", "pending", ticks, bytes),
	})
}

// sized returns the name of the record of a workload at a size. The size of a million has
// no suffix.
func sized(name, size string) string {
	if size == "1m" {
		return name
	}
	return name + "/" + size
}

func (r *Report) latenessChart() []byte {
	var ticks, p50, p99 []string
	for _, b := range workload.PeriodicTasks {
		short := workload.Short(b.Tasks)
		ticks = append(ticks, fmt.Sprintf("%s @ %v", short, b.Period))
		p50 = append(p50, "lateness-tasks-p50/"+short)
		p99 = append(p99, "lateness-tasks-p99/"+short)
	}
	return chart.Lines("Lateness of periodic tasks in an idle process", []chart.Panel{
		r.over("median, µs", "tasks @ period", ticks, p50),
		r.over("99th percentile, µs", "tasks @ period", ticks, p99),
	})
}

// everydayChart has a panel for each kind of everyday work.
func (r *Report) everydayChart() []byte {
	var panels []chart.Panel
	for _, l := range workload.Lines {
		var ticks []string
		for _, n := range l.Sizes {
			ticks = append(ticks, workload.Short(n))
		}
		panels = append(panels, r.over(l.Title, l.X, ticks, l.IDs()))
	}
	return chart.Lines("Everyday work", panels)
}
