package workload

import (
	"fmt"
	"time"
)

// durable returns the workloads with jobs in a database.
func durable() []Workload {
	return []Workload{
		{
			Name: "durable-throughput", Kind: DurableThroughput,
			Description: "Adds 20,000 jobs with a payload of a hundred bytes, 1,000 at a time. " +
				"Then starts a program with 100 workers, which claims the jobs, runs them and commits the outcomes. " +
				"The time of each of the two steps; the number of jobs is checked in the database.",
			Params:  Params{Tasks: 20_000, Workers: 100},
			Quick:   Params{Tasks: 4_000, Workers: 100},
			Outputs: []Output{{"durable-throughput", "run", "µs/job"}, {"durable-insert", "insert", "µs/job"}},
		},
		{
			Name: "durable-add-p50", Kind: DurableAdd,
			Description: "Adds 500 jobs, due in an hour, one after the other. The time of a call.",
			Params:      Params{Tasks: 500, Workers: 1},
			Quick:       Params{Tasks: 100, Workers: 1},
			Outputs:     []Output{{"durable-add-p50", "p50", "µs"}, {"durable-add-p99", "p99", "µs"}},
		},
		{
			Name: "durable-lateness-local", Kind: DurableLateness,
			Description: "Adds 300 jobs one by one, a random time up to 100 ms apart, " +
				"in the program that runs them with 10 workers; each is due 300 ms later. The lateness of the runs.",
			Params:  Params{Tasks: 300, Workers: 10, Period: 50 * time.Millisecond, Delay: 300 * time.Millisecond},
			Quick:   Params{Tasks: 50, Workers: 10, Period: 10 * time.Millisecond, Delay: 300 * time.Millisecond},
			Outputs: []Output{{"durable-lateness-local-p50", "p50", "ms"}, {"durable-lateness-local-p99", "p99", "ms"}},
		},
		{
			Name: "durable-idle-cpu", Kind: DurableIdle,
			Description: "1,000 jobs are due in an hour. " +
				"What the program that is to run them costs meanwhile, for ten seconds: its CPU time and, after a collection, " +
				"its memory, both without those of a server, and its statements to the server.",
			Params: Params{Pending: 1000, Workers: 10, Length: 10 * time.Second},
			Quick:  Params{Pending: 1000, Workers: 10, Length: time.Second},
			Outputs: []Output{
				{"durable-idle-cpu", "cpu", "ms/s"}, {"durable-idle-rss", "rss", "MB"},
				{"durable-idle-statements", "statements", "statements/s"},
			},
		},
		durablePeriodic(1000), durablePeriodic(10_000),
		durableGrowth(GrowthFrom), durableGrowth(GrowthTo),
		durableSteps(GrowthFrom), durableSteps(stepsTo),
	}
}

// GrowthFrom and GrowthTo are how many jobs wait in the databases that are compared, and how many are over.
const (
	GrowthFrom = 1000
	GrowthTo   = million
)

// durableGrowth returns the calls of a node in a database with n jobs that wait and n that are over.
func durableGrowth(n int) Workload {
	suffix := "/" + Short(n)
	return Workload{
		Name: "growth-insert" + suffix, Kind: DurableGrowth,
		Description: fmt.Sprintf("%s jobs wait, due in one to two hours, and %s are over, with a line of history each. "+
			"20,000 more are added, due at once, claimed, and settled: their outcomes are committed with a line of history. "+
			"All of this by the calls of a node to its store, 500 jobs at a time, without a program around them. "+
			"Then 200 looks, which find nothing: a heartbeat and a claim each.", Grouped(n), Grouped(n)),
		Params: Params{Tasks: 20_000, Pending: n},
		Quick:  Params{Tasks: 2000, Pending: min(n, 20_000)},
		Outputs: []Output{
			{"growth-insert" + suffix, "insert", "µs/job"}, {"growth-claim" + suffix, "claim", "µs/job"},
			{"growth-settle" + suffix, "settle", "µs/job"}, {"growth-look" + suffix, "look", "µs/look"},
		},
	}
}

// stepsTo is how many jobs can be added in some seconds to a store that has no rows to copy.
const stepsTo = 100_000

// durableSteps returns the calls of a node for one job, in a database with n jobs that wait.
func durableSteps(n int) Workload {
	suffix := "/" + Short(n)
	w := Workload{
		Name: "steps-claim" + suffix, Kind: DurableSteps,
		Description: fmt.Sprintf("%s jobs wait, due in one to two hours. "+
			"500 more, due in some seconds, are added one after the other; each is claimed, its claim is confirmed, as a node "+
			"does just before the time of a job, and it is settled. The median of each of the three calls to the store, "+
			"and of their sum.", Grouped(n)),
		Params: Params{Tasks: 500, Pending: n},
		Quick:  Params{Tasks: 100, Pending: min(n, 20_000)},
		Outputs: []Output{
			{"steps-claim" + suffix, "claim", "µs"}, {"steps-confirm" + suffix, "confirm", "µs"},
			{"steps-settle" + suffix, "settle", "µs"}, {"steps-all" + suffix, "all", "µs"},
		},
	}
	if n == stepsTo { // fewer are little beside the rest of the program
		w.Description += " Then how much each job that waits has added to the heap of the program, after a collection, " +
			"and the memory of the program at most."
		w.Outputs = append(w.Outputs,
			Output{"waiting-bytes" + suffix, "bytes", "bytes/job"}, Output{"waiting-peak" + suffix, "peak", "MB"})
	}
	return w
}

func durablePeriodic(n int) Workload {
	suffix := "/" + Short(n)
	p := Params{Tasks: n, Workers: 10, Period: time.Second, Length: 5 * time.Second}
	quick := p
	quick.Length = time.Second
	return Workload{
		Name: "durable-periodic" + suffix, Kind: DurablePeriodic,
		Description: fmt.Sprintf("%s periodic jobs, each with a run every second and a random phase, for %v in a program "+
			"that others could join: each run is for one of them alone. "+
			"The CPU time of the program, without that of the database, and the lateness of the runs.", Grouped(n), p.Length),
		Params: p, Quick: quick,
		Outputs: []Output{
			{"durable-periodic" + suffix, "cpu", "ms/s"},
			{"durable-periodic-p50" + suffix, "p50", "µs"}, {"durable-periodic-p99" + suffix, "p99", "µs"},
		},
	}
}
