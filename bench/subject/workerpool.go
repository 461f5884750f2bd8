package subject

import (
	"github.com/gammazero/workerpool"

	"github.com/executor-go/executor/bench/drive"
)

var workerPool = Subject{
	ID: "workerpool", Title: "workerpool", Module: "github.com/gammazero/workerpool", Charts: true,
	How:    "`New(n)` with `Do` and `StopWait`; a dispatcher has a queue without a limit.",
	Choose: "for a pool that can be paused.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool {
			return queued{workerpool.New(workers), task}
		}),
		drive.Wait(func(workers int) drive.FuncPool {
			pool := workerpool.New(workers)
			return drive.FuncPool{Go: func(task func()) { must(pool.Do(task)) }, Close: pool.StopWait}
		}),
	),
}

type queued struct {
	pool *workerpool.WorkerPool
	task func()
}

func (q queued) Go()   { must(q.pool.Do(q.task)) }
func (q queued) Wait() { q.pool.StopWait() }
