package node

import (
	"context"
	"time"
)

// auditInterval is the time between two releases without a reason.
const auditInterval = time.Minute

// release frees in the store what this node holds there, but not here. It reports whether it called the store.
func (n *Node) release(ctx context.Context) (called bool, err error) {
	r, due := n.ledger.beginRelease()
	if !due {
		return false, nil
	}
	opCtx, cancel := n.cfg.opContext(ctx)
	defer cancel()
	left, err := n.cfg.Store.Release(opCtx, r.name, r.keep)
	if n.ledger.endRelease(r, left, err) {
		n.reviews.want()
	}
	return true, err
}
