package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// heartbeatInterval is the time between two heartbeats: of three in a lease one may be lost. By default it is a little
// less than Config.Poll, so that a heartbeat comes before the poll for which it can stand in.
func (n *Node) heartbeatInterval() time.Duration { return n.cfg.Lease * 3 / 10 }

// heartbeatLoop renews the lease.
//
// Each heartbeat asks whether a poll would find anything. If not, it has been that poll, and poll puts off its own: so
// a node that has nothing to do makes one call where there would be two. What a heartbeat finds it leaves to the poll,
// which comes when it would have come, as it does if a heartbeat fails or is slow: a claim may take long, and must not
// hold up the lease, nor a heartbeat the claims. But if polls are rarer than every other heartbeat, one that finds
// something wakes poll at once; and if another heartbeat comes before the poll, it asks only for what might be late by
// then.
//
// The node fences itself: once five sixths of the lease are over since it sent the last
// heartbeat that succeeded, it cancels its handlers, and begins and claims nothing more
// until the store answers. A node that is alone lets its handlers go on: no other node
// could begin them again. The clock for this is the monotonic one, which goes on while a
// process is stopped.
func (n *Node) heartbeatLoop(ctx context.Context) {
	fence := time.AfterFunc(n.ledger.leaseLeft(), n.fence)
	defer fence.Stop()
	outage := n.outage("heartbeat")
	var aside sync.WaitGroup // what no heartbeat waits for
	defer aside.Wait()
	for {
		// An answer that took long leaves little of the lease.
		pause := min(n.heartbeatInterval(), max(n.ledger.leaseLeft()/2, 0))
		if outage.failed > 0 {
			pause = min(n.heartbeatInterval(), outage.delay())
		}
		if !sleep(ctx, pause) {
			return
		}
		watch, far := n.watch()
		asked := n.clock.Ask()
		opCtx, cancel := n.cfg.opContext(ctx)
		pulse, err := n.cfg.Store.Heartbeat(opCtx, n.name(), n.cfg.Lease, watch)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if renewed := (*store.RenewedError)(nil); errors.As(err, &renewed) {
			n.heard(asked, renewed.Now)
			n.renew(asked.At)
			fence.Reset(n.ledger.leaseLeft())
		}
		if !outage.over(err) {
			continue
		}
		n.heard(asked, pulse.Now)
		if !pulse.Alive {
			dead := n.name()
			n.ledger.lose().cancel(ErrLeaseLost)
			n.cfg.Log().Warn("durable: this node was declared dead; it joins again under a new name", "node", dead)
			if !n.join(ctx) {
				return
			}
			fence.Reset(n.ledger.leaseLeft())
			continue
		}
		n.announcePaused(n.ledger.hearPaused(asked.At, pulse.Paused))
		n.hearDraining(pulse.Draining)
		n.ledger.setAlone(pulse.Alone)
		n.renew(asked.At)
		fence.Reset(n.ledger.leaseLeft())
		n.news.wake()
		n.CancelRuns(pulse.Canceled)
		if pulse.Freed > 0 {
			n.cfg.Log().Warn("durable: freed jobs of dead nodes", "jobs", pulse.Freed)
			aside.Go(func() { n.logDead(ctx, pulse.Dead) })
			n.reviews.want()
			n.Wake()
		}
		switch {
		case pulse.Due && (far || n.cfg.Poll > 2*n.heartbeatInterval()):
			n.Wake()
		case !far && !pulse.Due && len(watch.Kinds) > 0:
			select {
			case n.idleBeats <- asked.At:
			default: // poll is looking
			}
		}
	}
}

// watch returns what a poll would claim now; or, if the next poll is further than the next heartbeat, what is due up to
// that and a little beyond.
func (n *Node) watch() (w store.Watch, far bool) {
	req, ok := n.request(false, true)
	if !ok {
		return w, false
	}
	w.Ahead = req.Ahead
	left := time.Duration(n.nextPoll.Load()) - time.Since(n.clock.Base)
	if far = left > n.heartbeatInterval(); far {
		w.Ahead -= n.cfg.Poll - left
	}
	for _, k := range req.Kinds {
		w.Kinds = append(w.Kinds, k.Kind)
	}
	w.Elsewhere = true
	for _, queue := range n.cfg.Queues() {
		if queue == "" {
			w.Elsewhere = false
		} else {
			w.Queues = append(w.Queues, queue)
		}
	}
	return w, far
}

// hearDraining takes the answer of a heartbeat whether somebody has asked this node to drain. If so, it gives back what
// has not begun, and takes nothing; what runs goes on.
func (n *Node) hearDraining(drain bool) {
	switch was := n.ledger.rest(drain); {
	case drain && !was:
		n.cfg.Log().Info("durable: this node was asked to drain; it takes no more jobs", "node", n.name())
		n.Wake()
	case was && !drain:
		n.cfg.Log().Info("durable: this node takes jobs again", "node", n.name())
		n.Wake()
	}
}

// logDead logs which jobs are dead since they were lost with their nodes. Their names come by calls that the store may
// be slow to answer, so no heartbeat waits for it.
func (n *Node) logDead(ctx context.Context, dead []store.ID) {
	opCtx, cancel := n.cfg.opContext(ctx)
	defer cancel()
	for _, id := range dead {
		job, _ := n.cfg.Store.Get(opCtx, id) // for its names; it may be gone
		job.ID = id
		n.cfg.logOf(&job).Error("durable: a job is dead, since it was lost with its node and has no attempt left", "error", job.Error)
	}
}

// fence is called when the node can't rely on its lease any more.
func (n *Node) fence() {
	fenced, alone, handlers := n.ledger.fence()
	handlers.cancel(ErrLeaseLost)
	switch {
	case alone:
		n.cfg.Log().Warn("durable: could not renew the lease in time; no job begins until the store answers", "node", n.name())
	case fenced:
		n.cfg.Log().Error("durable: could not renew the lease in time; handlers are canceled", "node", n.name())
	}
}
