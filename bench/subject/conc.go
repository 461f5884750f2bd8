package subject

import (
	"context"
	"iter"

	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"

	"github.com/executor-go/executor/bench/drive"
)

var concPool = Subject{
	ID: "conc", Title: "conc", Module: "github.com/sourcegraph/conc", Charts: true,
	How: "`pool.New().WithMaxGoroutines(n)`; `Go` waits for a free goroutine, and `Wait` ends the pool. " +
		"For a group of tasks a pool of its own, `WithContext`; for a map `stream.New`, with n in flight.",
	Choose: "for structured concurrency: a pool lives within one function, which panics if a task of the pool panics.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool {
			return concTasks{pool.New().WithMaxGoroutines(workers), task}
		}),
		drive.FanOut(func(workers int) drive.Groups {
			return drive.Groups{
				Run: func(n int, task func()) {
					g := pool.New().WithMaxGoroutines(workers).WithContext(context.Background())
					fn := func(context.Context) error { task(); return nil }
					for range n {
						g.Go(fn)
					}
					must(g.Wait())
				},
				Close: func() {},
			}
		}),
		drive.Map(func(int) (drive.Mapping, func()) {
			return func(n int, seq iter.Seq[int], fn func(int) int, yield func(int)) {
				s := stream.New().WithMaxGoroutines(n) // as many are in flight
				for i := range seq {
					s.Go(func() stream.Callback {
						v := fn(i)
						return func() { yield(v) }
					})
				}
				s.Wait()
			}, func() {}
		}),
	),
}

type concTasks struct {
	pool *pool.Pool
	task func()
}

func (c concTasks) Go()   { c.pool.Go(c.task) }
func (c concTasks) Wait() { c.pool.Wait() }
