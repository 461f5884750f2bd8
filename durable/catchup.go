package durable

import "github.com/executor-go/executor/durable/internal/timetable"

// takeCursor returns the cursor of a job, and leaves it to the caller.
func (n *node) takeCursor(id ID) timetable.Cursor {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.mu.cursors[id]
	delete(n.mu.cursors, id)
	return w
}

// keepCursor keeps a cursor for the next run of its job, if that has something to catch up with. Another node may get
// that run, so no more than maxHeld are kept.
func (n *node) keepCursor(id ID, w timetable.Cursor) {
	if !w.GoesOn() {
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
