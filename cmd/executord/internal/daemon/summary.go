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

// noteNotBegun records the times up to the drain, which has begun then, that no run is for. One of them may have
// waited for the end of its jitter. It is for a store that ends with the daemon: from another, the next daemon
// makes up for them.
func (d *Daemon) noteNotBegun(drain time.Time) {
	rows, _ := catalog.List(context.Background(), d.Store, d.Store.Namespace) // from memory, which always answers
	for _, row := range rows {
		e := d.entry(row.Name)
		if row.State != durable.Waiting || row.Spec.Off || row.Occurrence.After(drain) || e.began(row.Occurrence) {
			continue
		}
		n, _ := catalog.Passed(catalog.Times(row.Job), row.Occurrence, drain)
		passed := planOf(row.Job, row.Spec).dues(row.Occurrence, n+1)
		passed.logExcluded(e.log)
		if missed := passed.counts; missed.n > 0 {
			e.miss(missed.n, missed.first, "the drain began before executord came to it", "")
		}
	}
}
