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

// solitude is that of a run whose job may be what kills its nodes: it waits until the handlers that run have returned,
// and while it is alone no other begins, so that it takes none with it. It is guarded by n.mu.
type solitude struct {
	solo   *run        // waits to be alone, or is
	timer  *time.Timer // calls passAlone
	behind []*run      // were to begin meanwhile
}

// admitLocked reports whether the run may begin now. If not, it is armed again later.
func (n *Node) admitLocked(r *run) bool {
	s := &n.mu.solitude
	switch {
	case s.solo == nil && r.job.Lost < aloneAfter:
		return true
	case s.solo == nil:
		s.solo = r
		if s.timer == nil {
			s.timer = time.AfterFunc(aloneFor, n.passAlone)
		} else {
			s.timer.Reset(aloneFor)
		}
		return n.mu.inState[begun] == 0
	case s.solo == r: // it has waited
		s.timer.Reset(aloneFor)
		return true
	}
	s.behind = append(s.behind, r)
	return false
}

// endedLocked notes that a run has ended, or was dropped.
func (n *Node) endedLocked(r *run) {
	if a := n.mu.solo; a != nil && (a == r || a.state == armed && n.mu.inState[begun] == 0) {
		n.mu.solitude.timer.Reset(0)
	}
}

// passAlone lets the run begin that has waited to be alone; or, if it was alone for long enough, or is over, all
// others.
func (n *Node) passAlone() {
	n.mu.Lock()
	a := n.mu.solo
	if a != nil && a.state == armed {
		n.mu.Unlock()
		a.arm()
		return
	}
	behind := n.mu.behind
	n.mu.solo, n.mu.behind = nil, nil
	n.mu.Unlock()
	for _, r := range behind {
		r.arm()
	}
	n.Wake()
}
