package node

import (
	"maps"
	"time"
)

// PauseHere pauses or resumes a kind without waiting for the next heartbeat. Answers to what was asked of the store
// before do not count for the kind.
func (n *Node) PauseHere(kind string, pause bool) {
	n.mu.Lock()
	n.mu.pausedHere[kind] = time.Now()
	kinds := maps.Clone(n.mu.paused)
	if delete(kinds, kind); pause {
		kinds[kind] = true
	}
	paused, resumed := n.pauseLocked(kinds)
	n.mu.Unlock()
	n.announcePaused(paused, resumed)
}

// hearPaused takes the answer to a question that was sent then, except for the kinds that were paused or resumed here
// since.
func (n *Node) hearPaused(sent time.Time, names []string) {
	kinds := make(map[string]bool, len(names))
	for _, name := range names {
		kinds[name] = true
	}
	n.mu.Lock()
	for kind, at := range n.mu.pausedHere {
		if sent.After(at) {
			delete(n.mu.pausedHere, kind) // later answers know of it, too
		} else if delete(kinds, kind); n.mu.paused[kind] {
			kinds[kind] = true
		}
	}
	paused, resumed := n.pauseLocked(kinds)
	n.mu.Unlock()
	n.announcePaused(paused, resumed)
}

// pauseLocked makes kinds those that are paused, drops what has not begun of them, and returns what is new.
func (n *Node) pauseLocked(kinds map[string]bool) (paused, resumed []string) {
	for kind := range kinds {
		if !n.mu.paused[kind] {
			paused = append(paused, kind)
		}
	}
	for kind := range n.mu.paused {
		if !kinds[kind] {
			resumed = append(resumed, kind)
		}
	}
	n.mu.paused = kinds
	if len(paused) > 0 {
		n.giveBackLocked(func(r *run) bool { return kinds[r.job.Kind] })
	}
	return paused, resumed
}

// announcePaused makes poll release what was dropped and claim what goes on, and logs it.
func (n *Node) announcePaused(paused, resumed []string) {
	if len(paused)+len(resumed) == 0 {
		return
	}
	n.Wake()
	for _, kind := range paused {
		n.cfg.Log().Info("durable: jobs of a kind are paused", "kind", kind)
	}
	for _, kind := range resumed {
		n.cfg.Log().Info("durable: jobs of a kind are resumed", "kind", kind)
	}
}
