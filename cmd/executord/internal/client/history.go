package client

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// atOnce is how many questions a command has to a store at a time: one after the other,
// those about thousands of jobs take minutes where the store is far away.
const atOnce = 8

// each calls fn for each number below n, some at a time. It returns the first error.
func each(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	pool := executor.Fixed(atOnce)
	defer pool.Close()
	ctx, cancel := context.WithCancel(ctx) // the rest, after an error
	defer cancel()
	answers := make([]*executor.Future[struct{}], n)
	for i := range n {
		answers[i] = executor.Submit(ctx, pool, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx, i) })
	}
	for _, answer := range answers {
		if _, err := answer.Get(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Lasts returns what the history has of the last run of each job, nil for one without.
func (c Client) Lasts(ctx context.Context, jobs []catalog.Entry) ([]*durable.Run, error) {
	all := make([]*durable.Run, len(jobs))
	err := each(ctx, len(jobs), func(ctx context.Context, i int) error {
		if jobs[i].Last.Runs == 0 {
			return nil
		}
		runs, err := c.Jobs.History(ctx, jobs[i].Last.ID, 0, 1)
		if err == nil && len(runs) > 0 {
			all[i] = &runs[0]
		}
		return err
	})
	return all, err
}

// mostRuns is how many runs are shown at once.
const mostRuns = 10_000

// mostTries is how many entries of the history of one run are shown: it has more than one if it was interrupted.
const mostTries = 20

// shown is a run that may be shown, or a due time without one.
type shown struct {
	at  time.Time
	of  int // the job
	row durable.Job
	run view.Run // of a due time without a row
}

// begun returns the latest runs of a job that have begun, as many as asked for. Among those that have not are the ones
// that wait, and the ones that were replaced before.
func (c Client) begun(ctx context.Context, e catalog.Entry, n int) ([]durable.Job, error) {
	for most := n + 1; ; most *= 2 {
		rows, err := catalog.ListRuns(ctx, c.Store, e, most)
		last := len(rows) < most || most > mostRuns
		rows = slices.DeleteFunc(rows, func(row durable.Job) bool { return row.Runs == 0 && !row.State.Granted() })
		if err != nil || last || len(rows) >= n {
			return rows, err
		}
	}
}

// leftOut returns what became of due times without a run, by the history of their schedule, the latest first. Times that
// are excluded for one reason, without another between them, are one.
func leftOut(e catalog.Entry, past []durable.Run) (all []view.Run) {
	stretch := false // the entry after it was of excluded times, too
	for _, r := range past {
		run, is := view.LeftOut(e, r)
		excluded := is && run.Outcome == outcome.Excluded
		switch last := len(all) - 1; {
		case stretch && excluded && all[last].Error == run.Error:
			all[last].Count, all[last].First = max(all[last].Count, 1)+1, run.Due
		case is:
			all = append(all, run)
		}
		stretch = excluded
	}
	return all
}

// Runs returns the latest runs of jobs, as many as asked for, the latest first.
func (c Client) Runs(ctx context.Context, jobs []catalog.Entry, n int) ([]view.Run, error) {
	n = min(n, mostRuns)
	candidates := make([][]shown, len(jobs))
	err := each(ctx, len(jobs), func(ctx context.Context, i int) error {
		e := jobs[i]
		rows, err := c.begun(ctx, e, n)
		if err != nil {
			return err
		}
		for _, row := range rows {
			candidates[i] = append(candidates[i], shown{at: row.Updated, of: i, row: row})
		}
		past, err := c.Jobs.History(ctx, e.ID, 0, n)
		for _, run := range leftOut(e, past) {
			candidates[i] = append(candidates[i], shown{at: run.Finished, of: i, run: run})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(candidates...)
	slices.SortStableFunc(all, func(a, b shown) int { return b.at.Compare(a.at) })
	all = all[:min(n, len(all))]
	runs := make([][]view.Run, len(all))
	err = each(ctx, len(all), func(ctx context.Context, i int) error {
		s, e := all[i], jobs[all[i].of]
		if s.row.ID == (durable.ID{}) {
			runs[i] = []view.Run{s.run}
			return nil
		}
		if s.row.State.Granted() {
			runs[i] = append(runs[i], view.Current(e, s.row, time.Now()))
		}
		past, err := c.Jobs.History(ctx, s.row.ID, 0, mostTries)
		for _, r := range past {
			runs[i] = append(runs[i], view.Ended(e, s.row, r))
		}
		return err
	})
	list := slices.Concat(runs...)
	slices.SortStableFunc(list, func(a, b view.Run) int { return b.Started.Compare(a.Started) })
	return list[:min(n, len(list))], err
}
