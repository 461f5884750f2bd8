package drive

import (
	"slices"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Calls are what a node asks of a database.
type Calls struct {
	Fill    func(waiting, over int)          // adds jobs that are due in one to two hours, and jobs that are over
	Insert  func(n int, delay time.Duration) // adds n jobs that are due after delay
	Claim   func(n int) int                  // claims up to n jobs that are due within 2*SoonDue, and returns how many
	Confirm func() int                       // confirms the last claims, and returns how many of them still hold
	Settle  func() int                       // commits the outcomes of what was claimed last, and returns how many
	Look    func() (none bool)               // what a node does that has nothing to do; it reports that there is nothing
	Close   func()
}

// DurableCalls returns the workloads that measure the calls of a node in a database that open makes.
func DurableCalls(open func() Calls) Funcs {
	return Funcs{
		workload.DurableGrowth: func(p workload.Params) workload.Result { return growth(p, open()) },
		workload.DurableSteps:  func(p workload.Params) workload.Result { return steps(p, open()) },
	}
}

// groupSize is how many jobs a call is about: about as many as those of a busy node.
const groupSize = 500

// looks is how many are measured.
const looks = 200

// growth measures the calls for many jobs at a time, in a database in which others wait, due much later, or are over.
func growth(p workload.Params, calls Calls) workload.Result {
	defer calls.Close()
	calls.Fill(p.Pending, p.Pending)
	var insert, claim, settle time.Duration
	for rest := p.Tasks; rest > 0; rest -= groupSize {
		began := time.Now()
		calls.Insert(min(rest, groupSize), 0)
		insert += time.Since(began)
	}
	settled := 0
	for claimed := 1; claimed > 0 && settled < p.Tasks; {
		began := time.Now()
		claimed = calls.Claim(groupSize)
		claim += time.Since(began)
		began = time.Now()
		settled += calls.Settle()
		settle += time.Since(began)
	}
	began := time.Now()
	empty := 0
	for range looks {
		if calls.Look() {
			empty++
		}
	}
	look := time.Since(began)
	each := func(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }
	return workload.Result{
		Values: map[string]float64{"insert": each(insert, p.Tasks), "claim": each(claim, p.Tasks),
			"settle": each(settle, p.Tasks), "look": each(look, looks)},
		Ran: int64(settled + empty), Want: int64(p.Tasks + looks),
	}
}

// SoonDue is the delay of jobs that are to be claimed and then confirmed. A job that is due at once would be confirmed
// by its claim.
const SoonDue = 5 * time.Second

// steps measures the calls for one job after the other, and the memory of the jobs that wait meanwhile.
func steps(p workload.Params, calls Calls) workload.Result {
	defer calls.Close()
	empty := heapInUse()
	calls.Fill(p.Pending, 0)
	times := map[string][]int64{}
	lap := func(key string, since time.Time) time.Time {
		now := time.Now()
		times[key] = append(times[key], int64(now.Sub(since)))
		return now
	}
	ran := 0
	for range p.Tasks {
		calls.Insert(1, SoonDue)
		began := time.Now()
		claimed := calls.Claim(1)
		at := lap("claim", began)
		confirmed := calls.Confirm()
		at = lap("confirm", at)
		settled := calls.Settle()
		lap("settle", at)
		lap("all", began)
		ran += min(claimed, confirmed, settled)
	}
	// What a store remembers of its last calls is about the steps by now, and no more about what has filled it.
	values := map[string]float64{"bytes": max(heapInUse()-empty, 0) / float64(p.Pending)}
	addMemory(values, "peak", "VmHWM:")
	for key, all := range times {
		slices.Sort(all)
		values[key] = quantile(all, 500)
	}
	return workload.Result{Values: values, Ran: int64(ran), Want: int64(p.Tasks)}
}
