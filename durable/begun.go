package durable

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
)

// noteAfter is how long a run goes on before it is noted that it has begun: if its node is lost after that, it is an
// attempt. Most runs are over by then, and cost nothing more.
const noteAfter = 5 * time.Millisecond

// begunRuns are the runs whose begin is to be noted, or to be forgotten. It is guarded by n.mu.
type begunRuns struct {
	unnoted map[*run]start // those that go on
	timed   bool           // noteBegun is to be called
	over    []Ref          // noted before, and over
}

// maxOver is how many runs that are over are remembered to be forgotten. Prune finds the others.
const maxOver = 1000

// errEarly is the error of a run whose time is yet to come, since the store's clock was put back while it was noted
// that the run begins.
var errEarly = errors.New("durable: the clock of the database was put back before the time of the job")

// called notes that the handler is about to be called. The error is ctx's cause if that ended first, or errEarly.
//
// If a node was lost that may have called the handler, the store has to know of the begin before: a handler that kills
// its process at once would otherwise never use up its attempts. The worker waits for the answer.
func (r *run) called(ctx context.Context, started start) error {
	n := r.n
	n.mu.Lock()
	r.job.Started = started.at.Truncate(time.Microsecond)
	if !r.job.Suspect {
		n.mu.unnoted[r] = started
		n.timeNotesLocked()
		n.mu.Unlock()
		return nil
	}
	r.noted = true
	n.mu.Unlock()
	noted := make(chan struct{})
	n.committer.add(entry{run: r, begun: r.job.Started, noted: noted})
	select {
	case <-noted:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if at := timetable.Later(r.job.Due, r.job.Occurrence); r.job.Attempt <= 1 && n.clock.until(at) > clockNoise {
		return errEarly
	}
	return nil
}

// timeNotesLocked sees to it that noteBegun is called.
func (n *node) timeNotesLocked() {
	if !n.mu.timed && len(n.mu.unnoted) > 0 {
		n.mu.timed = true
		time.AfterFunc(noteAfter, n.noteBegun)
	}
}

// noteBegun has the next group commit note the runs that have gone on for long enough.
func (n *node) noteBegun() {
	var entries []entry
	n.mu.Lock()
	for r, started := range n.mu.unnoted {
		if time.Since(started.local) >= noteAfter {
			delete(n.mu.unnoted, r)
			r.noted = true
			entries = append(entries, entry{run: r, begun: r.job.Started})
		}
	}
	n.mu.timed = false
	n.timeNotesLocked()
	n.mu.Unlock()
	if len(entries) > 0 {
		n.committer.add(entries...)
	}
}

// overLocked notes that the store has the outcome of the run.
func (r *run) overLocked() {
	if n := r.n; r.noted && len(n.mu.over) < maxOver {
		n.mu.over = append(n.mu.over, r.ref())
	}
}

// takeOver returns the runs that are to be forgotten. If the call that does so fails, Prune finds them.
func (n *node) takeOver() []Ref {
	n.mu.Lock()
	defer n.mu.Unlock()
	over := n.mu.over
	n.mu.over = nil
	return over
}

// goesOn reports whether the handler may not have returned.
func (r *run) goesOn() bool {
	r.n.mu.Lock()
	defer r.n.mu.Unlock()
	return r.state == begun
}
