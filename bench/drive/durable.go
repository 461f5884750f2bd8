package drive

import (
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Mail is the payload of each job.
type Mail struct {
	To, Subject string
	Numbers     []int
}

// AMail is an ordinary payload of about a hundred bytes of JSON.
var AMail = Mail{"somebody@example.com", "an ordinary payload of about a hundred bytes", []int{1, 2, 3, 4, 5}}

// Jobs is a set of jobs in a database, and a program that runs a task for each.
type Jobs struct {
	Add   func(n int, delay time.Duration) // adds jobs that are due after delay, in one call
	At    func(due time.Time)              // adds one job
	Start func() (stop func())             // runs jobs; stop returns when all outcomes are committed

	// Waiting and Done return the number of jobs in the database, up to limit.
	Waiting, Done func(limit int) int

	Statements func() int64 // number of statements so far; nil if they are not counted
	Close      func()
}

// OpenJobs creates a new database. The argument of the task is the due time of its job.
// If counted is true, statements are counted, unless there is no server.
type OpenJobs func(workers int, counted bool, task func(due time.Time)) Jobs

// Durable returns the workloads with jobs in a database.
func Durable(open OpenJobs) Funcs {
	return Funcs{
		workload.DurableThroughput: func(p workload.Params) workload.Result { return throughput(p, open) },
		workload.DurableAdd:        func(p workload.Params) workload.Result { return durableAdd(p, open) },
		workload.DurableLateness:   func(p workload.Params) workload.Result { return durableLateness(p, open) },
		workload.DurableIdle:       func(p workload.Params) workload.Result { return durableIdle(p, open) },
	}
}

// batch is the number of jobs that are added at a time.
const batch = 1000

// throughput adds jobs and then runs them.
func throughput(p workload.Params, open OpenJobs) workload.Result {
	c := newCountdown(p.Tasks)
	jobs := open(p.Workers, false, func(time.Time) { c.run() })
	defer jobs.Close()
	micros := func(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / float64(p.Tasks) }
	began := time.Now()
	for rest := p.Tasks; rest > 0; rest -= batch {
		jobs.Add(min(rest, batch), 0)
	}
	insert := micros(began)
	began = time.Now()
	stop := jobs.Start()
	c.wait()
	stop()
	return workload.Result{
		Values: map[string]float64{"run": micros(began), "insert": insert},
		Ran:    int64(jobs.Done(p.Tasks + 1)), Want: int64(p.Tasks),
	}
}

// durableAdd adds jobs one by one, which nothing runs, and measures the calls.
func durableAdd(p workload.Params, open OpenJobs) workload.Result {
	jobs := open(p.Workers, false, func(time.Time) {})
	defer jobs.Close()
	calls := make([]int64, p.Tasks)
	for i := range calls {
		began := time.Now()
		jobs.At(began.Add(time.Hour))
		calls[i] = int64(time.Since(began))
	}
	slices.Sort(calls)
	return workload.Result{
		Values: map[string]float64{"p50": quantile(calls, 500), "p99": quantile(calls, 990)},
		Ran:    int64(jobs.Waiting(p.Tasks + 1)), Want: int64(p.Tasks),
	}
}

// settleTime is the time between the start of a program and the measurement.
const settleTime = time.Second

// durableLateness adds jobs one by one in the program that runs them, each due a little
// later, and measures the lateness of their runs.
func durableLateness(p workload.Params, open OpenJobs) workload.Result {
	var mu sync.Mutex
	var all []time.Duration
	c := newCountdown(p.Tasks)
	jobs := open(p.Workers, false, func(due time.Time) {
		late := time.Since(due)
		mu.Lock()
		all = append(all, late)
		mu.Unlock()
		c.run()
	})
	defer jobs.Close()
	stop := jobs.Start()
	time.Sleep(settleTime)
	r := random(0)
	for range p.Tasks {
		jobs.At(time.Now().Add(p.Delay))
		time.Sleep(time.Duration(r.Int64N(int64(2 * p.Period))))
	}
	c.wait()
	stop()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(all)
	if len(all) == 0 {
		return workload.Result{Unfit: "nothing ran"}
	}
	if all[0] < 0 {
		return workload.Result{Unfit: "a job started " + (-all[0]).String() + " too early"}
	}
	ms := func(q int) float64 { return float64(all[(len(all)-1)*q/100].Microseconds()) / 1000 }
	return c.result(p.Tasks, map[string]float64{"p50": ms(50), "p99": ms(99)})
}

// durableIdle measures what a program costs that has nothing to do.
func durableIdle(p workload.Params, open OpenJobs) workload.Result {
	jobs := open(p.Workers, true, func(time.Time) {})
	defer jobs.Close()
	jobs.Add(p.Pending, time.Hour)
	stop := jobs.Start()
	debug.FreeOSMemory() // otherwise the runtime does it during the measurement
	time.Sleep(settleTime)
	statements := func() int64 {
		if jobs.Statements == nil {
			return 0
		}
		return jobs.Statements()
	}
	before, began := statements(), time.Now()
	_, cpu, _ := usage()
	time.Sleep(p.Length)
	_, cpu2, measured := usage()
	seconds := time.Since(began).Seconds()
	values := map[string]float64{}
	if jobs.Statements != nil {
		values["statements"] = float64(statements()-before) / seconds
	}
	if measured {
		values["cpu"] = (cpu2 - cpu).Seconds() * 1e3 / seconds
	}
	addMemory(values, "rss", "VmRSS:")
	stop()
	return workload.Result{Values: values, Ran: int64(jobs.Waiting(p.Pending + 1)), Want: int64(p.Pending)}
}
