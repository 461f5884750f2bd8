package durable

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// busyPause is how long a node waits that found another one claiming jobs of a kind with a global limit: the time of a
// few claims.
const busyPause = 5 * time.Millisecond

// pollLoop claims until ctx ends.
func (n *node) pollLoop(ctx context.Context) {
	outage := n.outage("claim")
	timer := time.NewTimer(0)
	defer timer.Stop()
	audit := time.NewTicker(auditInterval)
	defer audit.Stop()
	after := func(d time.Duration) {
		timer.Reset(d)
		n.nextPoll.Store(int64(time.Since(n.clock.base) + d))
	}
	for {
		tick, claim := true, true
		var idle time.Time // when a heartbeat found nothing to claim, and so stood in for this poll
		select {
		case <-ctx.Done():
			return
		case <-n.wakeup:
			tick = false
		case <-audit.C:
			n.scheduleAudit()
			tick, claim = false, outage.failed > 0
		case idle = <-n.idleBeats:
			claim = outage.failed > 0
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		if tick {
			n.giveBackLate()
			n.retryRelease()
		}
		called, err := n.poll(ctx, claim)
		if ctx.Err() != nil {
			return
		}
		switch {
		case called && !outage.over(err):
			after(outage.delay())
		case tick && !claim:
			after(n.jobs.cfg.Poll - time.Since(idle))
		case tick:
			after(n.jobs.cfg.Poll)
		}
	}
}

// poll releases what is to be released and then, if claim is set, claims as much as there is room for. First come no
// more than the workers can begin soon, so that other nodes get their part of a backlog. If that reached what is not
// due yet, as much follows as may be claimed ahead, since that must be here in time. It reports whether it called the
// store: if it did not, a nil error says nothing of the store.
func (n *node) poll(ctx context.Context, claim bool) (called bool, err error) {
	if called, err = n.release(ctx); err != nil || !claim {
		return called, err
	}
	for later := false; ; later = true {
		req, ok := n.request(later)
		if !ok {
			return called, nil
		}
		again, err := n.claim(ctx, req)
		if err != nil || !again {
			return true, err
		}
		called = true
	}
}

// claim claims, and reports whether there may be more that is not due yet.
func (n *node) claim(ctx context.Context, req ClaimRequest) (again bool, err error) {
	opCtx, cancel := n.opContext(ctx)
	defer cancel()
	asked := n.clock.ask()
	claims, err := n.jobs.store.Claim(opCtx, req)
	if err != nil {
		n.mu.Lock()
		n.loseAnswerLocked()
		n.mu.Unlock()
		return false, err
	}
	n.heard(asked, claims.Now)
	if claims.Busy {
		time.AfterFunc(busyPause, n.wake)
	}
	again = claims.More && slices.ContainsFunc(claims.Jobs, func(j Job) bool { return j.State == Claimed })
	n.mu.Lock()
	n.claimedLocked(claims.More && !again)
	n.mu.payloads.learn(claims.Jobs)
	n.mu.Unlock()
	n.gained.Add(int64(len(claims.Jobs)))
	n.hold(req.Node, claims.Jobs)
	return again, nil
}

// request returns what to claim: jobs that are due now, or jobs that are due later. It reports false if there is no
// room.
func (n *node) request(later bool) (ClaimRequest, bool) {
	if !n.open() {
		return ClaimRequest{}, false
	}
	names := n.jobs.kindNames()
	rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.takesLocked() {
		return ClaimRequest{}, false
	}
	if armed := n.mu.inState[armed]; armed > 0 && armed > n.mu.budget/2 {
		n.mu.more = true // a poll is worth its while when half of them have begun
		return ClaimRequest{}, false
	}
	free := n.freeLocked(later)
	if free <= 0 {
		n.mu.more = true // there may be room when some have begun
		return ClaimRequest{}, false
	}
	req := ClaimRequest{Node: n.mu.name, Ahead: n.ahead(), Lead: n.lead(), Limit: free}
	for _, name := range names {
		if n.mu.paused[name] {
			continue
		}
		most := free
		k := n.jobs.kind(name)
		if k.limit > 0 {
			most = min(most, k.limit-n.mu.perKind[name])
		}
		if most > 0 {
			req.Kinds = append(req.Kinds, KindLimit{Kind: name, Max: most, Global: k.global})
		}
	}
	return req, len(req.Kinds) > 0
}
