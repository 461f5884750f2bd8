package node

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// pruneMore is how much a prune must have removed for the next to follow soon.
const pruneMore = 1000

// pruneLoop removes what has been kept for long enough, once a minute at a random second, and warns of jobs that no
// program here handles, and of queues that no node serves. While there is much to remove it goes on, piece by piece:
// otherwise more might be added than removed.
func (n *Node) pruneLoop(ctx context.Context) {
	outage := n.outage("prune")
	warned, unserved := make(map[string]bool), make(map[string]bool)
	removed := 0
	for {
		pause := 45*time.Second + rand.N(30*time.Second)
		if removed >= pruneMore {
			pause = 200 * time.Millisecond
		}
		if !sleep(ctx, pause) {
			return
		}
		opCtx, cancel := n.cfg.opContext(ctx)
		var err error
		removed, err = n.cfg.Store.Prune(opCtx, n.cfg.Keep)
		if err == nil {
			err = n.warnUnknown(opCtx, warned)
		}
		if err == nil {
			err = n.warnUnserved(opCtx, unserved)
		}
		cancel()
		if ctx.Err() == nil {
			outage.over(err)
		}
	}
}

// warnUnknown warns, once for each kind, of jobs that this program has no handler for.
func (n *Node) warnUnknown(ctx context.Context, warned map[string]bool) error {
	if n.cfg.Parts.Counter == nil {
		return nil
	}
	kinds, err := n.cfg.Parts.Counter.Kinds(ctx)
	for _, name := range kinds {
		if n.cfg.Kind(name) == nil && !warned[name] {
			warned[name] = true
			n.cfg.Log().Warn("durable: no handler for waiting jobs; they are kept", "kind", name)
		}
	}
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
