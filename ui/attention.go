package ui

import (
	"fmt"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/internal/page"
	"github.com/executor-go/executor/internal/poolview"
)

// overdue is how long a job may wait past its time without being noticed.
const overdue = 30 * time.Second

// countsAttention returns what needs attention by the counts of a source.
func countsAttention(s *source, counts []durable.Count, now time.Time) (ns []poolview.Notice) {
	add := func(weight int, v view, kind, format string, args ...any) {
		if v.source = s.Name; v.name == "" {
			v.name, v.kind = "jobs", kind
		}
		name := page.Printable(kind, 60)
		if s.Name != "" {
			name = page.Printable(s.Name, 40) + ", " + name
		}
		ns = append(ns, poolview.Notice{Path: v.link(), Name: name, Text: fmt.Sprintf(format, args...), Weight: weight})
	}
	for _, c := range counts {
		switch late := now.Sub(c.Due); {
		case c.State == durable.Dead:
			add(70, view{name: "dead"}, c.Kind, "dead jobs: %s", page.Count(c.Jobs))
		case c.State == durable.Waiting && !c.Due.IsZero() && late > overdue:
			add(55, view{state: "waiting"}, c.Kind, "a job waits since %s, past its time", page.Age(late))
		}
	}
	return ns
}
