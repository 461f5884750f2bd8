// Package node is one program's part in running the jobs of a store: it polls, places, runs, commits, renews its lease,
// releases and drains. What it needs of the program is in Config.
package node

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
)

// confirmLead is how long before its time a claim is confirmed at least: the time of a few commits. See node.lead.
const confirmLead = 25 * time.Millisecond

// A Node is one program's part in running the jobs. Seven goroutines belong to it. The first is the one that calls Run,
// which starts the others and waits for them:
//
//	poll       claims what is due before the next poll, and releases
//	heartbeat  renews the lease, and stands in for a poll while there is nothing to claim
//	committer  commits confirms and outcomes in groups
//	reporter   reports the node and the progress of its runs
//	listen     wakes poll when the store reports a change
//	prune      removes what has been kept for long enough
//	review     has schedules go on from the present when the store's clock was set back
//
// Handlers run on the pool's workers. What the node holds and may do is in its ledger, which all of these ask and tell;
// see runState for the life of a run.
type Node struct {
	cfg       Config
	clock     *storeclock.Clock
	env       environment // of handlings
	ledger    *ledger
	committer *committer
	reporter  *reporter
	host      string
	prefix    string                  // of the node's names
	values    context.Context         // that of Run, without its end: for handlers
	drains    context.CancelCauseFunc // ends what env.leaving is

	wakeup    chan struct{}  // one slot: poll is to poll now
	tokens    *time.Timer    // when poll is to poll since a kind has a token again; poll's own
	tokensAt  time.Time      // when that is, zero if no kind waits for one; poll's own
	idleBeats chan time.Time // to poll: when a heartbeat was sent that found nothing to claim
	gained    atomic.Int64   // jobs claimed since the beginning

	nextPoll atomic.Int64 // when poll polls next, unless it is woken: in nanoseconds since clock.Base

	health  health
	begins  begins
	reviews reviews

	poolClosed sync.Once // the log has the line that the pool is shut down
}

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
		wakeup: make(chan struct{}, 1), idleBeats: make(chan time.Time), tokens: time.NewTimer(0),
	}
	n.tokens.Stop()
	n.env.Work, n.env.clock = &n.cfg.Work, n.clock
	n.env.leaving, n.drains = context.WithCancelCause(context.Background())
	n.committer, n.reporter = newCommitter(n), newReporter(n)
	n.begins.committer = n.committer
	n.reviews.wanted = make(chan struct{}, 1)
	n.ledger = newLedger(&n.cfg, n.passAlone)
	return n
}

// newName returns a name that no incarnation has had.
func (n *Node) newName() string { return n.prefix + "-" + strings.ToLower(rand.Text()[:10]) }

// Run is the node's life. Handlers, heartbeat and committer outlast ctx until the node has drained. The node signs off
// when no call of it is under way: a confirm that the store receives after that could make a job run for a node that
// has left, and what never began would count as lost with it.
func (n *Node) Run(ctx context.Context) {
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	joined := n.join(ctx)
	if joined {
		wg.Go(func() { n.heartbeatLoop(live) })
		wg.Go(func() { n.committer.loop(live) })
		wg.Go(func() { n.reporter.loop(live) })
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
			n.reporter.wake()
			n.reviews.want()
			return true
		}
		outage.wait(ctx)
	}
	return false
}

// leave signs off.
func (n *Node) leave(ctx context.Context) {
	opCtx, cancel := n.cfg.opContext(ctx)
	defer cancel()
	if err := n.cfg.Store.Leave(opCtx, n.name()); err != nil {
		n.cfg.Log().Warn("durable: could not leave the store; the jobs of this node are freed when its lease ends", "error", err)
	}
}

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

// Wake makes poll poll now.
func (n *Node) Wake() {
	select {
	case n.wakeup <- struct{}{}:
	default:
	}
}

// name returns the name of this incarnation.
func (n *Node) name() string { return n.ledger.incarnation().name }

// ahead is how far a claim looks ahead: to the next poll and a little beyond.
func (n *Node) ahead() time.Duration {
	p := n.cfg.Poll
	return p + p/4 + n.lead()
}

// lead is how long before its time a claim is confirmed: on a line that is slow, the time of the group commit that is
// under way, of the one that confirms, and half as much again, up to a second.
func (n *Node) lead() time.Duration {
	return min(max(confirmLead, n.clock.Trip()*5/2), max(time.Second, confirmLead))
}
