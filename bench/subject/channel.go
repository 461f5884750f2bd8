package subject

import (
	"sync"

	"github.com/executor-go/executor/bench/drive"
)

var channel = Subject{
	ID: "channel", Title: "channel and workers", Charts: true,
	How:    "n goroutines range over a `chan func()` of capacity 1,024; the end is `close` and a WaitGroup.",
	Choose: "when the program is one loop of workers, without futures, cancellation, panics or counters.",
	Funcs: executes(func(workers int, task func()) drive.Pool {
		c := &channelWorkers{tasks: make(chan func(), 1024), task: task}
		for range workers {
			c.workers.Go(func() {
				for f := range c.tasks {
					f()
				}
			})
		}
		return c
	}),
}

type channelWorkers struct {
	tasks   chan func()
	task    func()
	workers sync.WaitGroup
}

func (c *channelWorkers) Go() { c.tasks <- c.task }

func (c *channelWorkers) Wait() {
	close(c.tasks)
	c.workers.Wait()
}
