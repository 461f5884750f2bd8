package subject

import (
	"github.com/alitto/pond/v2"

	"github.com/executor-go/executor/bench/drive"
)

var pondPool = Subject{
	ID: "pond", Title: "pond", Module: "github.com/alitto/pond/v2", Charts: true,
	How: "`NewPool(n)` with `Go` and `StopAndWait`; for results `NewResultPool[int](n)` with `Submit` and `Wait`. " +
		"The queue has no limit.",
	Choose: "for subpools and groups of tasks.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool { return pondTasks{pond.NewPool(workers), task} }),
		drive.Submits(func(workers int, task func() int) drive.Futures[pond.ResultTask[int]] {
			pool := pond.NewResultPool[int](workers)
			return drive.Futures[pond.ResultTask[int]]{
				Submit: func() pond.ResultTask[int] { return pool.Submit(task) },
				Get: func(t pond.ResultTask[int]) int {
					n, err := t.Wait()
					must(err)
					return n
				},
				Close: pool.StopAndWait,
			}
		}),
	),
}

type pondTasks struct {
	pool pond.Pool
	task func()
}

func (p pondTasks) Go()   { must(p.pool.Go(p.task)) }
func (p pondTasks) Wait() { p.pool.StopAndWait() }
