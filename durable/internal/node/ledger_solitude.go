package node

import (
	"time"
)

const (
	// aloneAfter is how many runs in a row of a job must have been lost with their nodes for the next to be alone.
	aloneAfter = 3
	// aloneFor is how long a run waits to be alone, and is alone. A run that lasts for hours must not keep a node idle.
	aloneFor = 10 * time.Second
)

// admitLocked reports whether the run may begin now. If not, it is armed again later.
func (l *ledger) admitLocked(r *run) bool {
	s := &l.mu.solitude
	switch {
	case s.solo == nil && r.job.Lost < aloneAfter:
		return true
	case s.solo == nil:
		s.solo = r
		if s.timer == nil {
			s.timer = time.AfterFunc(aloneFor, s.passAlone)
		} else {
			s.timer.Reset(aloneFor)
		}
		return l.mu.inState[begun] == 0
	case s.solo == r: // it has waited
		s.timer.Reset(aloneFor)
		return true
	}
	s.behind = append(s.behind, r)
	return false
}

// endedLocked notes that a run has ended, or was dropped.
func (l *ledger) endedLocked(r *run) {
	if a := l.mu.solo; a != nil && (a == r || a.state == armed && l.mu.inState[begun] == 0) {
		l.mu.solitude.timer.Reset(0)
	}
}

// pass returns the run to arm that has waited to be alone, or, if it was alone for long enough, or is over, all that
// have waited behind it. It reports whether the node is open for others again.
func (l *ledger) pass() (arm []*run, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.mu.solo; a != nil && a.state == armed {
		return []*run{a}, false
	}
	arm = l.mu.behind
	l.mu.solo, l.mu.behind = nil, nil
	return arm, true
}
