package node

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// newName returns a name that no incarnation has had.
func (n *Node) newName() string { return n.prefix + "-" + strings.ToLower(rand.Text()[:10]) }

// join makes the node known to the store. It reports false if ctx ended first.
func (n *Node) join(ctx context.Context) bool {
	outage := n.outage("join")
	for ctx.Err() == nil {
		name := n.newName()
		n.ledger.incarnate(incarnation{name, n.ledger.incarnation().joined})
		opCtx, cancel := n.cfg.opContext(ctx)
		before := time.Now()
		var paused []string
		var err error
		if n.cfg.Parts.Pauses != nil {
			paused, err = n.cfg.Parts.Pauses.PausedKinds(opCtx)
		}
		asked, now := n.clock.Ask(), time.Time{}
		if err == nil {
			now, err = n.cfg.Store.Join(opCtx, name, n.cfg.Lease)
		}
		if err == nil {
			err = n.restAgain(opCtx, name)
		}
		cancel()
		if outage.over(err) {
			n.heard(asked, now)
			n.announcePaused(n.ledger.hearPaused(before, paused))
			n.renew(asked.At)
			n.ledger.incarnate(incarnation{name, now})
			n.news.wake()
			n.reviews.want()
			return true
		}
		outage.wait(ctx)
	}
	return false
}

// restAgain has a node that is to drain do so under a new name, too.
func (n *Node) restAgain(ctx context.Context, name string) error {
	if !n.ledger.standing().resting {
		return nil
	}
	_, err := n.cfg.Parts.Drains.DrainNode(ctx, name, true)
	return err
}

// renew notes that the heartbeat sent at that time was answered.
func (n *Node) renew(sent time.Time) {
	if n.ledger.renew(sent) {
		n.Wake()
	}
}

// leave signs off.
func (n *Node) leave(ctx context.Context) {
	opCtx, cancel := n.cfg.opContext(ctx)
	defer cancel()
	if err := n.cfg.Store.Leave(opCtx, n.name()); err != nil {
		n.cfg.Log().Warn("durable: could not leave the store; the jobs of this node are freed when its lease ends", "error", err)
	}
}
