package drive

import (
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

// AMail is an ordinary payload, of about a hundred bytes as JSON.
var AMail = Mail{"somebody@example.com", "an ordinary payload of about a hundred bytes", []int{1, 2, 3, 4, 5}}

// Jobs keeps jobs in a database and runs the task that it was opened with for
// each.
type Jobs struct {
	Add   func(n int, delay time.Duration) // jobs that are all due after delay, in one call
	At    func(due time.Time)              // one job
	Start func() (stop func())             // runs jobs; when stop returns, all that ran is committed

	// Waiting and Done count the jobs in the database, up to limit.
	Waiting, Done func(limit int) int

	Statements func() int64 // run by the database so far, if it is watched
	Close      func()
}

// OpenJobs makes a new database. The task is given the time at which its job was
// due. If watched is true, statements are to be counted.
type OpenJobs func(workers int, watched bool, task func(due time.Time)) Jobs

// Durable makes the workloads about jobs in a database.
func Durable(open OpenJobs) Can {
	return Can{
		workload.DurableThroughput: func(p workload.Params) workload.Result { return throughput(p, open) },
		workload.DurableLateness:   func(p workload.Params) workload.Result { return durableLateness(p, open) },
		workload.DurableIdle:       func(p workload.Params) workload.Result { return durableIdle(p, open) },
	}
}

// batch is how many jobs are added at a time.
const batch = 1000

// throughput adds jobs, then runs them.
func throughput(p workload.Params, open OpenJobs) workload.Result {
	c := newCountdown(p.Tasks)
	jobs := open(p.Workers, false, func(time.Time) { c.run() })
	defer jobs.Close()
	micros := func(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / float64(p.Tasks) }
	begun := time.Now()
	for left := p.Tasks; left > 0; left -= batch {
		jobs.Add(min(left, batch), 0)
	}
	insert := micros(begun)
	begun = time.Now()
	stop := jobs.Start()
	c.wait()
	stop()
	return workload.Result{
		Values: map[string]float64{"run": micros(begun), "insert": insert},
		Ran:    int64(jobs.Done(p.Tasks + 1)), Want: int64(p.Tasks),
	}
}

// settling is how long a program is given to find its place among others before
// it is measured.
const settling = time.Second

// durableLateness adds jobs one by one in the program that runs them, each to be
// due a little later, and measures how late they begin.
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
	time.Sleep(settling)
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
		return workload.Result{Unfit: "a job began " + (-all[0]).String() + " too early"}
	}
	ms := func(q int) float64 { return float64(all[(len(all)-1)*q/100].Microseconds()) / 1000 }
	return c.result(p.Tasks, map[string]float64{"p50": ms(50), "p99": ms(99)})
}

// durableIdle counts what a program asks of its database while it has nothing to
// do.
func durableIdle(p workload.Params, open OpenJobs) workload.Result {
	jobs := open(p.Workers, true, func(time.Time) {})
	defer jobs.Close()
	jobs.Add(p.Pending, time.Hour)
	stop := jobs.Start()
	time.Sleep(settling)
	before, begun := jobs.Statements(), time.Now()
	time.Sleep(p.Length)
	perSecond := float64(jobs.Statements()-before) / time.Since(begun).Seconds()
	stop()
	return workload.Result{
		Values: map[string]float64{"statements": perSecond},
		Ran:    int64(jobs.Waiting(p.Pending + 1)), Want: int64(p.Pending),
	}
}
