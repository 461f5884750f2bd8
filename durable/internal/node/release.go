package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// auditInterval is the time between two releases without a reason.
const auditInterval = time.Minute

// releases are what the store may have for this node that the node does not know of. They are a part of the ledger.
type releases struct {
	due        int       // events since the last release after which that may be so
	far        bool      // some of them gave back what is far away, since the clock was set back
	again      bool      // the last release could not free all, or may have come too early
	answerLost time.Time // when a claim or an insert was given up last
	inserting  map[*store.NewJob][]store.NewJob
}

// loseAnswer notes that the answer to a claim was lost. The store may have taken it all the same, or may take it yet.
func (l *ledger) loseAnswer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loseAnswerLocked()
}

func (l *ledger) loseAnswerLocked() {
	l.mu.due++
	l.mu.answerLost = time.Now()
}

// A release is what a node asks of the store: to free what it has of this name, except for what the node keeps.
type release struct {
	name  string
	keep  []store.ID
	seen  int // of the events that it is for
	far   bool
	early bool // what was lost may take effect after this release
}

// beginRelease returns the release that is due. It reports false if none is, or the node is fenced.
//
// Jobs that are being inserted are kept, since the node may get them.
func (l *ledger) beginRelease() (r release, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.due == 0 || l.mu.fenced {
		return r, false
	}
	r = release{name: l.mu.name, seen: l.mu.due, far: l.mu.far, early: time.Since(l.mu.answerLost) < l.lease,
		keep: make([]store.ID, 0, len(l.mu.held))}
	l.mu.far = false
	for id := range l.mu.held {
		r.keep = append(r.keep, id)
	}
	for _, jobs := range l.mu.inserting {
		for i := range jobs {
			r.keep = append(r.keep, jobs[i].ID)
		}
	}
	return r, true
}

// endRelease takes the answer: left is set if the store could not free all. It reports whether all is free that was far
// away. What became due for release during the call is left for the next.
func (l *ledger) endRelease(r release, left bool, err error) (review bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if far := r.far || l.mu.far; far && (err != nil || left) {
		l.mu.far = true
	} else {
		review = far
	}
	if err == nil {
		l.mu.due -= r.seen
		l.mu.again = left || r.early
	}
	return review
}

// audit makes a release due though nothing is known to have gone wrong. A claim that was given up may have been under way
// for longer than a release waits for it. What it takes is this node's: as long as the node lives, no other would run it.
func (l *ledger) audit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.due++
}

// retryRelease makes a release due if the last one could not free all, or may have come too early.
func (l *ledger) retryRelease() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.again {
		l.mu.again = false
		l.mu.due++
	}
}

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
