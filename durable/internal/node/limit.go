package node

import (
	"context"
	"time"

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
		n.expectToken(c.Next)
	}
	return c, err
}

// expectToken has poll poll when a kind has its next token, unless another kind, which may be in another queue, has one
// before.
func (n *Node) expectToken(next time.Time) {
	pause := max(n.clock.Until(next), busyPause)
	if at := time.Now().Add(pause); n.tokensAt.IsZero() || at.Before(n.tokensAt) {
		n.tokensAt = at
		n.tokens.Reset(pause)
	}
}

// tokenCame notes that a kind for which jobs wait has a token.
func (n *Node) tokenCame() {
	n.tokensAt = time.Time{}
	n.ledger.seek()
}
