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

// most is how many jobs of a kind are looked at in one call.
const most = 500

// Hasten has jobs of these kinds begin that were added or changed when the clock of the store showed a later time than
// now, and are due by that: they would wait until it shows that again. What a node has given back when the clock was set
// back was changed since, and shows by when it was added.
func Hasten(ctx context.Context, jobs *durable.Jobs, now time.Time, kinds iter.Seq[string]) error {
	ahead := durable.TimeRange{From: now.Add(Noise)}
	for kind := range kinds {
		for _, f := range []durable.Filter{{Updated: ahead}, {Created: ahead}} {
			f.Kind, f.States, f.Due, f.Limit = kind, []durable.State{durable.Waiting}, ahead, most
			waiting, err := jobs.List(ctx, f)
			if err != nil {
				return err
			}
			for _, job := range waiting {
				if _, err := jobs.RunNow(ctx, job.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
