package report

import (
	"fmt"

	"github.com/executor-go/executor/bench/subject"
)

// Target is a bound for one of our numbers: a number, or a multiple of another
// record of the same run.
type Target struct {
	Workload string
	Most     float64 // of our value, or of its ratio to the reference
	Subject  string  // the reference; "" if Most is a value
	Than     string  // the workload of the reference; "" for the same
}

// Targets are what we want to reach.
func Targets() []Target {
	return []Target{
		{"execute/2", 0.7, "pond", ""}, {"execute/2", 1.4, "channel", ""},
		{"execute/8", 0.7, "pond", ""}, {"execute/8", 1.4, "channel", ""},
		{"submit-batch", 0.7, "jdk", ""}, {"submit-batch", 0.4, "pond", ""},
		{"submit-pingpong", 0.5, "pond", ""},
		{"schedule-zero", 0.3, "jdk", ""},
		{"schedule-random", 0.35, "jdk", ""}, {"schedule-random", 1, "timingwheel", ""},
		{"schedule-cancel", 0.7, "jdk", ""}, {"schedule-cancel", 0.7, "timingwheel", ""}, {"schedule-cancel", 0.7, "afterfunc", ""},
		{"schedule-cancel-contended", 1, "afterfunc", ""},
		{"cancel-random", 0.25, "jdk", ""}, {"cancel-random", 0.8, "afterfunc", ""},
		{"pending-bytes", 110, "", ""},
		{"lateness-idle-p50", 1, "jdk", ""}, {"lateness-idle-p99", 1, "jdk", ""},
		{"lateness-busy-p99", 0.6, "afterfunc", ""},
		{"schedule-cancel/10m", 2, subject.Ours, "schedule-cancel/1k"},
		{"pending-rss/10m", 1100, "", ""},
		{"idle-wakeups", 1.3, "goroutine", ""}, {"idle-cpu", 1.3, "goroutine", ""},
		{"allocs-execute", 0.01, "", ""}, {"allocs-schedule-cancel", 1.01, "", ""}, {"allocs-submit", 2.01, "", ""},
		{"durable-throughput", 50, "", ""}, {"durable-throughput", 1, "river", ""},
		{"durable-lateness-local-p50", 0.8, "", ""}, {"durable-lateness-local-p99", 3, "", ""},
		{"durable-idle-statements", 2, "", ""},
	}
}

// Verdict is a target with what became of it.
type Verdict struct {
	Target
	Known bool    // the numbers are there
	Found float64 // to be compared with Most
}

// Reached reports whether the number is within its bound.
func (v Verdict) Reached() bool { return v.Known && v.Found <= v.Most }

// Missed is by how much: 0.25 is a quarter too much.
func (v Verdict) Missed() float64 { return v.Found/v.Most - 1 }

// Verdicts holds the report against the targets.
func (r *Report) Verdicts() []Verdict {
	var vs []Verdict
	for _, t := range Targets() {
		v := Verdict{Target: t}
		v.Found, v.Known = r.Value(t.Workload, reference(t.Workload))
		if t.Subject != "" {
			than := t.Than
			if than == "" {
				than = t.Workload
			}
			reference, ok := r.Value(than, t.Subject)
			v.Known = v.Known && ok && reference > 0
			if v.Known {
				v.Found /= reference
			}
		}
		vs = append(vs, v)
	}
	return vs
}

// bound says what the target is.
func (t Target) bound() string {
	switch {
	case t.Subject == "":
		return "at most " + number(t.Most)
	case t.Than != "":
		return fmt.Sprintf("at most %g × our own %s", t.Most, t.Than)
	}
	return fmt.Sprintf("at most %g × %s", t.Most, title(t.Subject))
}

// outcome says what became of it.
func (v Verdict) outcome() string {
	switch {
	case !v.Known:
		return "not measured"
	case v.Reached():
		return "reached"
	}
	return fmt.Sprintf("missed by %.0f %%", max(100*v.Missed(), 1))
}

func title(id string) string {
	s, _ := subject.Find(id)
	return s.Title
}
