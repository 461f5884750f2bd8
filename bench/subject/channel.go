package subject

import (
	"iter"
	"sync"

	"github.com/executor-go/executor/bench/drive"
)

var channel = Subject{
	ID: "channel", Title: "channel and workers", Charts: true,
	How: "n goroutines range over a `chan func()` of capacity 1,024; the end is `close` and a WaitGroup. " +
		"For keys a map of mutexes; a worker that waits for one does nothing else.",
	Choose: "when the program is one loop of workers, without futures, cancellation, panics or counters.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool { return openChannel(workers, task) }),
		drive.Map(func(workers int) (drive.Mapping, func()) {
			c := openChannel(workers, nil)
			return func(n int, seq iter.Seq[int], fn func(int) int, yield func(int)) {
				results := make([]chan int, n) // used in turn
				for i := range results {
					results[i] = make(chan int, 1)
				}
				first, next := 0, 0
				for i := range seq {
					if next-first == n {
						yield(<-results[first%n])
						first++
					}
					result := results[next%n]
					c.tasks <- func() { result <- fn(i) }
					next++
				}
				for ; first < next; first++ {
					yield(<-results[first%n])
				}
			}, c.Wait
		}),
		drive.Keyed(func(workers int) drive.KeyedPool {
			c := openChannel(workers, nil)
			var keys sync.Map // of *sync.Mutex
			return drive.KeyedPool{
				Go: func(key int, task func()) {
					c.tasks <- func() {
						m, _ := keys.LoadOrStore(key, new(sync.Mutex))
						m.(*sync.Mutex).Lock()
						defer m.(*sync.Mutex).Unlock()
						task()
					}
				},
				Wait: c.Wait,
			}
		}),
		drive.Wait(func(workers int) drive.FuncPool {
			c := openChannel(workers, nil)
			return drive.FuncPool{Go: func(task func()) { c.tasks <- task }, Close: c.Wait}
		}),
	),
}

func openChannel(workers int, task func()) *channelWorkers {
	c := &channelWorkers{tasks: make(chan func(), 1024), task: task}
	for range workers {
		c.workers.Go(func() {
			for f := range c.tasks {
				f()
			}
		})
	}
	return c
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
