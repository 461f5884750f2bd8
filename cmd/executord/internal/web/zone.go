package web

import (
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/ui/page"
)

// jobIn returns a job with its times in the zone in which they are shown. What is known of the job is not changed.
func jobIn(z page.Zone, j view.Job) view.Job {
	if z.OfJobs() {
		return j
	}
	in := func(t *time.Time) *time.Time {
		if t == nil {
			return nil
		}
		shown := z.In(*t)
		return &shown
	}
	run := func(r *view.Run) *view.Run {
		if r == nil {
			return nil
		}
		shown := runIn(z, *r)
		return &shown
	}
	j.Next, j.Until, j.Last, j.Running = in(j.Next), z.In(j.Until), run(j.Last), run(j.Running)
	j.Health.Since = z.In(j.Health.Since)
	j.Past = slices.Clone(j.Past)
	for i := range j.Past {
		j.Past[i].Finished = z.In(j.Past[i].Finished)
	}
	return j
}

// factsIn and runIn are jobIn for a run.
func factsIn(z page.Zone, f record.Facts) record.Facts {
	f.Run = runIn(z, f.Run)
	return f
}

func runIn(z page.Zone, r view.Run) view.Run {
	r.Due, r.Started, r.Finished = z.OfJob(r.Due), z.OfJob(r.Started), z.OfJob(r.Finished)
	return r
}
