package daemon

import (
	"context"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// Summary is what became of all jobs.
type Summary struct {
	Counts
	Jobs      int
	Survivors int // processes that could not be ended
}

// summarize logs the counts of each job and returns their sum.
func (d *Daemon) summarize() Summary {
	d.mu.Lock()
	all := d.mu.order
	d.mu.Unlock()
	sum := Summary{Jobs: len(all)}
	for _, e := range all {
		e.logSkips()
		e.mu.Lock()
		c := e.mu.Counts
		e.mu.Unlock()
		e.log.Info("job summary", about.Key, about.JobSummary, "runs", c.Runs, "failed", c.Failed, "skipped", c.Skipped, "missed", c.Missed)
		sum.Runs += c.Runs
		sum.Failed += c.Failed
		sum.Interrupted += c.Interrupted
		sum.Skipped += c.Skipped
		sum.Missed += c.Missed
	}
	return sum
}

// noteNotBegun records the times up to the drain, which has begun then, that no run is for, and the runs that have not
// begun. It is for a store that ends with the daemon: from another, the next daemon makes up for them.
func (d *base) noteNotBegun(drain time.Time) {
	const reason = "the drain began before executord came to it"
	jobs, _ := catalog.Select(context.Background(), d.Store, d.Store.Namespace) // from memory, which always answers
	for _, j := range jobs {
		e := d.entry(j.Name)
		for _, run := range j.Open {
			if due := catalog.RunOf(run).Due.In(j.Spec.Location()); !run.State.Granted() && run.Runs == 0 {
				e.miss(1, due, reason, "")
			}
		}
		if j.State == durable.Waiting && !j.Spec.Off && !j.Due.After(drain) {
			e.missThrough(j, drain, reason, "")
		}
	}
}
