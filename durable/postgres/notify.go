package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// notifyPause is the least time between two notifications of a store that adds jobs.
const notifyPause = 5 * time.Millisecond

// A notifier tells nodes of jobs that were added, in a statement of its own after the commit. In the transaction that
// adds a job, it would make each commit of the database wait for every other: the server holds one lock for that from
// before the commit is written until it is on the disk. What comes while one is under way, or soon after it, is one.
// A notification that fails is lost; nodes find the job by their next poll or heartbeat.
type notifier struct {
	mu struct {
		sync.Mutex
		due, early bool
		busy       bool // run is under way
		closed     bool
	}
	over sync.WaitGroup
	stop chan struct{} // closed by close
}

// added notifies nodes of those of the jobs that were added, and are due soon, since a time that tells what the commit
// took. See floors for what is early.
func (s *Store) added(placed []durable.InsertResult, since time.Time) {
	soon := false
	for i := range placed {
		p := &placed[i]
		if p.Changed && p.State == durable.Waiting && sqlrow.Micros(p.Due) <= sqlrow.Micros(p.Now)+near {
			soon = true
		}
	}
	if !soon {
		return
	}
	n := &s.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.due = true
	n.mu.early = n.mu.early || time.Since(since) > time.Duration(floorMargin)*time.Microsecond/2
	if !n.mu.busy && !n.mu.closed {
		n.mu.busy = true
		n.over.Go(s.notifyAll)
	}
}

// notifyAll notifies nodes until there is nothing to tell.
func (s *Store) notifyAll() {
	for n := &s.notifier; ; {
		n.mu.Lock()
		if !n.mu.due {
			n.mu.busy = false
			n.mu.Unlock()
			return
		}
		statement := "select " + notify
		if n.mu.early {
			statement = "select " + notifyEarly
		}
		n.mu.due, n.mu.early = false, false
		n.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), answer)
		exec(ctx, each(s.db), statement)
		cancel()
		select {
		case <-time.After(notifyPause):
		case <-n.stop:
		}
	}
}

// close waits until what is to be told was told.
func (n *notifier) close() {
	n.mu.Lock()
	if !n.mu.closed {
		close(n.stop)
	}
	n.mu.closed = true
	n.mu.Unlock()
	n.over.Wait()
}
