package daemon

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
		e.log.Info("job summary", "runs", c.Runs, "failed", c.Failed, "skipped", c.Skipped, "missed", c.Missed)
		sum.Runs += c.Runs
		sum.Failed += c.Failed
		sum.Interrupted += c.Interrupted
		sum.Skipped += c.Skipped
		sum.Missed += c.Missed
	}
	return sum
}
