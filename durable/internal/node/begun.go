package node

import (
	"sync"
	"time"

	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

// noteAfter is how long a run goes on before it is noted that it has begun: if its node is lost after that, it is an
// attempt. Most runs are over by then, and cost nothing more.
const noteAfter = 5 * time.Millisecond

// begins are the runs whose begin is to be noted, or to be forgotten.
type begins struct {
	committer *committer

	mu      sync.Mutex
	unnoted map[*run]storeclock.Start // those that go on
	timed   bool                      // note is to be called
	over    []store.Ref               // noted before, and over
}

// maxOver is how many runs that are over are remembered to be forgotten. Prune finds the others.
const maxOver = 1000

// add has the begin of a run noted, if it goes on for long enough.
func (b *begins) add(r *run, started storeclock.Start) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unnoted == nil {
		b.unnoted = make(map[*run]storeclock.Start)
	}
	b.unnoted[r] = started
	b.timeLocked()
}

// ended has the begin of a run noted no more, since it has ended.
func (b *begins) ended(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.unnoted, r)
}

// timeLocked sees to it that note is called.
func (b *begins) timeLocked() {
	if !b.timed && len(b.unnoted) > 0 {
		b.timed = true
		time.AfterFunc(noteAfter, b.note)
	}
}

// note has the next group commit note the runs that have gone on for long enough.
func (b *begins) note() {
	var entries []entry
	b.mu.Lock()
	for r, started := range b.unnoted {
		if time.Since(started.Local) >= noteAfter {
			delete(b.unnoted, r)
			r.noted.Store(true)
			entries = append(entries, entry{run: r, begun: r.job.Started})
		}
	}
	b.timed = false
	b.timeLocked()
	b.mu.Unlock()
	if len(entries) > 0 {
		b.committer.add(entries...)
	}
}

// forget notes that the store has the outcome of a run.
func (b *begins) forget(r *run) {
	if !r.noted.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.over) < maxOver {
		b.over = append(b.over, r.ref())
	}
}

// takeOver returns the runs that are to be forgotten. If the call that does so fails, Prune finds them.
func (b *begins) takeOver() []store.Ref {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = nil
	return over
}
