package workload

import (
	"fmt"
	"slices"
	"time"
)

// A Line is everyday work at growing sizes, as a chart shows it.
type Line struct {
	Title string // what is measured
	X     string // what grows
	ID    string // of the output, without a size
	Sizes []int
	table int // the size that is in the tables, without a suffix; 0 if all are, with one
	sized func(n int) Workload
}

// Lines are the lines of the chart of everyday work.
var Lines = []Line{
	{"fan out and wait, ns a group", "tasks of the group", "fan-out", []int{2, 8, 64}, 0, nil},
	{"ordered map, ns an item", "items", "map", []int{3_000, 30_000, 300_000}, 300_000, mapped},
	{"a share of a pool, ns a task", "tasks", "share", []int{3_000, 30_000, 300_000}, 300_000, share},
	{"one at a time for each key, ns a task", "keys", "keyed", []int{100, 1_000, 10_000}, 1_000, keyed},
	{"three attempts, ns a task", "tasks", "retry", []int{500, 5_000, 50_000}, 50_000, retry},
	{"a request's context, ns a task", "in flight", "submit-context", []int{10, 100, 1_000}, 1_000, submitContext},
	{"start, run one, end, ns a pool", "workers", "start-end", []int{1, 8, 64}, 8, startEnd},
	{"wait in the queue, p99, µs", "goroutines that submit", "wait-p99", []int{1, 8, 64}, 8, wait},
	{"schedules of a second, CPU, ms a second", "schedules", "schedules-cpu", []int{100, 1_000, 10_000}, 0, schedules},
}

// IDs returns the IDs of the outputs, one for each size.
func (l Line) IDs() []string {
	var ids []string
	for _, n := range l.Sizes {
		if n == l.table {
			ids = append(ids, l.ID)
		} else {
			ids = append(ids, l.ID+"/"+Short(n))
		}
	}
	return ids
}

// everyday returns the workloads of what programs do many times a day: those in the tables, and then the points of the
// chart that are not.
func everyday() []Workload {
	var tables, points []Workload
	for _, n := range Lines[0].Sizes {
		tables = append(tables, fanOut("fan-out", n, 0), fanOut("fan-out-10us", n, 10*time.Microsecond))
	}
	for _, l := range Lines[1:] {
		for _, n := range l.Sizes {
			w := l.sized(n)
			if l.table == 0 || l.table == n {
				tables = append(tables, w)
				continue
			}
			w.Growth = true
			w.Name += "/" + Short(n)
			for i := range w.Outputs {
				w.Outputs[i].ID += "/" + Short(n)
			}
			points = append(points, w)
		}
	}
	return slices.Concat(tables, []Workload{observed()}, points)
}

func mapped(n int) Workload {
	return Workload{
		Name: "map", Kind: Map,
		Description: fmt.Sprintf("%s numbers are squared by 8 workers, 64 at a time, and come back in order, "+
			"which is checked.", Grouped(n)),
		Params:  Params{Tasks: n, Workers: 8, Group: 64},
		Quick:   Params{Tasks: n / 10, Workers: 8, Group: 64},
		Outputs: []Output{{"map", "ns", "ns/item"}, {"allocs-map", "allocs", "allocations/item"}},
	}
}

func share(n int) Workload {
	return Workload{
		Name: "share", Kind: Share,
		Description: fmt.Sprintf("One goroutine submits %s tasks to a part of a pool of 8 workers that runs 2 at a time. "+
			"Each task adds one to a shared atomic counter. The time until all have run.", Grouped(n)),
		Params:  Params{Tasks: n, Workers: 8, Submitters: 1, Group: 2},
		Quick:   Params{Tasks: n / 10, Workers: 8, Submitters: 1, Group: 2},
		Outputs: []Output{{"share", "ns", "ns/task"}, {"allocs-share", "allocs", "allocations/task"}},
	}
}

func keyed(n int) Workload {
	return Workload{
		Name: "keyed", Kind: Keyed,
		Description: fmt.Sprintf("One goroutine submits 300,000 tasks of %s keys, in random order, to 8 workers. "+
			"Two tasks of a key must not overlap, which is checked. The time until all have run.", Grouped(n)),
		Params:  Params{Tasks: 300_000, Workers: 8, Pending: n},
		Quick:   Params{Tasks: 30_000, Workers: 8, Pending: n},
		Outputs: []Output{{"keyed", "ns", "ns/task"}, {"allocs-keyed", "allocs", "allocations/task"}},
	}
}

func retry(n int) Workload {
	return Workload{
		Name: "retry", Kind: Retry,
		Description: fmt.Sprintf("One goroutine submits %s tasks to 8 workers. Each fails twice, "+
			"and is run again a millisecond after each failure. The time until all have succeeded.", Grouped(n)),
		Params:  Params{Tasks: n, Workers: 8, Delay: time.Millisecond},
		Quick:   Params{Tasks: n / 10, Workers: 8, Delay: time.Millisecond},
		Outputs: []Output{{"retry", "ns", "ns/task"}, {"allocs-retry", "allocs", "allocations/task"}},
	}
}

func submitContext(n int) Workload {
	return Workload{
		Name: "submit-context", Kind: SubmitContext,
		Description: fmt.Sprintf("One goroutine submits %s tasks to 2 workers, each with a context of its own, "+
			"gets the results in order, and ends each context then; until 300,000 have run.", Grouped(n)),
		Params:  Params{Tasks: 300_000, Workers: 2, Group: n},
		Quick:   Params{Tasks: 30_000, Workers: 2, Group: n},
		Outputs: []Output{{"submit-context", "ns", "ns/task"}, {"allocs-submit-context", "allocs", "allocations/task"}},
	}
}

func startEnd(n int) Workload {
	return Workload{
		Name: "start-end", Kind: StartEnd,
		Description: fmt.Sprintf("A pool of size %d is made, runs one task, and is closed; 20,000 times.", n),
		Params:      Params{Tasks: 20_000, Workers: n},
		Quick:       Params{Tasks: 2_000, Workers: n},
		Outputs:     []Output{{"start-end", "ns", "ns/pool"}, {"allocs-start-end", "allocs", "allocations/pool"}},
	}
}

func wait(n int) Workload {
	p := Params{Tasks: 19_200, Workers: 8, Submitters: n, Period: time.Second / 6400, Takes: time.Millisecond}
	quick := p
	quick.Tasks = 3_840
	return Workload{
		Name: "wait", Kind: Wait,
		Description: fmt.Sprintf("%s submits tasks of a millisecond at random times, 6,400 a second in all, "+
			"to 8 workers, which are busy for more than eight tenths of the time. "+
			"The time from when a task should be submitted until it begins.", count(n, "goroutine")),
		Params: p, Quick: quick,
		Outputs: []Output{{"wait-p50", "p50", "µs"}, {"wait-p99", "p99", "µs"}, {"wait-p999", "p999", "µs"}},
	}
}

func observed() Workload {
	return Workload{
		Name: "observed", Kind: Observed,
		Description: "One goroutine submits 1 M tasks to a pool of size 2, whose Observer measures none of them, " +
			"one in 64, or every one. Each task adds one to a shared atomic counter. The time until all have run.",
		Params:  Params{Tasks: million, Workers: 2, Submitters: 1},
		Quick:   Params{Tasks: million / 10, Workers: 2, Submitters: 1},
		Outputs: []Output{{"observed", "ns", "ns/task"}, {"allocs-observed", "allocs", "allocations/task"}},
	}
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
