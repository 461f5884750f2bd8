package node

import (
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

// A committer has what is to be committed next, see commitLoop.
type committer struct {
	waker // there is something in pending

	mu struct {
		sync.Mutex
		pending []entry
	}
}

func newCommitter() *committer { return &committer{waker: newWaker()} }

func (s *committer) confirm(r *run, occurrence time.Time) {
	s.add(entry{run: r, occurrence: occurrence})
}

func (s *committer) outcome(r *run, o *store.Outcome) { s.add(entry{run: r, outcome: o}) }

func (s *committer) add(e ...entry) {
	s.mu.Lock()
	s.mu.pending = append(s.mu.pending, e...)
	s.mu.Unlock()
	s.wake()
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
