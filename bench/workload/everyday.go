package workload

import (
	"fmt"
	"time"
)

// everyday returns the workloads of what programs do many times a day.
func everyday() []Workload {
	var ws []Workload
	for _, n := range []int{2, 8, 64} {
		ws = append(ws, fanOut("fan-out", n, 0), fanOut("fan-out-10us", n, 10*time.Microsecond))
	}
	ws = append(ws, []Workload{
		{
			Name: "map", Kind: Map,
			Description: "300,000 numbers are squared by 8 workers, 64 at a time, and come back in order, " +
				"which is checked.",
			Params:  Params{Tasks: 300_000, Workers: 8, Group: 64},
			Quick:   Params{Tasks: 30_000, Workers: 8, Group: 64},
			Outputs: []Output{{"map", "ns", "ns/item"}, {"allocs-map", "allocs", "allocations/item"}},
		},
		{
			Name: "share", Kind: Share,
			Description: "One goroutine submits 300,000 tasks to a part of a pool of 8 workers that runs 2 at a time. " +
				"Each task adds one to a shared atomic counter. The time until all have run.",
			Params:  Params{Tasks: 300_000, Workers: 8, Submitters: 1, Group: 2},
			Quick:   Params{Tasks: 30_000, Workers: 8, Submitters: 1, Group: 2},
			Outputs: []Output{{"share", "ns", "ns/task"}, {"allocs-share", "allocs", "allocations/task"}},
		},
		{
			Name: "keyed", Kind: Keyed,
			Description: "One goroutine submits 300,000 tasks of 1,000 keys, in random order, to 8 workers. " +
				"Two tasks of a key must not overlap, which is checked. The time until all have run.",
			Params:  Params{Tasks: 300_000, Workers: 8, Pending: 1000},
			Quick:   Params{Tasks: 30_000, Workers: 8, Pending: 1000},
			Outputs: []Output{{"keyed", "ns", "ns/task"}, {"allocs-keyed", "allocs", "allocations/task"}},
		},
		{
			Name: "retry", Kind: Retry,
			Description: "One goroutine submits 50,000 tasks to 8 workers. Each fails twice, " +
				"and is run again a millisecond after each failure. The time until all have succeeded.",
			Params:  Params{Tasks: 50_000, Workers: 8, Delay: time.Millisecond},
			Quick:   Params{Tasks: 5_000, Workers: 8, Delay: time.Millisecond},
			Outputs: []Output{{"retry", "ns", "ns/task"}, {"allocs-retry", "allocs", "allocations/task"}},
		},
		{
			Name: "submit-context", Kind: SubmitContext,
			Description: "One goroutine submits 1,000 tasks to 2 workers, each with a context of its own, " +
				"gets the results in order, and ends each context then; 300 times.",
			Params:  Params{Tasks: 300_000, Workers: 2, Group: 1000},
			Quick:   Params{Tasks: 30_000, Workers: 2, Group: 1000},
			Outputs: []Output{{"submit-context", "ns", "ns/task"}, {"allocs-submit-context", "allocs", "allocations/task"}},
		},
		{
			Name: "start-end", Kind: StartEnd,
			Description: "A pool of size 8 is made, runs one task, and is closed; 20,000 times.",
			Params:      Params{Tasks: 20_000, Workers: 8},
			Quick:       Params{Tasks: 2_000, Workers: 8},
			Outputs:     []Output{{"start-end", "ns", "ns/pool"}, {"allocs-start-end", "allocs", "allocations/pool"}},
		},
		{
			Name: "wait", Kind: Wait,
			Description: "8 goroutines submit tasks of a millisecond at random times, 6,400 a second in all, " +
				"to 8 workers, which are busy for more than eight tenths of the time. " +
				"The time from when a task should be submitted until it begins.",
			Params:  wait(20_000),
			Quick:   wait(4_000),
			Outputs: []Output{{"wait-p50", "p50", "µs"}, {"wait-p99", "p99", "µs"}, {"wait-p999", "p999", "µs"}},
		},
	}...)
	ws = append(ws, Workload{
		Name: "observed", Kind: Observed,
		Description: "One goroutine submits 1 M tasks to a pool of size 2, whose Observer measures none of them, " +
			"one in 64, or every one. Each task adds one to a shared atomic counter. The time until all have run.",
		Params:  Params{Tasks: million, Workers: 2, Submitters: 1},
		Quick:   Params{Tasks: million / 10, Workers: 2, Submitters: 1},
		Outputs: []Output{{"observed", "ns", "ns/task"}, {"allocs-observed", "allocs", "allocations/task"}},
	})
	for _, n := range []int{100, 1000, 10_000} {
		ws = append(ws, schedules(n))
	}
	return ws
}

func fanOut(name string, n int, takes time.Duration) Workload {
	id := fmt.Sprintf("%s/%d", name, n)
	work := "add one to a shared atomic counter"
	groups := 200_000 / n
	if takes > 0 {
		work = fmt.Sprintf("keep a processor busy for %v", takes)
		groups /= 10
	}
	return Workload{
		Name: id, Kind: FanOut,
		Description: fmt.Sprintf("One goroutine runs groups of %d tasks on 8 idle workers, and waits for each group. "+
			"The tasks %s.", n, work),
		Params:  Params{Tasks: groups, Workers: 8, Group: n, Takes: takes},
		Quick:   Params{Tasks: groups / 10, Workers: 8, Group: n, Takes: takes},
		Outputs: []Output{{id, "ns", "ns/group"}, {"allocs-" + id, "allocs", "allocations/group"}},
	}
}

func wait(tasks int) Params {
	return Params{Tasks: tasks, Workers: 8, Submitters: 8, Period: time.Second / 6400, Takes: time.Millisecond}
}

func schedules(n int) Workload {
	suffix := "/" + Short(n)
	p := Params{Tasks: n, Workers: 2, Period: time.Second, Length: 5 * time.Second}
	quick := p
	quick.Length = time.Second
	return Workload{
		Name: "schedules-cpu" + suffix, Kind: Lateness,
		Description: fmt.Sprintf("%s periodic tasks, each with a run every second and a random phase, for %v "+
			"in an idle process. The CPU time of the process, and the lateness of the runs.", Grouped(n), p.Length),
		Params: p, Quick: quick,
		Outputs: []Output{
			{"schedules-cpu" + suffix, "cpu", "ms/s"},
			{"schedules-p50" + suffix, "p50", "µs"}, {"schedules-p99" + suffix, "p99", "µs"},
		},
	}
}
