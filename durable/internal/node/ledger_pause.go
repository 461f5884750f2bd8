package node

import (
	"maps"
	"time"
)

// pauseHere pauses or resumes a kind without waiting for the next heartbeat, and returns what is new. Answers to what was
// asked of the store before do not count for the kind.
func (l *ledger) pauseHere(kind string, pause bool) (paused, resumed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.pausedHere[kind] = time.Now()
	kinds := maps.Clone(l.mu.paused)
	if delete(kinds, kind); pause {
		kinds[kind] = true
	}
	return l.pauseLocked(kinds)
}

// hearPaused takes the answer to a question that was sent then, except for the kinds that were paused or resumed here
// since. It returns what is new.
func (l *ledger) hearPaused(sent time.Time, names []string) (paused, resumed []string) {
	kinds := make(map[string]bool, len(names))
	for _, name := range names {
		kinds[name] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, at := range l.mu.pausedHere {
		if sent.After(at) {
			delete(l.mu.pausedHere, kind) // later answers know of it, too
		} else if delete(kinds, kind); l.mu.paused[kind] {
			kinds[kind] = true
		}
	}
	return l.pauseLocked(kinds)
}

// pauseLocked makes kinds those that are paused, and gives back what has not begun of them.
func (l *ledger) pauseLocked(kinds map[string]bool) (paused, resumed []string) {
	for kind := range kinds {
		if !l.mu.paused[kind] {
			paused = append(paused, kind)
		}
	}
	for kind := range l.mu.paused {
		if !kinds[kind] {
			resumed = append(resumed, kind)
		}
	}
	l.mu.paused = kinds
	if len(paused) > 0 {
		l.giveBackAllLocked(func(r *run) bool { return kinds[r.job.Kind] })
	}
	return paused, resumed
}
