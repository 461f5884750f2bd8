package node

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// queues returns the queues that the node serves, in random order, so that none comes before another.
func (n *Node) queues() []string {
	served := n.cfg.Queues()
	if len(served) == 1 {
		return served
	}
	all := slices.Clone(served)
	rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// reportedQueues returns the queues that the node serves, nil if that is the default queue alone.
func (n *Node) reportedQueues() []string {
	served := n.cfg.Queues()
	if len(served) == 1 && served[0] == "" {
		return nil
	}
	return served
}

// QueuesChanged is called when Config.Queues has changed. What has not begun of queues that the node does not serve any
// more is given back, and what waits in others is asked for. On a nil node it does nothing.
func (n *Node) QueuesChanged() {
	if n == nil {
		return
	}
	n.ledger.giveBack(func(r *run) bool { return !n.cfg.serves(r.job.Queue) })
	n.reporter.wake()
	n.Wake()
}

// hearDraining takes the answer of a heartbeat whether somebody has asked this node to drain. If so, it gives back what
// has not begun, and takes nothing; what runs goes on.
func (n *Node) hearDraining(drain bool) {
	switch was := n.ledger.rest(drain); {
	case drain && !was:
		n.cfg.Log().Info("durable: this node was asked to drain; it takes no more jobs", "node", n.name())
		n.Wake()
	case was && !drain:
		n.cfg.Log().Info("durable: this node takes jobs again", "node", n.name())
		n.Wake()
	}
}

// restAgain has a node that is to drain do so under a new name, too.
func (n *Node) restAgain(ctx context.Context, name string) error {
	if !n.ledger.standing().resting {
		return nil
	}
	_, err := n.cfg.Parts.Drains.DrainNode(ctx, name, true)
	return err
}

// unservedFor is for how long a job in a queue must have been due before there is a warning.
const unservedFor = time.Minute

// warnUnserved warns of queues in which jobs wait, while no node that is alive, and does not drain, serves them: once,
// until one does. It counts the jobs only where there may be something to warn of.
func (n *Node) warnUnserved(ctx context.Context, warned map[string]bool) error {
	if n.cfg.Parts.Queues == nil || n.cfg.Parts.Reports == nil {
		return nil
	}
	names, err := n.cfg.Parts.Queues.QueueNames(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	nodes, err := n.cfg.Parts.Reports.Nodes(ctx)
	if err != nil {
		return err
	}
	unserved := slices.DeleteFunc(names, func(name string) bool {
		served := slices.ContainsFunc(nodes, func(i store.NodeInfo) bool { return !i.Draining && slices.Contains(i.Queues, name) })
		if served {
			delete(warned, name)
		}
		return served
	})
	if !slices.ContainsFunc(unserved, func(name string) bool { return !warned[name] }) {
		return nil
	}
	counts, err := n.cfg.Parts.Queues.QueueCounts(ctx)
	if err != nil {
		return err
	}
	for _, c := range counts {
		if !slices.Contains(unserved, c.Queue) {
			continue
		}
		if n.clock.Until(c.Due) > -unservedFor {
			delete(warned, c.Queue)
		} else if !warned[c.Queue] {
			warned[c.Queue] = true
			n.cfg.Log().Warn("durable: jobs wait in a queue that no node serves; they are kept", "queue", c.Queue, "jobs", c.Jobs)
		}
	}
	return nil
}
