package workload

import "time"

// durable are the workloads about jobs in a database.
func durable() []Workload {
	return []Workload{
		{
			Name: "durable-throughput", Kind: DurableThroughput,
			Words: "20,000 jobs with a payload of a hundred bytes are added, 1,000 at a time; then a program with 100 workers is started, " +
				"takes them, runs them and commits that they are done: the time of each of the two. Their number is checked in the database.",
			Params:  Params{Tasks: 20_000, Workers: 100},
			Quick:   Params{Tasks: 4_000, Workers: 100},
			Outputs: []Output{{"durable-throughput", "run", "µs/job"}, {"durable-insert", "insert", "µs/job"}},
		},
		{
			Name: "durable-lateness-local", Kind: DurableLateness,
			Words: "300 jobs are added one by one, a random time up to 100 ms apart, by the program that runs them with 10 workers; " +
				"each is due 300 ms after it is added. How late the runs begin.",
			Params:  Params{Tasks: 300, Workers: 10, Period: 50 * time.Millisecond, Delay: 300 * time.Millisecond},
			Quick:   Params{Tasks: 50, Workers: 10, Period: 10 * time.Millisecond, Delay: 300 * time.Millisecond},
			Outputs: []Output{{"durable-lateness-local-p50", "p50", "ms"}, {"durable-lateness-local-p99", "p99", "ms"}},
		},
		{
			Name: "durable-idle-statements", Kind: DurableIdle,
			Words:   "1,000 jobs wait, due in an hour; how many statements a program asks of the database each second, counted on the line between them for 20 seconds.",
			Params:  Params{Pending: 1000, Workers: 10, Length: 20 * time.Second},
			Quick:   Params{Pending: 1000, Workers: 10, Length: time.Second},
			Outputs: []Output{{"durable-idle-statements", "statements", "statements/s"}},
		},
	}
}
