package node

import (
	"errors"

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
		if k := n.cfg.Kind(jobs[i].Kind); k == nil || k.bounded() || !n.cfg.serves(jobs[i].Queue) {
			return store.Placement{}
		}
	}
	if !n.open() {
		return store.Placement{}
	}
	lead := n.lead()
	later := n.clock.Until(jobs[0].Due) > lead || jobs[0].Due.IsZero() && jobs[0].Delay > lead
	p := n.ledger.beginInsert(jobs, later)
	if p.Node != "" {
		p.Ahead, p.Lead = n.ahead(), lead
	}
	return p
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
	runs, due := n.ledger.endInsert(p.Node, jobs, n.runs(held), err != nil)
	for _, r := range runs {
		n.arm(r)
	}
	if near || due {
		n.Wake()
	}
}

// hold takes jobs that the store has given to this node under that name.
func (n *Node) hold(name string, jobs []store.Job) {
	for _, r := range n.ledger.hold(name, n.runs(jobs)) {
		n.arm(r)
	}
}

// runs returns runs of jobs that the store has given to this node.
func (n *Node) runs(jobs []store.Job) []*run {
	runs := make([]*run, len(jobs))
	now := n.clock.Now()
	for i := range jobs {
		runs[i] = &run{job: jobs[i], kind: n.cfg.Kind(jobs[i].Kind), since: now}
	}
	return runs
}
