package poolview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/page"
)

// Notice is something that needs attention.
type Notice struct {
	Path, Name string // where more is to be seen; "" for nowhere
	Text       string
	Weight     int // of a more urgent one it is larger
}

// problemWeight is the least weight of what is wrong. What weighs less was done by hand: a pause, or a shutdown.
const problemWeight = 15

// Problems returns how many of all are wrong, and were not done by hand.
func Problems(all []Notice) (n int) {
	for _, notice := range all {
		if notice.Weight >= problemWeight {
			n++
		}
	}
	return n
}

// ProblemsText returns how many problems there are, for the title of a page, "" if there are none.
func ProblemsText(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "1 problem"
	}
	return page.Count(n) + " problems"
}

const noticeLimit = 10

// Urgent returns the most urgent of all, and how many others there are.
func Urgent(all []Notice) []Notice {
	slices.SortStableFunc(all, func(a, b Notice) int { return cmp.Compare(b.Weight, a.Weight) })
	if n := len(all); n > noticeLimit {
		all = append(all[:noticeLimit:noticeLimit], Notice{Text: fmt.Sprintf("and %d more", n-noticeLimit)})
	}
	return all
}

// longest is how long a worker may be on one task without being noticed.
const longest = 5 * time.Second

// isLong reports whether a worker has had its task for much longer than others take.
func (p *Pool) isLong(w executor.WorkerInfo, now time.Time) bool {
	d := now.Sub(w.Since)
	return w.Active && !w.Since.IsZero() && d >= longest && (p.Run.Count < 20 || d > 4*p.Run.Quantile(0.99))
}

// Attention returns what needs attention in all pools.
func (l *Look) Attention() (all []Notice) {
	for i := range l.Pools {
		all = append(all, l.Pools[i].attention(l.At)...)
	}
	return all
}

// attention returns what needs attention in a pool, by what can be seen now and what was seen in the last minute.
func (p *Pool) attention(now time.Time) (ns []Notice) {
	add := func(weight int, format string, args ...any) {
		ns = append(ns, Notice{Path(p.Number), Title(p.Name, p.Number), fmt.Sprintf(format, args...), weight})
	}
	stuck := 0
	var first executor.WorkerInfo
	for _, w := range p.Crew {
		if p.isLong(w, now) {
			if stuck++; stuck == 1 || w.Since.Before(first.Since) {
				first = w
			}
		}
	}
	if stuck > 0 {
		task := "one task"
		if first.Task != "" {
			task = page.Printable(first.Task, 40)
		}
		others := ""
		switch {
		case stuck == 2:
			others = "; 1 more worker runs a long task"
		case stuck > 2:
			others = fmt.Sprintf("; %s more workers run long tasks", page.Count(stuck-1))
		}
		add(60, "worker %d has been running %s for at least %s%s", first.Number, task, page.Age(now.Sub(first.Since)), others)
	}
	switch {
	case p.Blocked > 0:
		add(50, "submitters waiting for room: %s", page.Count(p.Blocked))
	case p.Capacity > 0 && p.Queued >= p.Capacity:
		add(45, "the queue is full: %s wait", page.Count(p.Queued))
	case p.Workers > 0 && p.Active == p.Workers && p.Queued > 100*p.Workers && !p.Scheduled:
		add(20, "all workers are busy, %s tasks wait", page.Count(p.Queued))
	}
	if p.Recent.Rejected > 0 {
		add(40, "rejected in the last minute: %s", page.Count(p.Recent.Rejected))
	}
	if p.Recent.Panics > 0 {
		add(30, "panics in the last minute: %s", page.Count(p.Recent.Panics))
	}
	if late := p.Recent.Late.Quantile(0.99); late >= time.Second {
		add(25, "runs are up to %s late", page.Short(late))
	}
	for _, s := range p.Schedules {
		if s.LastError != nil {
			add(15, "schedule %s: its last run failed", Task(s.Name))
		}
	}
	if stage := Stage(p.Stats); stage == "paused" {
		add(10, "paused, %s tasks wait", page.Count(p.Queued))
	} else if p.Stage != executor.StageRunning {
		add(10, "%s, %s tasks left", stage, page.Count(p.Queued+p.Active))
	}
	return ns
}
