package durable

import "time"

// A catchUpCursor is how far a node has gone along a trigger, for a job that catches up: from the time that its latest
// run here is for, to the last that was due then. The next run goes on from there. Beginning anew, a job with n runs to
// catch up with would ask its trigger n*n times, since a trigger has no way back and does not count the times between
// two others.
type catchUpCursor struct {
	from, to time.Time
	n        int // times from one to the other, both counted; 0 for a cursor that is not set
}

// latest returns the first of the latest most times that the trigger has up to now, but none before t, which is one of
// them.
func (w *catchUpCursor) latest(most int, t, now time.Time, next func(time.Time) time.Time) time.Time {
	switch {
	case w.n > 0 && t.Equal(w.from):
	case w.n > 1 && t.Equal(next(w.from)):
		w.from, w.n = t, w.n-1
	default: // another node was there meanwhile, or somebody who moved the job
		*w = catchUpCursor{t, t, 1}
	}
	for ; w.n > most; w.n-- { // the policy names fewer than it did
		w.from = next(w.from)
	}
	for n := next(w.to); n.After(w.to) && !n.After(now); n = next(n) {
		if w.to = n; w.n < most {
			w.n++
		} else {
			w.from = next(w.from)
		}
	}
	return w.from
}

// takeCursor returns the cursor of a job, and leaves it to the caller.
func (n *node) takeCursor(id ID) catchUpCursor {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.mu.cursors[id]
	delete(n.mu.cursors, id)
	return w
}

// keepCursor keeps a cursor for the next run of its job, if that has something to catch up with. Another node may get
// that run, so no more than maxHeld are kept.
func (n *node) keepCursor(id ID, w catchUpCursor) {
	if w.n <= 1 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.mu.cursors {
		if len(n.mu.cursors) < maxHeld {
			break
		}
		delete(n.mu.cursors, other)
	}
	n.mu.cursors[id] = w
}
