package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// notice is something that needs attention.
type notice struct {
	Path, Name string // where more is to be seen
	Text       string
	weight     int
}

const noticeLimit = 10

// notices returns the most urgent of all, and how many others there are.
func notices(all []notice) []notice {
	slices.SortStableFunc(all, func(a, b notice) int { return cmp.Compare(b.weight, a.weight) })
	if n := len(all); n > noticeLimit {
		all = append(all[:noticeLimit:noticeLimit], notice{Text: fmt.Sprintf("and %d more", n-noticeLimit)})
	}
	return all
}

// longest is how long a worker may be on one task without being noticed.
const longest = 5 * time.Second

// isLong reports whether a worker has had its task for much longer than others take.
func (p *poolLook) isLong(w executor.WorkerInfo, now time.Time) bool {
	d := now.Sub(w.Since)
	return w.Active && !w.Since.IsZero() && d >= longest && (p.Run.Count < 20 || d > 4*p.Run.Quantile(0.99))
}

// attention returns what needs attention in a pool, by what can be seen now and what was seen in the last minute.
func (p *poolLook) attention(now time.Time) (ns []notice) {
	add := func(weight int, format string, args ...any) {
		ns = append(ns, notice{poolPath(p.number), title(p.Name, p.number), fmt.Sprintf(format, args...), weight})
	}
	stuck := 0
	var first executor.WorkerInfo
	for _, w := range p.workers {
		if p.isLong(w, now) {
			if stuck++; stuck == 1 || w.Since.Before(first.Since) {
				first = w
			}
		}
	}
	if stuck > 0 {
		text := fmt.Sprintf("worker %d is on one task", first.Number)
		if first.Task != "" {
			text = fmt.Sprintf("worker %d is on %s", first.Number, printable(first.Task, 40))
		}
		if stuck > 1 {
			text += fmt.Sprintf(", and %d others are on theirs,", stuck-1)
		}
		add(60, "%s for %s at least", text, age(now.Sub(first.Since)))
	}
	r := &p.recent
	switch {
	case p.Blocked > 0:
		add(50, "submitters that wait for room: %s", count(p.Blocked))
	case p.Capacity > 0 && p.Queued >= p.Capacity:
		add(45, "the queue is full: %s wait", count(p.Queued))
	case p.Workers > 0 && p.Active == p.Workers && p.Queued > 100*p.Workers && !p.Scheduled:
		add(20, "all workers are busy, %s tasks wait", count(p.Queued))
	}
	if r.rejected > 0 {
		add(40, "rejected lately: %s", count(r.rejected))
	}
	if r.panics > 0 {
		add(30, "panics lately: %s", count(r.panics))
	}
	if late := r.late.Quantile(0.99); late >= time.Second {
		add(25, "runs are up to %s late", short(late))
	}
	for _, s := range p.schedules {
		if s.LastError != nil {
			add(15, "schedule %s: its last run failed", task(s.Name))
		}
	}
	if p.Stage != executor.StageRunning {
		add(10, "%s, %s tasks left", p.Stage, count(p.Queued+p.Active))
	}
	return ns
}

func poolPath(number int) string { return "pool?id=" + strconv.Itoa(number) }

// overdue is how long a job may wait past its time without being noticed.
const overdue = 30 * time.Second

// countsAttention returns what needs attention by the counts of a source.
func countsAttention(s *source, counts []durable.Count, now time.Time) (ns []notice) {
	add := func(weight int, v view, kind, format string, args ...any) {
		if v.source = s.Name; v.name == "" {
			v.name, v.kind = "jobs", kind
		}
		name := printable(kind, 60)
		if s.Name != "" {
			name = printable(s.Name, 40) + ", " + name
		}
		ns = append(ns, notice{v.link(), name, fmt.Sprintf(format, args...), weight})
	}
	for _, c := range counts {
		switch late := now.Sub(c.Due); {
		case c.State == durable.Dead:
			add(70, view{name: "dead"}, c.Kind, "dead jobs: %s", count(c.Jobs))
		case c.State == durable.Waiting && !c.Due.IsZero() && late > overdue:
			add(55, view{state: "waiting"}, c.Kind, "a job waits since %s, past its time", age(late))
		}
	}
	return ns
}
