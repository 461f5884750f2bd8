package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// lockedPause returns how long an entry waits whose row another transaction has locked: mostly a claim of another node
// that came too late, and is over in a moment.
func lockedPause(times int) time.Duration {
	return min(2*time.Millisecond<<min(times, 9), time.Second)
}

// lockedLong is how often a row must be locked for the log to have a line about it: some three seconds after the first
// time.
const lockedLong = 12

// commitLoop commits confirms and outcomes in groups: while one commit is under way the next group gathers. An entry
// stays until the store has answered for it; if the answer is lost, it is asked for again. An entry that the store can't
// answer for does not hold up the others: it goes to the end of the queue.
func (n *Node) commitLoop(ctx context.Context) {
	outage := n.outage("commit")
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.committer.waker:
		}
		for group := n.committer.take(); len(group) > 0 && ctx.Err() == nil; group = n.committer.take() {
			n.commit(ctx, outage, group)
		}
	}
}

// commit commits a group, or puts it back. A group that fails again and again is split, in case one entry is to blame.
func (n *Node) commit(ctx context.Context, o *outage, group []entry) {
	for ctx.Err() == nil && !o.over(n.try(ctx, group)) {
		o.wait(ctx)
		if o.failed >= 5 {
			rest := len(group) / 2
			n.committer.add(group[rest:]...)
			if group = group[:rest]; len(group) == 0 {
				return
			}
		}
	}
}

func (n *Node) try(ctx context.Context, group []entry) error {
	b := store.CommitRequest{Node: n.name(), History: n.cfg.History}
	outcomes := 0
	for i := range group {
		if group[i].outcome != nil {
			outcomes++
		}
	}
	b.Outcomes = make([]store.Outcome, 0, outcomes)
	for _, e := range group {
		switch {
		case e.outcome != nil:
			b.Outcomes = append(b.Outcomes, *e.outcome)
		case e.begun.IsZero():
			b.Confirms = append(b.Confirms, store.Confirm{Ref: e.ref(), Occurrence: e.occurrence})
		case n.ledger.goesOn(e.run):
			b.Begun = append(b.Begun, store.Begin{Ref: e.ref(), Started: e.begun})
		}
	}
	switch {
	case len(b.Begun) > 0:
		b.Ended = n.begins.takeOver()
	case len(b.Confirms) == 0 && len(b.Outcomes) == 0:
		return nil
	}
	opCtx, cancel := n.cfg.opContext(context.WithoutCancel(ctx)) // what becomes of a call that is broken off is not known
	defer cancel()
	asked := n.clock.Ask()
	answer, err := n.cfg.Store.Commit(opCtx, b)
	if err != nil {
		return err
	}
	n.heard(asked, answer.Now)
	if answer.Released {
		n.Wake()
	}
	locked := make(map[store.Ref]bool, len(answer.Locked))
	for _, ref := range answer.Locked {
		locked[ref] = true
	}
	before := make(map[store.Ref]bool, len(answer.Before))
	for _, ref := range answer.Before {
		before[ref] = true
	}
	for _, e := range group {
		var ok bool
		switch {
		case e.outcome != nil:
			ok, answer.Committed = answer.Committed[0], answer.Committed[1:]
		case e.begun.IsZero():
			ok, answer.Confirmed = answer.Confirmed[0], answer.Confirmed[1:]
		default:
			if e.noted != nil {
				close(e.noted)
			}
			continue
		}
		switch {
		case locked[e.ref()]:
			pause := lockedPause(e.locked)
			if e.locked == 0 {
				e.since = time.Now()
			}
			if e.locked++; e.locked == lockedLong {
				n.cfg.logOf(&e.job).Warn("durable: job row is locked by another transaction; waiting to commit the outcome", "waited", time.Since(e.since).Round(time.Millisecond))
			}
			time.AfterFunc(pause, func() { n.committer.add(e) })
		case e.outcome == nil:
			n.confirmed(e.run, ok, e.occurrence, answer.Now)
		default:
			n.committed(e.run, e.outcome, ok, before[e.ref()])
		}
	}
	return nil
}
