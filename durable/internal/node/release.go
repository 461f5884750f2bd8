package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// auditInterval is the time between two releases without a reason.
const auditInterval = time.Minute

// loseAnswerLocked notes that the answer to a claim or an insert was lost. The store may have taken it all the same, or
// may take it yet.
func (n *Node) loseAnswerLocked() {
	n.mu.releasesDue++
	n.mu.answerLost = time.Now()
}

// release frees in the store what this node holds there, but not here. It reports whether it called the store.
//
// Jobs that are being inserted are kept, since the node may get them. What becomes due for release during the call is
// left for the next.
func (n *Node) release(ctx context.Context) (called bool, err error) {
	n.mu.Lock()
	if n.mu.releasesDue == 0 || n.mu.fenced {
		n.mu.Unlock()
		return false, nil
	}
	name, seen, far := n.mu.name, n.mu.releasesDue, n.mu.releaseFar
	n.mu.releaseFar = false
	early := time.Since(n.mu.answerLost) < n.cfg.Lease // what was lost may take effect after this release
	keep := make([]store.ID, 0, len(n.mu.held))
	for id := range n.mu.held {
		keep = append(keep, id)
	}
	for _, jobs := range n.mu.inserting {
		for i := range jobs {
			keep = append(keep, jobs[i].ID)
		}
	}
	n.mu.Unlock()
	opCtx, cancel := n.opContext(ctx)
	defer cancel()
	left, err := n.cfg.Store.Release(opCtx, name, keep)
	n.mu.Lock()
	defer n.mu.Unlock()
	if far = far || n.mu.releaseFar; far && (err != nil || left) {
		n.mu.releaseFar = true
	} else if far {
		n.reviews.want()
	}
	if err != nil {
		return true, err
	}
	n.mu.releasesDue -= seen
	n.mu.releaseAgain = left || early
	return true, nil
}

// scheduleAudit makes a release due though nothing is known to have gone wrong. A claim that was given up may have been
// under way for longer than a release waits for it. What it takes is this node's: as long as the node lives, no other
// would run it.
func (n *Node) scheduleAudit() {
	n.mu.Lock()
	n.mu.releasesDue++
	n.mu.Unlock()
}

// retryRelease makes a release due if the last one could not free all, or may have come too early.
func (n *Node) retryRelease() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.releaseAgain {
		n.mu.releaseAgain = false
		n.mu.releasesDue++
	}
}
