package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// A family is the kinds of work of one table.
type family struct {
	title         string
	kinds         []workload.Kind
	otherSubjects bool // not in the chart of ratios, because its subjects are others
}

var families = []family{
	{title: "Pools", kinds: []workload.Kind{workload.Execute, workload.SubmitBatch, workload.SubmitPingpong}},
	{title: "Everyday work", kinds: []workload.Kind{
		workload.FanOut, workload.Map, workload.Share, workload.Keyed, workload.Retry, workload.SubmitContext,
		workload.StartEnd, workload.Wait,
	}},
	{title: "Schedules", kinds: []workload.Kind{
		workload.ScheduleZero, workload.ScheduleRandom, workload.ScheduleCancel, workload.CancelRandom,
		workload.Pending, workload.Fire, workload.Lateness, workload.Idle,
	}},
	{title: "With an Observer", otherSubjects: true, kinds: []workload.Kind{workload.Observed}},
	{title: "Jobs in a database", otherSubjects: true, kinds: []workload.Kind{
		workload.DurableThroughput, workload.DurableLateness, workload.DurableIdle, workload.DurablePeriodic,
	}},
}

// A table is the records of a family, with a column for each subject.
type table struct {
	title    string
	subjects []string
	rows     []row
}

type row struct {
	id, unit string
	growth   bool
	cells    []string
}

// tables returns the report as text. Each value of a rival has its ratio to ours.
func (r *Report) tables() []table {
	var ts []table
	for _, f := range families {
		t := table{title: f.title}
		for _, s := range subject.All() {
			for _, o := range f.outputs() {
				if _, ok := r.Value(o.ID, s.ID); ok {
					t.subjects = append(t.subjects, s.ID)
					break
				}
			}
		}
		for _, o := range f.outputs() {
			line := row{id: o.ID, unit: o.Unit, growth: o.growth}
			empty := true
			for _, s := range t.subjects {
				cell := r.cell(o.ID, s)
				line.cells = append(line.cells, cell)
				empty = empty && cell == ""
			}
			if !empty {
				t.rows = append(t.rows, line)
			}
		}
		if len(t.rows) > 0 {
			ts = append(ts, t)
		}
	}
	return ts
}

type output struct {
	workload.Output
	growth bool
}

// outputs returns the outputs of the workloads of a family.
func (f family) outputs() []output {
	var os []output
	for _, w := range workload.All() {
		for _, k := range f.kinds {
			if w.Kind == k {
				for _, o := range w.Outputs {
					os = append(os, output{o, w.Growth})
				}
			}
		}
	}
	return os
}

func (r *Report) cell(workload, sub string) string {
	rec, ok := r.find(workload, sub)
	if !ok {
		return ""
	}
	text := number(rec.Value)
	if s := Spread(rec.Samples); s > wide {
		text += fmt.Sprintf(" ±%.0f %%", 100*s)
	}
	if ratio, ok := r.ratio(workload, sub); ok && sub != reference(workload) {
		text += fmt.Sprintf(" (%s)", times(ratio))
	}
	return text
}

// wide is the spread above which it is shown with a value.
const wide = 0.10

// number returns a value as text with about three digits, and commas.
func number(v float64) string {
	switch {
	case v >= 100:
		return workload.Grouped(int(v + .5))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v == 0:
		return "0"
	}
	s := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// times returns a ratio as text.
func times(ratio float64) string {
	if ratio >= 10 {
		return workload.Grouped(int(ratio+.5)) + "×"
	}
	return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
}

// Print writes the tables and the results of the targets as plain text.
func (r *Report) Print(out io.Writer) {
	for _, t := range r.tables() {
		fmt.Fprintf(out, "\n%s: median of %d, and the ratio to ours\n", t.title, r.Rounds)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "\tunit\t%s\t\n", strings.Join(t.subjects, "\t"))
		for _, line := range t.rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t\n", line.id, line.unit, strings.Join(line.cells, "\t"))
		}
		w.Flush()
	}
	fmt.Fprintf(out, "\nTargets\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range r.Verdicts() {
		if !v.Known {
			continue
		}
		before := ""
		if b := r.verdict(v.Target, subject.Before(reference(v.Workload))); b.Known {
			before = "before " + number(b.Found)
		}
		fmt.Fprintf(w, "%s\t%s\tis %s\t%s\t%s\n", v.Workload, v.bound(), number(v.Found), before, v.outcome())
	}
	w.Flush()
	for _, f := range r.Failed {
		fmt.Fprintln(out, "failed:", f)
	}
}
