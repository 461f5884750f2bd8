package node

import (
	"context"
	"time"

	executor "github.com/executor-go/executor"
)

// drain ends the node's work. It returns when nothing is held, or when the store has not taken the last outcomes within
// a lease after the last handler returned.
func (n *Node) drain(ctx context.Context) {
	n.ledger.drain()
	n.drains(executor.ErrShutdown)

	bodies := make(chan struct{})
	go func() {
		n.ledger.bodies.Wait()
		close(bodies)
	}()
	n.releaseUntil(ctx, bodies)
	timer := time.NewTimer(n.cfg.Lease)
	defer timer.Stop()
	select {
	case <-n.ledger.empty:
	case <-timer.C:
		n.cfg.Log().Error("durable: gave up on outcomes that the store did not accept; the jobs will run again")
	}
}

// releaseUntil releases what has not begun, also what comes later from an insert that was under way, until the handlers
// have returned. After Config.Drain it cancels these.
func (n *Node) releaseUntil(ctx context.Context, bodies <-chan struct{}) {
	// On a timer of its own, since a call that the store does not answer must not delay it.
	patience := time.AfterFunc(max(n.cfg.Drain, 0), func() { n.ledger.handlers().cancel(executor.ErrShutdown) })
	defer patience.Stop()
	again := time.NewTimer(n.cfg.Poll)
	defer again.Stop()
	outage := n.outage("release")
	for {
		if called, err := n.release(ctx); called && !outage.over(err) {
			again.Reset(outage.delay())
		}
		select {
		case <-bodies:
		case <-n.wakeup:
		case <-again.C:
			n.ledger.retryRelease()
			again.Reset(n.cfg.Poll)
		}
		select {
		case <-bodies: // whatever else there was
			return
		default:
		}
	}
}
