package subject

import (
	"context"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

// observed64 and observedEvery are ours with an Observer. Ours without one is the reference.
var (
	observed64 = Subject{
		ID: "observed-64", Title: "one task in 64 measured", Own: true,
		How:   "`Fixed(n)` with an `Observer` as it is by default.",
		Funcs: drive.Funcs{workload.Observed: drive.Execute(openObserved(64))},
	}
	observedEvery = Subject{
		ID: "observed-every", Title: "every task measured", Own: true,
		How:   "`Fixed(n)` with an `Observer` whose `Every` is 1.",
		Funcs: drive.Funcs{workload.Observed: drive.Execute(openObserved(1))},
	}
)

// openObserved returns a function that opens a pool of which one task of every is measured.
func openObserved(every int) func(workers int, task func()) drive.Pool {
	return func(workers int, task func()) drive.Pool {
		o := &executor.Observer{Every: every}
		pool := executor.Fixed(workers, func(c *executor.Config) { c.Observer = o })
		return ourPool{pool, func(context.Context) error { task(); return nil }}
	}
}
