package node

import (
	"errors"
	"slices"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

// Insert has insert add jobs to the store, and takes those that it has placed on this node. On a nil node none is
// placed.
func (n *Node) Insert(jobs []store.NewJob, insert func(store.Placement) ([]store.InsertResult, error)) (placed []store.InsertResult, err error) {
	if n == nil {
		return insert(store.Placement{})
	}
	p := n.beginInsert(jobs)
	asked := n.clock.Ask()
	err = errNoAnswer
	defer func() { n.endInsert(p, jobs, placed, err, asked) }()
	placed, err = insert(p)
	return placed, err
}

// errNoAnswer is the error of an insert that panics: the store may have taken the jobs.
var errNoAnswer = errors.New("durable: the insert did not return")

// beginInsert returns whether, and how, new jobs may be placed on this node at once. Until endInsert no release frees
// them, since the node does not hold them yet.
func (n *Node) beginInsert(jobs []store.NewJob) store.Placement {
	for i := range jobs {
		if k := n.cfg.Kind(jobs[i].Kind); k == nil || k.bounded() || !n.serves(jobs[i].Queue) {
			return store.Placement{}
		}
	}
	if !n.open() {
		return store.Placement{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(jobs, func(j store.NewJob) bool { return n.mu.paused[j.Kind] }) {
		return store.Placement{}
	}
	lead := n.lead()
	free := n.freeLocked(n.clock.Until(jobs[0].Due) > lead || jobs[0].Due.IsZero() && jobs[0].Delay > lead)
	if free <= 0 || n.soughtLocked() || !n.takesLocked() {
		return store.Placement{}
	}
	n.mu.inserting[&jobs[0]] = jobs
	return store.Placement{Node: n.mu.name, Ahead: n.ahead(), Lead: lead, Limit: free}
}

// endInsert takes what the insert has placed on this node.
func (n *Node) endInsert(p store.Placement, jobs []store.NewJob, results []store.InsertResult, err error, asked storeclock.Question) {
	if err != nil {
		results = nil // they may not be true
	}
	if len(results) > 0 {
		n.heard(asked, results[0].Now)
	}
	near := false
	var held []store.Job
	for i := range results {
		switch {
		case results[i].Held:
			held = append(held, results[i].Job)
		case results[i].State == store.Waiting && n.clock.Until(results[i].Due) < n.ahead():
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
		n.Wake()
	}
}

// keepsLocked reports whether the node may have, and begin, a job that has not begun. If not, it is to be given back.
func (n *Node) keepsLocked(j *store.Job) bool {
	return !n.mu.fenced && !n.mu.draining && !n.mu.resting && !n.mu.paused[j.Kind] && n.serves(j.Queue)
}

// hold takes jobs that the store has given to this node under that name.
func (n *Node) hold(name string, jobs []store.Job) {
	n.mu.Lock()
	runs := n.holdLocked(name, jobs)
	n.mu.Unlock()
	for _, r := range runs {
		r.arm()
	}
}

// holdLocked is hold, except that the caller arms the runs that it returns.
func (n *Node) holdLocked(name string, jobs []store.Job) []*run {
	runs := make([]*run, 0, len(jobs))
	now := n.clock.Now()
	for i := range jobs {
		if n.mu.name != name || !n.keepsLocked(&jobs[i]) { // since they were asked for
			n.mu.releasesDue++
			continue
		}
		r := &run{n: n, job: jobs[i], kind: n.cfg.Kind(jobs[i].Kind), since: now}
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
