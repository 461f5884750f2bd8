package node

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
)

// New returns a node. Contexts of handlers have the values of ctx.
func New(ctx context.Context, c Config) *Node {
	host, _ := os.Hostname()
	name := c.Name
	if name == "" {
		name = host
	}
	n := &Node{
		cfg: c, clock: storeclock.New(), values: context.WithoutCancel(ctx),
		prefix: strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "?"),
		host:   strings.ToValidUTF8(strings.ReplaceAll(host, "\x00", ""), "?"),
		wakeup: newWaker(), news: newWaker(), committer: newCommitter(),
		idleBeats: make(chan time.Time), tokens: time.NewTimer(0),
	}
	n.tokens.Stop()
	n.env.Work, n.env.clock = &n.cfg.Work, n.clock
	n.env.leaving, n.drains = context.WithCancelCause(context.Background())
	n.begins.committer = n.committer
	n.reviews.wanted = newWaker()
	n.ledger = newLedger(&n.cfg, n.passAlone)
	return n
}

// Run is the node's life. Handlers, heartbeats and commits outlast ctx until the node has drained. The node signs off
// when no call of it is under way: a confirm that the store receives after that could make a job run for a node that
// has left, and what never began would count as lost with it.
func (n *Node) Run(ctx context.Context) {
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	joined := n.join(ctx)
	if joined {
		wg.Go(func() { n.heartbeatLoop(live) })
		wg.Go(func() { n.commitLoop(live) })
		wg.Go(func() { n.reportLoop(live) })
		wg.Go(func() { n.listenLoop(ctx) })
		wg.Go(func() { n.pruneLoop(ctx) })
		wg.Go(func() { n.reviewLoop(ctx) })
		n.pollLoop(ctx)
		n.drain(live)
	}
	stop()
	wg.Wait()
	if joined {
		n.leave(context.WithoutCancel(ctx))
	}
}
