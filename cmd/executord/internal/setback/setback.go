// Package setback has nothing wait for a time that was found by a clock that was ahead, and was set back since. That
// schedules go on from the present, package durable sees to.
package setback

import (
	"context"
	"iter"
	"time"

	"github.com/executor-go/executor/durable"
)

// Noise is by how much two answers about a clock may differ without that it was set back: one of several servers may have
// answered before.
const Noise = time.Second

// most is how many jobs are asked for at once.
const most = 500

// Hasten has jobs of these kinds begin that wait by a time of the store's clock which is ahead of now: they would wait
// until it shows that again. It shows by when they were added or changed, or by what else is found to be ahead, if that is
// not nil: what a node has given back when the clock was set back was changed since, and what it has added by the clock
// as it was may have been added since.
func Hasten(ctx context.Context, jobs *durable.Jobs, now time.Time, kinds iter.Seq[string], found func(durable.Job) time.Time) error {
	ahead := durable.TimeRange{From: now.Add(Noise)}
	for kind := range kinds {
		f := durable.Filter{Kind: kind, States: []durable.State{durable.Waiting}, Due: ahead, Limit: most}
		for more := true; more; {
			waiting, err := jobs.List(ctx, f)
			if err != nil {
				return err
			}
			for _, job := range waiting {
				if f.After = job.ID; !ahead.Has(job.Updated) && !ahead.Has(job.Created) && (found == nil || !ahead.Has(found(job))) {
					continue
				}
				if _, err := jobs.RunNow(ctx, job.ID); err != nil {
					return err
				}
			}
			more = len(waiting) == most
		}
	}
	return nil
}
