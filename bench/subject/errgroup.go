package subject

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/executor-go/executor/bench/drive"
)

var errGroup = Subject{
	ID: "errgroup", Title: "errgroup", Module: "golang.org/x/sync", Charts: true,
	How:    "one Group with `SetLimit(n)`; `Go` waits for a free place. For a group of tasks `WithContext`, without a limit.",
	Choose: "for one group of tasks in which the first error ends all.",
	Funcs: merge(
		executes(func(workers int, task func()) drive.Pool {
			g := new(errgroup.Group)
			g.SetLimit(workers)
			return group{g, func() error { task(); return nil }}
		}),
		drive.FanOut(func(int) drive.Groups {
			return drive.Groups{
				Run: func(n int, task func()) {
					g, _ := errgroup.WithContext(context.Background())
					fn := func() error { task(); return nil }
					for range n {
						g.Go(fn)
					}
					must(g.Wait())
				},
				Close: func() {},
			}
		}),
	),
}

type group struct {
	group *errgroup.Group
	task  func() error
}

func (g group) Go()   { g.group.Go(g.task) }
func (g group) Wait() { must(g.group.Wait()) }
