package node

import (
	"slices"

	"github.com/executor-go/executor/durable/store"
)

// beginInsert returns for how many of the jobs, which are due later or not, there is room, zero if for none. Until
// endInsert no release frees them.
func (l *ledger) beginInsert(jobs []store.NewJob, later bool) store.Placement {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(jobs, func(j store.NewJob) bool { return l.mu.paused[j.Kind] }) {
		return store.Placement{}
	}
	free := l.freeLocked(later)
	if free <= 0 || l.soughtLocked() || !l.takesLocked() {
		return store.Placement{}
	}
	l.mu.inserting[&jobs[0]] = jobs
	return store.Placement{Node: l.mu.name, Limit: free}
}

// endInsert takes what the insert of jobs has placed on the node under that name, "" if it was not to place any. failed is
// set if the answer was lost. It returns the runs to arm, and whether a release is due.
func (l *ledger) endInsert(name string, jobs []store.NewJob, held []*run, failed bool) (runs []*run, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	runs = l.holdLocked(name, held)
	if name != "" {
		delete(l.mu.inserting, &jobs[0]) // in the same step: what is dropped from here on is to be released
		if failed {
			l.loseAnswerLocked()
		}
	}
	return runs, l.mu.due > 0
}
