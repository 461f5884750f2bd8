package node

import (
	"errors"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/store"
)

// Status returns what is known of the node, how long its lease lasts, and how many jobs are in each phase. It reports
// false if it has not joined.
func (n *Node) Status() (info store.NodeInfo, left time.Duration, phases [4]int, joined bool) {
	if !n.clock.Known() {
		return info, left, phases, false
	}
	beat := n.clock.Now().Add(-n.ledger.renewedAgo())
	info = store.NodeInfo{NodeDetails: n.details(), Beat: beat.Truncate(time.Microsecond), Lease: n.cfg.Lease}
	node := n.ledger.incarnation()
	counts, held := n.ledger.counts()
	info.Name, info.Joined, info.Jobs, info.Draining = node.name, node.joined, held, n.ledger.standing().resting
	for s := claimed; s < gone; s++ {
		phases[s.phase()] += counts[s]
	}
	return info, n.ledger.leaseLeft(), phases, true
}

// Healthy returns what keeps the node from doing its part, nil if nothing does.
func (n *Node) Healthy() error {
	standing := n.ledger.standing()
	patience := n.cfg.Lease
	if standing.fenced {
		patience = -1
	}
	if err := n.health.long(patience); err != nil {
		return err
	}
	switch {
	case standing.draining:
		return errors.New("durable: not healthy: the node is draining")
	case standing.fenced:
		return errors.New("durable: not healthy: the node has no lease")
	case n.cfg.Pool.Stats().Stage != executor.StageRunning:
		return errors.New("durable: not healthy: the pool is shut down")
	}
	return nil
}

// Held returns what the node holds, in no order.
func (n *Node) Held() []Held { return n.ledger.jobs() }

// Now returns the time of the store. It reports false if that is not known yet, or n is nil.
func (n *Node) Now() (time.Time, bool) {
	if n == nil || !n.clock.Known() {
		return time.Time{}, false
	}
	return n.clock.Now(), true
}

// Progress returns that of a run that this node has begun, nil if it has none. It reports false if there is no such
// run.
func (n *Node) Progress(id store.ID) (p *store.RunProgress, here bool) {
	if n == nil {
		return nil, false
	}
	r, state := n.ledger.find(id)
	if state != begun {
		return nil, false
	}
	return r.progress(), true
}

// Output returns what a run of this node has written so far.
func (n *Node) Output(id store.ID, seq int64) (output.Log, bool) {
	if n == nil {
		return output.Log{}, false
	}
	r, state := n.ledger.find(id)
	if state != begun && state != committing || seq != 0 && seq != r.job.Runs+1 {
		return output.Log{}, false
	}
	var o output.Log
	if h := r.handling.Load(); h != nil {
		o = h.output.Load().Snapshot()
	}
	o.Seq, o.Live = r.job.Runs+1, state == begun
	return o, true
}

// HeldRef returns the run of that job which this node has, the zero Ref if it has none.
func (n *Node) HeldRef(id store.ID) (ref store.Ref) {
	if r, _ := n.ledger.find(id); r != nil {
		ref = r.ref()
	}
	return ref
}
