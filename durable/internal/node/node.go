// Package node is one program's part in running the jobs of a store: it polls, places, runs, commits, renews its lease,
// releases and drains. What it needs of the program is in Config.
//
// It has three parts, each of which knows only those before it: a Handling does what is to be done with one job, the
// ledger has what is held and what may begin, and a Node calls the store and acts on what both say.
package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

// confirmLead is how long before its time a claim is confirmed at least: the time of a few commits. See node.lead.
const confirmLead = 25 * time.Millisecond

// A Node is one program's part in running the jobs. Seven goroutines belong to it. The first is the one that calls Run,
// which starts the others and waits for them:
//
//	poll       claims what is due before the next poll, and releases
//	heartbeat  renews the lease, and stands in for a poll while there is nothing to claim
//	commit     commits confirms and outcomes in groups
//	report     reports the node and the progress of its runs
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
	host      string
	prefix    string                  // of the node's names
	values    context.Context         // that of Run, without its end: for handlers
	drains    context.CancelCauseFunc // ends what env.leaving is

	wakeup    waker          // poll is to poll now
	news      waker          // report is to look for what is new
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

// reviews are looks for schedules whose times were found while the store's clock was ahead.
type reviews struct {
	wanted waker

	mu   sync.Mutex
	step time.Duration // by how much the clock was set back when this node saw that last; 0 if it has not
	late []late
}

// late is a job whose time was found before the clock was set back, and stored after that. Its row does not show it.
type late struct {
	id         store.ID
	due, found time.Time
}

// Wake makes poll poll now.
func (n *Node) Wake() { n.wakeup.wake() }

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

// open reports whether the pool takes work. If the program has shut it down before Run drains, jobs are for other
// nodes; in a drain they are in any case.
func (n *Node) open() bool {
	if n.cfg.Pool.Stats().Stage == executor.StageRunning {
		return true
	}
	if !n.ledger.standing().draining {
		n.poolClosed.Do(func() {
			n.cfg.Log().Error("durable: the pool is shut down, so this node takes no more jobs; shut it down when Run has returned")
		})
	}
	return false
}

func (n *Node) outage(what string) *outage {
	return &outage{health: &n.health, log: n.cfg.Log(), what: what}
}
