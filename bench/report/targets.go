package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/executor-go/executor/bench/round"
	"github.com/executor-go/executor/bench/subject"
)

// A Target is an upper bound for one of our values: a number, or a multiple of another
// record of the same run.
type Target struct {
	Workload string
	Limit    float64 // of our value, or of its ratio to the reference
	Subject  string  // of the reference, Ours for the subject itself; "" if Limit is a value
	Than     string  // the workload of the reference; "" for the same
}

// reference returns the record of which Limit is a multiple, for a value of the subject sub.
func (t Target) reference(sub string) round.Key {
	k := round.Key{Workload: cmp.Or(t.Than, t.Workload), Subject: t.Subject}
	if k.Subject == subject.Ours {
		k.Subject = sub
	}
	return k
}

// InTargets reports whether a target needs a record of the cell.
func InTargets(c round.Cell) bool {
	own := subject.Reference(c.Workload.Kind)
	for _, o := range c.Workload.Outputs {
		for _, t := range Targets() {
			if t.Workload == o.ID && (c.Subject.ID == own || c.Subject.Of == own) ||
				t.reference(own) == (round.Key{Workload: o.ID, Subject: c.Subject.ID}) {
				return true
			}
		}
	}
	return false
}

// Targets returns the targets.
func Targets() []Target {
	return []Target{
		{"execute/2", 0.7, "pond", ""}, {"execute/2", 1.4, "channel", ""},
		{"execute/8", 0.7, "pond", ""}, {"execute/8", 1.4, "channel", ""},
		{"submit-batch", 0.85, "jdk", ""}, {"submit-batch", 0.4, "pond", ""},
		{"submit-pingpong", 0.5, "pond", ""},
		{"schedule-zero", 0.4, "jdk", ""},
		{"schedule-random", 0.45, "jdk", ""},
		{"schedule-cancel", 0.7, "afterfunc", ""}, {"schedule-cancel", 1.1, "jdk", ""},
		{"cancel-random", 1, "jdk", ""},
		{"fire/1m", 0.2, "jdk", ""},
		{"pending-bytes", 90, "", ""},
		{"lateness-idle-p50", 1, "jdk", ""}, {"lateness-idle-p99", 1, "jdk", ""},
		{"lateness-busy-p99", 0.6, "afterfunc", ""},
		{"schedule-cancel/10m", 2, subject.Ours, "schedule-cancel/1k"},
		{"pending-rss/10m", 1100, "", ""},
		{"idle-wakeups", 1.3, "goroutine", ""}, {"idle-cpu", 1.3, "goroutine", ""},
		{"fan-out/8", 0.9, "errgroup", ""}, {"fan-out/64", 0.7, "errgroup", ""},
		{"fan-out-10us/8", 1.2, "errgroup", ""}, {"fan-out-10us/64", 1.05, "errgroup", ""},
		{"fan-out/8", 0.5, "pond", ""}, {"fan-out/64", 0.5, "pond", ""},
		{"map", 0.35, "conc", ""}, {"map", 1.4, "channel", ""},
		{"share", 0.9, "pond", ""}, {"keyed", 2.2, "channel", ""}, {"retry", 0.9, "goroutine", ""},
		{"submit-context", 0.5, "pond", ""},
		{"start-end", 0.7, "pond", ""},
		{"wait-p50", 1.1, "channel", ""}, {"wait-p99", 1.1, "channel", ""}, {"wait-p999", 1.1, "channel", ""},
		{"wait-p99", 0.5, "ants", ""},
		{"schedules-cpu/10k", 1.1, "goroutine", ""},
		{"schedules-p99/1k", 300, "", ""}, {"schedules-p99/10k", 1000, "", ""},
		{"allocs-execute", 0.01, "", ""}, {"allocs-schedule-cancel", 1.01, "", ""}, {"allocs-submit", 2.01, "", ""},
		{"durable-throughput", 50, "", ""}, {"durable-throughput", 1, "river", ""},
		{"durable-lateness-local-p50", 0.8, "", ""}, {"durable-lateness-local-p99", 3, "", ""},
		{"durable-idle-statements", 2, "", ""},
		{"durable-periodic/10k", 500, "", ""},
		{"growth-insert/1m", 1.25, subject.Ours, "growth-insert/1k"},
		{"growth-claim/1m", 1.25, subject.Ours, "growth-claim/1k"},
		{"growth-settle/1m", 1.25, subject.Ours, "growth-settle/1k"},
		{"growth-look/1m", 1.25, subject.Ours, "growth-look/1k"},
	}
}

// reasons says of each family of workloads, named by what the workloads begin with, why its targets may be missed.
var reasons = []struct{ family, why string }{
	{"execute", "a pool counts, orders and can refuse each task; between the pool and its engine there is an interface, " +
		"which costs some 10 ns a task more than one machine did"},
	{"allocs-execute", "the objects of tasks are used again; while tasks come faster than they run, there are new ones"},
	{"submit-", "a result is a Future: others may wait for it with a context, cancel it and be called at its end, so " +
		"that its task has a lock, which is taken three times"},
	{"schedule", "tasks wait in one heap under one lock, and keep the order of submission among equal times; the runtime " +
		"has a heap for each processor and no such order"},
	{"cancel-random", "a canceled task is found in its queue and counted under the lock of its pool, and lets go of what it refers to at once; " +
		"the runtime marks a timer"},
	{"fire", "tasks wait in one heap under one lock"},
	{"fan-out", "each task of a group is admitted, counted and ended as a task of the pool, by 100 calls; a group of " +
		"goroutines has none of that, and a worker that slept has to be woken"},
	{"map", "each chunk is a task of the pool, and the caller runs what nobody has begun"},
	{"keyed", "a worker never waits for a key: a task whose key is in use waits in a queue of its own, which others " +
		"overtake; in the channel's pool the worker waits for a mutex and does nothing else"},
	{"retry", "between two attempts a task has a place in its pool, and no goroutine"},
	{"wait", "a task that finds no idle worker waits in a queue that can be canceled, watched and listed"},
	{"schedules", "each run is a task of a pool: a worker takes it, counts it and finds the next time; " +
		"a ticker sends to the channel of a goroutine that waits"},
	{"durable", "each job is claimed, run and committed by its own row, with its history, and each commit is on disk"},
}

// why returns why the targets of the workload may be missed, "" if there is nothing to say.
func why(id string) string {
	found := ""
	longest := -1
	for _, r := range reasons {
		if strings.HasPrefix(id, r.family) && len(r.family) > longest {
			found, longest = r.why, len(r.family)
		}
	}
	return found
}

// A Verdict is the result of a target.
type Verdict struct {
	Target
	Known bool    // the records exist
	Found float64 // the value or ratio that Limit bounds
}

// Reached reports whether the target is reached.
func (v Verdict) Reached() bool { return v.Known && v.Found <= v.Limit }

// Missed returns by how much the target is missed: 0.25 is a quarter too much.
func (v Verdict) Missed() float64 { return v.Found/v.Limit - 1 }

// Verdicts compares the report with the targets.
func (r *Report) Verdicts() []Verdict {
	var vs []Verdict
	for _, t := range Targets() {
		vs = append(vs, r.verdict(t, reference(t.Workload)))
	}
	return vs
}

// verdict compares the records of a subject with a target.
func (r *Report) verdict(t Target, sub string) Verdict {
	v := Verdict{Target: t}
	v.Found, v.Known = r.Value(t.Workload, sub)
	if t.Subject != "" {
		ref := t.reference(sub)
		value, ok := r.Value(ref.Workload, ref.Subject)
		v.Known = v.Known && ok && value > 0
		if v.Known {
			v.Found /= value
		}
	}
	return v
}

// bound returns the target as text.
func (t Target) bound() string {
	switch {
	case t.Subject == "":
		return "at most " + number(t.Limit)
	case t.Than != "":
		return fmt.Sprintf("at most %g × our own %s", t.Limit, t.Than)
	}
	return fmt.Sprintf("at most %g × %s", t.Limit, title(t.Subject))
}

// outcome returns the result as text.
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
