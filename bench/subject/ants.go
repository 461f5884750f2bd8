package subject

import (
	"sync"

	"github.com/panjf2000/ants/v2"

	"github.com/executor-go/executor/bench/drive"
)

var antsPool = Subject{
	ID: "ants", Title: "ants", Module: "github.com/panjf2000/ants/v2", Charts: true,
	How:    "`NewPool(n)` with `Submit`, which waits for a free worker, and a WaitGroup, as in its README.",
	Choose: "for very many goroutines with reused stacks.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool {
			pool, err := ants.NewPool(workers)
			must(err)
			a := &antsTasks{pool: pool}
			a.task = func() {
				task()
				a.running.Done()
			}
			return a
		}),
		drive.Wait(func(workers int) drive.FuncPool {
			pool, err := ants.NewPool(workers)
			must(err)
			return drive.FuncPool{Go: func(task func()) { must(pool.Submit(task)) }, Close: pool.Release}
		}),
	),
}

type antsTasks struct {
	pool    *ants.Pool
	task    func()
	running sync.WaitGroup
}

func (a *antsTasks) Go() {
	a.running.Add(1)
	must(a.pool.Submit(a.task))
}

func (a *antsTasks) Wait() {
	a.running.Wait()
	a.pool.Release()
}
