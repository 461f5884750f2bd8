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
	n.mu.turn.seek(time.Now())
	n.mu.Unlock()
}

// A turn is that of the kinds with a rate among the kinds of a node. The node claims no more of them than it has idle
// workers, since a job that waited for one would begin later than its token was for. A backlog of other kinds leaves
// none idle, as the node always has their next jobs at hand, so it has to hold back from time to time:
//
//	asked ──▶ passed over    no worker is idle
//	passed over ──▶ sought   a second later
//	any ──▶ sought           a token came, or a claim had all that it has asked for
//	any ──▶ asked            a claim had what there was
//
// While they are sought, the node takes nothing until a worker is idle, and then asks for them with the others. The
// turn is guarded by n.mu.
type turn struct {
	at time.Time // when they are sought; zero if they were asked for
}

// pass notes that others are claimed, and these are not asked for.
func (t *turn) pass(now time.Time) {
	if t.at.IsZero() {
		t.at = now.Add(minStall)
	}
}

// seek notes that jobs of these kinds wait, or may do so.
func (t *turn) seek(now time.Time) {
	if t.at.IsZero() || now.Before(t.at) {
		t.at = now
	}
}

// ask notes that a claim has asked for them, and whether there may be more.
func (t *turn) ask(now time.Time, more bool) {
	if t.at = (time.Time{}); more {
		t.at = now
	}
}

func (t *turn) asked() bool { return t.at.IsZero() }

func (t *turn) sought(now time.Time) bool { return !t.asked() && !now.Before(t.at) }

// ratedLocked reports whether one of these kinds, of which the node may have more jobs, has a rate.
func (n *Node) ratedLocked(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		k := n.cfg.Kind(name)
		return k.Rate != (store.Rate{}) && !n.mu.paused[name] && (k.Limit == 0 || n.mu.perKind[name] < k.Limit)
	})
}

// passLocked is called when the node has room for more of these kinds, but no worker is idle. It reports whether the
// node holds back.
func (n *Node) passLocked(names []string) bool {
	if !n.ratedLocked(names) {
		return false
	}
	n.mu.turn.pass(time.Now())
	if !n.mu.turn.sought(time.Now()) {
		return false
	}
	n.mu.budget = n.workers()
	return true
}

// soughtLocked reports whether the node holds back.
func (n *Node) soughtLocked() bool {
	return n.mu.turn.sought(time.Now()) && n.ratedLocked(n.cfg.Kinds())
}

// awaitedLocked reports whether a worker is idle, and the kinds with a rate are to be asked for.
func (n *Node) awaitedLocked() bool {
	return !n.mu.turn.asked() && n.idleLocked() > 0 && n.ratedLocked(n.cfg.Kinds())
}

// askedLocked notes what a claim has had of the kinds with a rate: if that is all that it has asked for of one, there
// may be more. It reports whether the claim has asked for such kinds, and there is no more.
func (n *Node) askedLocked(kinds []store.KindLimit, jobs []store.Job) (exhausted bool) {
	rated, more := false, false
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
		rated, more = true, more || had == k.Max
	}
	if rated {
		n.mu.turn.ask(time.Now(), more)
	}
	return rated && !more
}

// maxTokenLate is how long after the time of its token a job may begin that was claimed ahead.
const maxTokenLate = 10 * time.Millisecond

// missedTokenLocked reports whether the run has a token for a time that has passed, since it was claimed ahead, and no
// worker was idle at its time: workers that become idle together would begin several. It is claimed anew, as one that
// is due. One that was due when it was claimed begins in any case, so none is given back again and again.
func (r *run) missedTokenLocked() bool {
	at := r.timeLocked()
	return r.kind.Rate != (store.Rate{}) && !r.decided && r.since.Before(at) && r.n.clock.Now().Sub(at) > maxTokenLate
}

// idleLocked returns how many workers have nothing to begin, as far as the node knows.
func (n *Node) idleLocked() int {
	return max(n.workers()-n.mu.inState[armed]-n.mu.inState[begun], 0)
}
