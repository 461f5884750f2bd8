package node

import (
	"context"
	"slices"
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
	n.mu.Lock()
	n.mu.wanted = true
	n.mu.Unlock()
}

// ratedLocked reports whether one of these kinds, of which the node may have more jobs, has a rate.
func (n *Node) ratedLocked(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		k := n.cfg.Kind(name)
		return k.Rate != (store.Rate{}) && !n.mu.paused[name] && (k.Limit == 0 || n.mu.perKind[name] < k.Limit)
	})
}

// holdBackLocked reports whether the node must claim nothing until a worker is idle. It is called when no worker is, so
// that the node can't ask for a kind with a rate: a backlog of other kinds would keep all workers busy, and that kind
// would wait for the end of the backlog. The node holds back at once if jobs of the kind wait, and else after a while,
// to see whether some do.
func (n *Node) holdBackLocked() bool {
	n.mu.lacking = true
	if n.mu.wanted {
		n.mu.budget = n.workers()
		return true
	}
	if n.mu.lackedSince.IsZero() {
		n.mu.lackedSince = time.Now()
	}
	return time.Since(n.mu.lackedSince) >= minStall
}

// askedLocked notes what a claim has had of the kinds with a rate: if that is all that it has asked for of one, there
// may be more.
func (n *Node) askedLocked(kinds []store.KindLimit, jobs []store.Job) {
	for _, k := range kinds {
		if k.Rate == (store.Rate{}) {
			continue
		}
		had := 0
		for i := range jobs {
			if jobs[i].Kind == k.Kind {
				had++
			}
		}
		n.mu.lackedSince, n.mu.wanted = time.Time{}, had == k.Max
		if n.mu.wanted {
			return
		}
	}
}

// idleLocked returns how many workers have nothing to begin, as far as the node knows. Of a kind with a rate no more
// jobs are claimed: one that waited for a worker would begin later than its token was for.
func (n *Node) idleLocked() int {
	return max(n.workers()-n.mu.inState[armed]-n.mu.inState[begun], 0)
}
