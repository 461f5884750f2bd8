package node

import (
	"context"

	"github.com/executor-go/executor/durable/store"
)

// bounded reports whether the end of a run of the kind may make room for another.
func (k *Kind) bounded() bool { return k.Limit > 0 || k.Global > 0 || k.limit().Limited() }

// limit returns how many of the kind all nodes together may hold, and how often they may begin.
func (k *Kind) limit() store.KindLimit {
	return store.KindLimit{Kind: k.Name, Global: k.Global, Rate: k.Rate, PerPartition: k.PerPartition}
}

// claimJobs claims by the method that the queue, and the limits of the kinds, ask for. Only poll calls it.
func (n *Node) claimJobs(ctx context.Context, queue string, r store.ClaimRequest) (c store.ClaimResult, err error) {
	limited := false
	for _, k := range r.Kinds {
		limited = limited || k.Limited()
	}
	switch {
	case queue != "":
		c, err = n.cfg.Parts.Queues.ClaimQueue(ctx, queue, r)
	case limited:
		c, err = n.cfg.Parts.Limiter.ClaimLimited(ctx, r)
	default:
		return n.cfg.Store.Claim(ctx, r)
	}
	if err == nil && !c.Next.IsZero() {
		n.tokens.Reset(max(n.clock.Until(c.Next), busyPause))
	}
	return c, err
}

// idleLocked returns how many workers have nothing to begin, as far as the node knows. Of a kind with a rate no more
// jobs are claimed: one that waited for a worker would begin later than its token was for.
func (n *Node) idleLocked() int {
	return max(n.workers()-n.mu.inState[armed]-n.mu.inState[begun], 0)
}
