package subject

import (
	"github.com/sourcegraph/conc/pool"

	"github.com/executor-go/executor/bench/drive"
)

var concPool = Subject{
	ID: "conc", Title: "conc", Module: "github.com/sourcegraph/conc", Charts: true,
	How:    "`pool.New().WithMaxGoroutines(n)`; `Go` waits for a free goroutine, and `Wait` ends the pool.",
	Choose: "for structured concurrency: the pool lives within one function, and a panic continues there.",
	Funcs: executes(func(workers int, task func()) drive.Pool {
		return concTasks{pool.New().WithMaxGoroutines(workers), task}
	}),
}

type concTasks struct {
	pool *pool.Pool
	task func()
}

func (c concTasks) Go()   { c.pool.Go(c.task) }
func (c concTasks) Wait() { c.pool.Wait() }
