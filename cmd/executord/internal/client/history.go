package client

import (
	"context"
	"slices"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// atOnce is how many questions a command has to a store at a time: one after the other,
// those about thousands of jobs take minutes where the store is far away.
const atOnce = 8

// Histories returns the latest runs of each job, as many of each as asked for, the latest
// first.
func (c Client) Histories(ctx context.Context, jobs []catalog.Entry, n int) ([][]durable.Run, error) {
	pool := executor.Fixed(atOnce)
	defer pool.Close()
	ctx, cancel := context.WithCancel(ctx) // the rest, after an error
	defer cancel()
	answers := make([]*executor.Future[[]durable.Run], len(jobs))
	for i, e := range jobs {
		answers[i] = executor.Submit(ctx, pool, func(ctx context.Context) ([]durable.Run, error) {
			return c.History(ctx, e, n)
		})
	}
	all := make([][]durable.Run, len(jobs))
	for i, answer := range answers {
		var err error
		if all[i], err = answer.Get(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// History returns the latest runs of a job, as many as asked for, the latest
// first.
func (c Client) History(ctx context.Context, e catalog.Entry, n int) ([]durable.Run, error) {
	var runs []durable.Run
	for before := int64(0); len(runs) < n; {
		page, err := c.Jobs.History(ctx, e.ID, before, min(n, 995)+5) // some are idle
		if err != nil || len(page) == 0 {
			return runs, err
		}
		before = page[len(page)-1].Seq
		runs = append(runs, slices.DeleteFunc(page, catalog.IsIdle)...)
	}
	return runs[:min(len(runs), n)], nil
}
