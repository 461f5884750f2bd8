package node

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

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
