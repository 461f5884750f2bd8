package node

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// busyPause is how long a node waits that found another one claiming jobs of a kind with a global limit: the time of a
// few claims.
const busyPause = 5 * time.Millisecond

// pollLoop claims until ctx ends.
func (n *Node) pollLoop(ctx context.Context) {
	outage := n.outage("claim")
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer n.tokens.Stop()
	audit := time.NewTicker(auditInterval)
	defer audit.Stop()
	after := func(d time.Duration) {
		timer.Reset(d)
		n.nextPoll.Store(int64(time.Since(n.clock.Base) + d))
	}
	for {
		tick, claim := true, true
		var idle time.Time // when a heartbeat found nothing to claim, and so stood in for this poll
		select {
		case <-ctx.Done():
			return
		case <-n.wakeup:
			tick = false
		case <-n.tokens.C:
			n.tokenCame()
			tick = false
		case <-audit.C:
			n.ledger.audit()
			tick, claim = false, outage.failed > 0
		case idle = <-n.idleBeats:
			claim = outage.failed > 0
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		if tick {
			n.ledger.giveBackLate(n.cfg.Pool.Stats(), n.cfg.Poll, n.clock.Now())
			n.ledger.retryRelease()
		}
		called, err := n.poll(ctx, claim)
		if ctx.Err() != nil {
			return
		}
		switch {
		case called && !outage.over(err):
			after(outage.delay())
		case tick && !claim:
			after(n.cfg.Poll - time.Since(idle))
		case tick:
			after(n.cfg.Poll)
		}
	}
}

// poll releases what is to be released and then, if claim is set, claims as much as there is room for. First come no
// more than the workers can begin soon, so that other nodes get their part of a backlog. If that reached what is not
// due yet, as much follows as may be claimed ahead, since that must be here in time. It reports whether it called the
// store: if it did not, a nil error says nothing of the store.
func (n *Node) poll(ctx context.Context, claim bool) (called bool, err error) {
	if called, err = n.release(ctx); err != nil || !claim {
		return called, err
	}
	more := false
	for later, queues := false, n.queues(); len(queues) > 0; later = true {
		var rest []string // of which there may be more that is not due yet
		for _, queue := range queues {
			req, ok := n.request(later, true)
			if !ok {
				return called, nil
			}
			again := false
			if again, more, err = n.claim(ctx, queue, later, req, more); err != nil {
				return true, err
			}
			if called = true; again {
				rest = append(rest, queue)
			}
		}
		queues = rest
	}
	return called, nil
}

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

// claim claims of a queue. It reports whether there may be more that is not due yet, and more that is; the latter also
// if a claim of another queue has said so. If the claim was for no more than the idle workers, for the sake of kinds
// with a rate, and of those there is no more, then as much of the other kinds follows as there is room for.
func (n *Node) claim(
	ctx context.Context, queue string, later bool, req store.ClaimRequest, others bool,
) (again, more bool, err error) {
	opCtx, cancel := n.cfg.opContext(ctx)
	defer cancel()
	asked := n.clock.Ask()
	claims, err := n.claimJobs(opCtx, queue, req)
	if err != nil {
		n.ledger.loseAnswer()
		return false, false, err
	}
	n.heard(asked, claims.Now)
	if claims.Busy {
		time.AfterFunc(busyPause, n.Wake)
	}
	again = claims.More && slices.ContainsFunc(claims.Jobs, func(j store.Job) bool { return j.State == store.Claimed })
	more = others || claims.More && !again
	exhausted := n.ledger.claimed(req.Kinds, claims.Jobs, later, more)
	rest := exhausted && claims.More && !again && !claims.Busy
	n.gained.Add(int64(len(claims.Jobs)))
	n.hold(req.Node, claims.Jobs)
	if rest {
		if req, ok := n.request(later, false); ok {
			return n.claim(ctx, queue, later, req, more)
		}
	}
	return again, more, nil
}

// request returns what to claim: jobs that are due now, or jobs that are due later; of kinds with a rate as well, if
// rated is set. It reports false if there is no room.
func (n *Node) request(later, rated bool) (store.ClaimRequest, bool) {
	if !n.open() {
		return store.ClaimRequest{}, false
	}
	names := n.cfg.Kinds()
	rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	return n.ledger.request(names, later, rated, n.ahead(), n.lead())
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
