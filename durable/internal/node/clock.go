package node

import (
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
)

// heard learns the time from an answer of the store.
func (n *Node) heard(asked storeclock.Question, now time.Time) {
	moved, jumped := n.clock.Observe(asked, time.Now(), now)
	if jumped {
		n.cfg.Log().Warn("durable: the clock of the database jumped", "by", moved)
		if moved < 0 {
			n.reviews.saw(-moved)
		}
	}
	if moved != 0 {
		n.rearm()
	}
}

// rearm computes anew when the runs that wait begin, after a jump of the store's clock.
func (n *Node) rearm() {
	for _, r := range n.ledger.waiting() {
		n.arm(r)
	}
}
