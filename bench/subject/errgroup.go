package subject

import (
	"golang.org/x/sync/errgroup"

	"github.com/executor-go/executor/bench/drive"
)

var errGroup = Subject{
	ID: "errgroup", Title: "errgroup", Module: "golang.org/x/sync", Charts: true,
	How:    "one Group with `SetLimit(n)`; `Go` waits for a free place.",
	Choose: "for one group of tasks in which the first error ends all.",
	Funcs: executes(func(workers int, task func()) drive.Pool {
		g := new(errgroup.Group)
		g.SetLimit(workers)
		return group{g, func() error { task(); return nil }}
	}),
}

type group struct {
	group *errgroup.Group
	task  func() error
}

func (g group) Go()   { g.group.Go(g.task) }
func (g group) Wait() { must(g.group.Wait()) }
