package subject

import (
	"sync"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var goroutine = Subject{
	ID: "goroutine", Title: "bare goroutines", Charts: true,
	How:    "`WaitGroup.Go` for each task, without a limit; for results a channel of capacity one for each.",
	Choose: "when the number of tasks is small or limited elsewhere: nothing is simpler.",
	Funcs: merge(
		executes(func(_ int, task func()) drive.Pool { return &goroutines{task: task} }),
		drive.Submits(func(_ int, task func() int) drive.Futures[chan int] {
			return drive.Futures[chan int]{
				Submit: func() chan int {
					c := make(chan int, 1)
					go func() { c <- task() }()
					return c
				},
				Get:   func(c chan int) int { return <-c },
				Close: func() {},
			}
		}),
		drive.Funcs{workload.Idle: drive.IdleProcess}, // waits for nothing
	),
}

type goroutines struct {
	sync.WaitGroup
	task func()
}

func (g *goroutines) Go() { g.WaitGroup.Go(g.task) }
