package report

import (
	"fmt"
	"io"
	"slices"
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
	sizes         bool // a column for each size, with the ratio to the first of the same subject
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
		workload.DurableThroughput, workload.DurableAdd, workload.DurableLateness, workload.DurableIdle,
		workload.DurablePeriodic,
	}},
	{title: "Growth of a database", otherSubjects: true, sizes: true, kinds: []workload.Kind{workload.DurableGrowth}},
	{title: "One job at a time", otherSubjects: true, sizes: true, kinds: []workload.Kind{workload.DurableSteps}},
}

// A table is the records of a family, with a column for each subject, or for each size.
type table struct {
	title   string
	columns []column
	rows    []row
}

// A column is named by its id in plain text, and by its title on the page.
type column struct{ id, title string }

type row struct {
	id, unit string
	growth   bool
	cells    []string
}

// tables returns the report as text.
func (r *Report) tables() []table {
	var ts []table
	for _, f := range families {
		t := r.bySubject(f)
		if f.sizes {
			t = r.bySize(f)
		}
		if len(t.rows) > 0 {
			ts = append(ts, t)
		}
	}
	return ts
}

// subjects returns the subjects that have records of the family.
func (r *Report) subjects(f family) (with []string) {
	for _, s := range subject.All() {
		for _, o := range f.outputs() {
			if _, ok := r.Value(o.ID, s.ID); ok {
				with = append(with, s.ID)
				break
			}
		}
	}
	return with
}

// bySubject returns a table with a column for each subject. Each value of a rival has its ratio to ours.
func (r *Report) bySubject(f family) table {
	t := table{title: f.title}
	subjects := r.subjects(f)
	for _, s := range subjects {
		t.columns = append(t.columns, column{s, title(s)})
	}
	for _, o := range f.outputs() {
		line := row{id: o.ID, unit: o.Unit, growth: o.growth}
		empty := true
		for _, s := range subjects {
			cell := r.cell(o.ID, s)
			line.cells = append(line.cells, cell)
			empty = empty && cell == ""
		}
		if !empty {
			t.rows = append(t.rows, line)
		}
	}
	return t
}

// bySize returns a table with a column for each size of each subject.
func (r *Report) bySize(f family) table {
	t := table{title: f.title}
	subjects := r.subjects(f)
	var sizes []string
	units := map[string]string{}
	var names []string
	for _, o := range f.outputs() {
		name, size, _ := strings.Cut(o.ID, "/")
		if units[name] == "" {
			units[name], names = o.Unit, append(names, name)
		}
		if !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	for _, s := range subjects {
		for _, size := range sizes {
			t.columns = append(t.columns, column{s + "/" + size, title(s) + ", " + size})
		}
	}
	for _, name := range names {
		line := row{id: name, unit: units[name]}
		empty := true
		for _, s := range subjects {
			for k, size := range sizes {
				text := r.value(name+"/"+size, s)
				first, ok := r.Value(name+"/"+sizes[0], s)
				if v, known := r.Value(name+"/"+size, s); k > 0 && ok && known && first > 0 {
					text += fmt.Sprintf(" (%s)", times(v/first))
				}
				line.cells = append(line.cells, text)
				empty = empty && text == ""
			}
		}
		if !empty {
			t.rows = append(t.rows, line)
		}
	}
	return t
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

// value returns the value of a record as text, "" if there is none.
func (r *Report) value(workload, sub string) string {
	rec, ok := r.find(workload, sub)
	if !ok {
		return ""
	}
	text := number(rec.Value)
	if s := Spread(rec.Samples); s > wide {
		text += fmt.Sprintf(" ±%.0f %%", 100*s)
	}
	return text
}

// cell returns the value of a record as text, with its ratio to ours.
func (r *Report) cell(workload, sub string) string {
	text := r.value(workload, sub)
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
		fmt.Fprint(w, "\tunit\t")
		for _, c := range t.columns {
			fmt.Fprintf(w, "%s\t", c.id)
		}
		fmt.Fprintln(w)
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
