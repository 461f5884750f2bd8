package subject

import (
	"context"
	"iter"

	"github.com/alitto/pond/v2"

	"github.com/executor-go/executor/bench/drive"
)

var pondPool = Subject{
	ID: "pond", Title: "pond", Module: "github.com/alitto/pond/v2", Charts: true,
	How: "`NewPool(n)` with `Go` and `StopAndWait`; for results `NewResultPool[int](n)` with `Submit` and `Wait`. " +
		"The queue has no limit. `NewGroup`, `NewSubpool`; with a context `SubmitErr` of a function that looks at it first.",
	Choose: "for a small interface: pools, subpools and groups.",
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
		drive.FanOut(func(workers int) drive.Groups {
			pool := pond.NewPool(workers)
			return drive.Groups{
				Run: func(n int, task func()) {
					g := pool.NewGroup()
					for range n {
						g.Submit(task)
					}
					must(g.Wait())
				},
				Close: pool.StopAndWait,
			}
		}),
		drive.Map(func(workers int) (drive.Mapping, func()) {
			pool := pond.NewResultPool[int](workers)
			return func(n int, seq iter.Seq[int], fn func(int) int, yield func(int)) {
				flight := make([]pond.ResultTask[int], n)
				first, next := 0, 0
				take := func() {
					v, err := flight[first%n].Wait()
					must(err)
					yield(v)
					first++
				}
				for i := range seq {
					if next-first == n {
						take()
					}
					flight[next%n] = pool.Submit(func() int { return fn(i) })
					next++
				}
				for first < next {
					take()
				}
			}, pool.StopAndWait
		}),
		drive.Share(func(workers, limit int, task func()) drive.Pool {
			pool := pond.NewPool(workers)
			return pondShare{pondTasks{pool.NewSubpool(limit), task}, pool}
		}),
		drive.Submit(func(workers int, task func() int) drive.Requests[pondRequest] {
			pool := pond.NewPool(workers)
			return drive.Requests[pondRequest]{
				Submit: func(ctx context.Context) pondRequest {
					r := new(int)
					return pondRequest{r, pool.SubmitErr(func() error {
						if err := ctx.Err(); err != nil {
							return err
						}
						*r = task()
						return nil
					})}
				},
				Get: func(ctx context.Context, r pondRequest) int {
					select {
					case <-r.Done():
						must(r.Wait())
					case <-ctx.Done():
						must(ctx.Err())
					}
					return *r.result
				},
				Close: pool.StopAndWait,
			}
		}),
		drive.Wait(func(workers int) drive.FuncPool {
			pool := pond.NewPool(workers)
			return drive.FuncPool{Go: func(task func()) { must(pool.Go(task)) }, Close: pool.StopAndWait}
		}),
	),
}

type pondTasks struct {
	pool pond.Pool
	task func()
}

func (p pondTasks) Go()   { must(p.pool.Go(p.task)) }
func (p pondTasks) Wait() { p.pool.StopAndWait() }

type pondShare struct {
	pondTasks
	lender pond.Pool
}

func (s pondShare) Wait() {
	s.pondTasks.Wait()
	s.lender.StopAndWait()
}

type pondRequest struct {
	result *int
	pond.Task
}
