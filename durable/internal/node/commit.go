package node

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// maxBatch is the most entries of one group commit.
const maxBatch = 1000

// maxCommit is how many bytes of results and outputs a group commit has, unless one entry has more.
const maxCommit = 8 << 20

// An entry is one thing to be committed: an outcome, a begin, or else a confirm.
type entry struct {
	*run
	occurrence time.Time // of a confirm; zero is the one that the store has
	outcome    *store.Outcome
	begun      time.Time     // when the run has begun
	noted      chan struct{} // closed when the store has that, unless nil
	locked     int           // how often its row was locked
	since      time.Time     // when it was locked first
}

// lockedPause returns how long an entry waits whose row another transaction has locked: mostly a claim of another node
// that came too late, and is over in a moment.
func lockedPause(times int) time.Duration {
	return min(2*time.Millisecond<<min(times, 9), time.Second)
}

// lockedLong is how often a row must be locked for the log to have a line about it: some three seconds after the first
// time.
const lockedLong = 12

// A committer commits confirms and outcomes in groups: while one commit is under way the next group gathers. An entry
// stays until the store has answered for it; if the answer is lost, the committer asks again. An entry that the store
// can't answer for does not hold up the others: it goes to the end of the queue.
type committer struct {
	n    *Node
	kick chan struct{} // one slot: there is something in pending

	mu struct {
		sync.Mutex
		pending []entry
	}
}

func newCommitter(n *Node) *committer {
	return &committer{n: n, kick: make(chan struct{}, 1)}
}

func (s *committer) confirm(r *run, occurrence time.Time) {
	s.add(entry{run: r, occurrence: occurrence})
}
func (s *committer) outcome(r *run, o *store.Outcome) { s.add(entry{run: r, outcome: o}) }

func (s *committer) add(e ...entry) {
	s.mu.Lock()
	s.mu.pending = append(s.mu.pending, e...)
	s.mu.Unlock()
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// take takes the next group, nil if there is nothing to commit.
func (s *committer) take() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, size := 0, 0
	for k < min(len(s.mu.pending), maxBatch) {
		if o := s.mu.pending[k].outcome; o != nil {
			size += len(o.Result) + len(o.Output)
		}
		if k > 0 && size > maxCommit {
			break
		}
		k++
	}
	group := s.mu.pending[:k:k]
	s.mu.pending = s.mu.pending[k:]
	if len(s.mu.pending) == 0 {
		s.mu.pending = nil
	}
	return group
}

func (s *committer) loop(ctx context.Context) {
	outage := s.n.outage("commit")
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		}
		for group := s.take(); len(group) > 0 && ctx.Err() == nil; group = s.take() {
			s.commit(ctx, outage, group)
		}
	}
}

// commit commits a group, or puts it back. A group that fails again and again is split, in case one entry is to blame.
func (s *committer) commit(ctx context.Context, o *outage, group []entry) {
	for ctx.Err() == nil && !o.over(s.try(ctx, group)) {
		o.wait(ctx)
		if o.failed >= 5 {
			rest := len(group) / 2
			s.add(group[rest:]...)
			if group = group[:rest]; len(group) == 0 {
				return
			}
		}
	}
}

func (s *committer) try(ctx context.Context, group []entry) error {
	b := store.CommitRequest{Node: s.n.name(), History: s.n.cfg.History}
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
		case s.n.ledger.goesOn(e.run):
			b.Begun = append(b.Begun, store.Begin{Ref: e.ref(), Started: e.begun})
		}
	}
	switch {
	case len(b.Begun) > 0:
		b.Ended = s.n.begins.takeOver()
	case len(b.Confirms) == 0 && len(b.Outcomes) == 0:
		return nil
	}
	opCtx, cancel := s.n.cfg.opContext(context.WithoutCancel(ctx)) // what becomes of a call that is broken off is not known
	defer cancel()
	asked := s.n.clock.Ask()
	answer, err := s.n.cfg.Store.Commit(opCtx, b)
	if err != nil {
		return err
	}
	s.n.heard(asked, answer.Now)
	if answer.Released {
		s.n.Wake()
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
				s.n.cfg.logOf(&e.job).Warn("durable: job row is locked by another transaction; waiting to commit the outcome", "waited", time.Since(e.since).Round(time.Millisecond))
			}
			time.AfterFunc(pause, func() { s.add(e) })
		case e.outcome == nil:
			s.n.confirmed(e.run, ok, e.occurrence, answer.Now)
		default:
			s.n.committed(e.run, e.outcome, ok, before[e.ref()])
		}
	}
	return nil
}
