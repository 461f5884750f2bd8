package durable

import (
	"slices"
)

// beginInsert returns whether, and how, new jobs may be placed on this node at once. Until endInsert no release frees
// them, since the node does not hold them yet.
func (n *node) beginInsert(jobs []NewJob) Placement {
	for i := range jobs {
		if k := n.jobs.kind(jobs[i].Kind); k == nil || k.limit > 0 || k.global > 0 {
			return Placement{}
		}
	}
	if !n.open() {
		return Placement{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(jobs, func(j NewJob) bool { return n.mu.paused[j.Kind] }) {
		return Placement{}
	}
	lead := n.lead()
	free := n.freeLocked(n.clock.until(jobs[0].Due) > lead || jobs[0].Due.IsZero() && jobs[0].Delay > lead)
	if free <= 0 || !n.takesLocked() {
		return Placement{}
	}
	n.mu.inserting[&jobs[0]] = jobs
	return Placement{Node: n.mu.name, Ahead: n.ahead(), Lead: lead, Limit: free}
}

// endInsert takes what the insert has placed on this node.
func (n *node) endInsert(p Placement, jobs []NewJob, results []InsertResult, err error, asked question) {
	if err != nil {
		results = nil // they may not be true
	}
	if len(results) > 0 {
		n.heard(asked, results[0].Now)
	}
	near := false
	var held []Job
	for i := range results {
		switch {
		case results[i].Held:
			held = append(held, results[i].Job)
		case results[i].State == Waiting && n.clock.until(results[i].Due) < n.ahead():
			near = true
		}
	}
	n.mu.Lock()
	runs := n.holdLocked(p.Node, held)
	if p.Node != "" {
		delete(n.mu.inserting, &jobs[0]) // in the same step: what is dropped from here on is to be released
		if err != nil {
			n.loseAnswerLocked()
		}
	}
	poll := near || n.mu.releasesDue > 0
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
	if poll {
		n.wake()
	}
}

// hold takes jobs that the store has given to this node under that name.
func (n *node) hold(name string, jobs []Job) {
	n.mu.Lock()
	runs := n.holdLocked(name, jobs)
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
}

// holdLocked is hold, except that the caller arms the runs that it returns.
func (n *node) holdLocked(name string, jobs []Job) []*run {
	runs := make([]*run, 0, len(jobs))
	now := n.clock.now()
	for i := range jobs {
		if n.mu.name != name || n.mu.fenced || n.mu.draining {
			n.mu.releasesDue++
			break
		}
		if n.mu.paused[jobs[i].Kind] { // since they were asked for
			n.mu.releasesDue++
			continue
		}
		r := &run{n: n, job: jobs[i], kind: n.jobs.kind(jobs[i].Kind), since: now}
		if old := n.mu.held[r.job.ID]; old != nil {
			if old.job.Epoch >= r.job.Epoch {
				continue // a later answer came first: the job was freed since, and claimed again
			}
			old.dropLocked() // its epoch is over
		}
		r.enterLocked()
		runs = append(runs, r)
	}
	return runs
}
