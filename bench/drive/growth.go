package drive

import (
	"time"

	"github.com/executor-go/executor/bench/workload"
)

// Calls are what a node asks of a database.
type Calls struct {
	Insert func(n int)        // adds n jobs that are due
	Claim  func(n int) int    // claims up to n jobs that are due, and returns how many these are
	Settle func() int         // commits the outcomes of those that were claimed last, and returns how many these are
	Look   func() (none bool) // what a node does that has nothing to do; it reports that there is nothing
	Close  func()
}

// groupSize is how many jobs a call is about: about as many as those of a busy node.
const groupSize = 500

// looks is how many are measured.
const looks = 200

// DurableGrowth measures the calls in a database in which so many jobs wait, due much later, and as many are over.
func DurableGrowth(open func(jobs int) Calls) Funcs {
	return Funcs{workload.DurableGrowth: func(p workload.Params) workload.Result {
		calls := open(p.Pending)
		defer calls.Close()
		var insert, claim, settle time.Duration
		for rest := p.Tasks; rest > 0; rest -= groupSize {
			began := time.Now()
			calls.Insert(min(rest, groupSize))
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
	}}
}
