package workload

import (
	"fmt"
	"slices"
	"time"
)

// All returns every workload, in the order of the documentation.
func All() []Workload {
	return slices.Concat(main(), everyday(), growth(), durable())
}

const million = 1_000_000

// main returns the workloads of the tables.
func main() []Workload {
	return []Workload{
		execute(2, 1, false),
		execute(8, 1, false),
		{
			Name: "submit-batch", Kind: SubmitBatch,
			Description: "One goroutine submits 1 M tasks to 2 workers, and then gets the result of each, in order. " +
				"Each task returns a number; the sum is checked.",
			Params:  Params{Tasks: million, Workers: 2},
			Quick:   Params{Tasks: million / 10, Workers: 2},
			Outputs: []Output{{"submit-batch", "ns", "ns/task"}, {"allocs-submit", "allocs", "allocations/task"}},
		},
		{
			Name: "submit-pingpong", Kind: SubmitPingpong,
			Description: "One goroutine submits a task to 2 workers and waits for its result, 100,000 times.",
			Params:      Params{Tasks: million / 10, Workers: 2},
			Quick:       Params{Tasks: million / 50, Workers: 2},
			Outputs:     []Output{{"submit-pingpong", "ns", "ns/task"}},
		},
		{
			Name: "schedule-zero", Kind: ScheduleZero,
			Description: "One goroutine schedules 1 M tasks with zero delay on 2 workers. The time until all have run.",
			Params:      Params{Tasks: million, Workers: 2},
			Quick:       Params{Tasks: million / 10, Workers: 2},
			Outputs:     []Output{{"schedule-zero", "ns", "ns/task"}},
		},
		{
			Name: "schedule-random", Kind: ScheduleRandom,
			Description: "One goroutine schedules 500,000 tasks with random delays below 50 ms on 2 workers. " +
				"The time until all have run.",
			Params:  Params{Tasks: million / 2, Workers: 2, Period: 50 * time.Millisecond},
			Quick:   Params{Tasks: million / 10, Workers: 2, Period: 50 * time.Millisecond},
			Outputs: []Output{{"schedule-random", "ns", "ns/task"}},
		},
		scheduleCancel("schedule-cancel", million, 1, false),
		scheduleCancel("schedule-cancel-contended", million, 4, false),
		{
			Name: "cancel-random", Kind: CancelRandom,
			Description: "1 M tasks are due at random times, one to two hours from now. " +
				"One goroutine cancels all of them in random order.",
			Params:  Params{Pending: million, Workers: 2},
			Quick:   Params{Pending: million / 10, Workers: 2},
			Outputs: []Output{{"cancel-random", "ns", "ns/cancel"}},
		},
		pending("", million, false),
		lateness("lateness-idle", "an idle process", 100, 10*time.Millisecond, 4*time.Second, false),
		lateness("lateness-busy", "a process in which other goroutines (in Java: threads) saturate all cores",
			100, 10*time.Millisecond, 4*time.Second, true),
		{
			Name: "idle-wakeups", Kind: Idle,
			Description: "1,000 tasks are due in an hour or later. " +
				"How often the kernel wakes a thread of the process in ten seconds, and the CPU time of the process. " +
				"The column of bare goroutines is a process without tasks: the cost of the program itself.",
			Params:  Params{Pending: 1000, Workers: 2, Length: 10 * time.Second},
			Quick:   Params{Pending: 1000, Workers: 2, Length: time.Second},
			Outputs: []Output{{"idle-wakeups", "wakeups", "wake-ups"}, {"idle-cpu", "cpu", "ms"}},
		},
	}
}

// Sizes are the numbers of pending tasks in the charts.
var Sizes = []int{1_000, 10_000, 100_000, million, 10 * million}

// Workers are the pool sizes in the charts.
var Workers = []int{1, 2, 4, 8, 16}

// Submitters are the numbers of submitters in the charts.
var Submitters = []int{1, 4, 16}

// PeriodicTasks are the numbers of periodic tasks in the charts, with their periods. The
// rate of runs grows with the number, up to what two cores can do.
var PeriodicTasks = []struct {
	Tasks  int
	Period time.Duration
}{
	{10, 10 * time.Millisecond},
	{1_000, 100 * time.Millisecond},
	{100_000, 2 * time.Second},
}

// growth returns the points of the charts that are not in the tables.
func growth() []Workload {
	var ws []Workload
	for _, n := range []int{1, 4, 16} {
		ws = append(ws, execute(n, 1, true))
	}
	for _, n := range Submitters[1:] {
		ws = append(ws, execute(8, n, true))
	}
	for _, n := range Sizes {
		if n != million {
			ws = append(ws, scheduleCancel("schedule-cancel/"+Short(n), n, 1, true), pending("/"+Short(n), n, true))
		}
		ws = append(ws, fire(n))
	}
	for _, b := range PeriodicTasks {
		name := "lateness-tasks/" + Short(b.Tasks)
		ws = append(ws, lateness(name, "an idle process", b.Tasks, b.Period, 4*time.Second, false))
	}
	return ws
}

func execute(workers, submitters int, growth bool) Workload {
	w := Workload{
		Name: fmt.Sprintf("execute/%d", workers), Kind: Execute, Growth: growth,
		Description: fmt.Sprintf("%s submits tasks to a pool of size %d, 1 M in all. "+
			"Each task adds one to a shared atomic counter. "+
			"The time until all have run.", count(submitters, "goroutine"), workers),
		Params: Params{Tasks: million, Workers: workers, Submitters: submitters},
		Quick:  Params{Tasks: million / 10, Workers: workers, Submitters: submitters},
	}
	if submitters > 1 {
		w.Name = fmt.Sprintf("execute-submitters/%d", submitters)
	}
	w.Outputs = []Output{{w.Name, "ns", "ns/task"}}
	if w.Name == "execute/2" {
		w.Outputs = append(w.Outputs, Output{"allocs-execute", "allocs", "allocations/task"})
	}
	return w
}

func scheduleCancel(name string, pending, submitters int, growth bool) Workload {
	w := Workload{
		Name: name, Kind: ScheduleCancel, Growth: growth,
		Description: fmt.Sprintf("%s tasks are due at random times, one to two hours from now. "+
			"%s schedules one more and cancels it at once, 1 M times in all, after as many that are not measured.",
			Grouped(pending), count(submitters, "goroutine")),
		Params:  Params{Tasks: million, Pending: pending, Submitters: submitters, Workers: 2},
		Quick:   Params{Tasks: million / 10, Pending: min(pending, million/10), Submitters: submitters, Workers: 2},
		Outputs: []Output{{name, "ns", "ns/pair"}},
	}
	if pending > million {
		w.Quick = Params{}
	}
	if name == "schedule-cancel" {
		w.Outputs = append(w.Outputs, Output{"allocs-schedule-cancel", "allocs", "allocations/pair"})
	}
	return w
}

func pending(suffix string, n int, growth bool) Workload {
	w := Workload{
		Name: "pending-bytes" + suffix, Kind: Pending, Growth: growth,
		Description: fmt.Sprintf("%s tasks are due at random times, one to two hours from now. "+
			"Nothing else refers to them. "+
			"The size of the heap for each after a collection, and the memory of the process at the end and at most.",
			Grouped(n)),
		Params:  Params{Pending: n, Workers: 2},
		Quick:   Params{Pending: min(n, million/10), Workers: 2},
		Outputs: []Output{{"pending-bytes" + suffix, "bytes", "bytes/task"}},
	}
	if n >= million {
		w.Outputs = append(w.Outputs,
			Output{"pending-rss" + suffix, "rss", "MB"}, Output{"pending-peak" + suffix, "peak", "MB"})
	}
	if n > million {
		w.Quick = Params{}
	}
	return w
}

// omission returns why some subjects omit fire.
func omission(n int) string {
	if n <= million {
		return ""
	}
	return " Subjects that start a goroutine for each task omit it: so many goroutines need tens of gigabytes."
}

func fire(n int) Workload {
	w := Workload{
		Name: "fire/" + Short(n), Kind: Fire, Growth: true,
		Description: fmt.Sprintf("%s tasks become due in random order, one every 50 ns, "+
			"which is faster than they can run. "+
			"The time from the first due time until all have run, on 2 workers.%s", Grouped(n), omission(n)),
		Params:  Params{Pending: n, Workers: 2},
		Quick:   Params{Pending: n, Workers: 2},
		Outputs: []Output{{"fire/" + Short(n), "ns", "ns/task"}},
	}
	if n >= million {
		w.Quick = Params{}
	}
	return w
}

func lateness(name, where string, tasks int, period, length time.Duration, busy bool) Workload {
	quick := Params{Tasks: tasks, Workers: 2, Period: period, Length: max(time.Second, period), Busy: busy}
	p50, p99 := name+"-p50", name+"-p99"
	if tasks >= 100_000 {
		quick = Params{}
	}
	growth := false
	if n := len("lateness-tasks"); len(name) > n {
		growth = true
		p50, p99 = name[:n]+"-p50"+name[n:], name[:n]+"-p99"+name[n:]
	}
	return Workload{
		Name: name, Kind: Lateness, Growth: growth,
		Description: fmt.Sprintf("%s periodic tasks, each with a run every %v and a random phase, for %v in %s. "+
			"The lateness of the runs; a run that has not started at the end counts as late until then.",
			Grouped(tasks), period, length, where),
		Params:  Params{Tasks: tasks, Workers: 2, Period: period, Length: length, Busy: busy},
		Quick:   quick,
		Outputs: []Output{{p50, "p50", "µs"}, {p99, "p99", "µs"}},
	}
}
