package node

import (
	"sync"

	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// cursors are those of the jobs that catch up.
type cursors struct {
	mu sync.Mutex
	of map[store.ID]timetable.Cursor
}

// take returns the cursor of a job, and leaves it to the caller.
func (c *cursors) take(id store.ID) timetable.Cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of[id]
	delete(c.of, id)
	return w
}

// keep keeps a cursor for the next run of its job, if that has something to catch up with. Another node may get that
// run, so no more than maxHeld are kept.
func (c *cursors) keep(id store.ID, w timetable.Cursor) {
	if !w.GoesOn() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.of {
		if len(c.of) < maxHeld {
			break
		}
		delete(c.of, other)
	}
	if c.of == nil {
		c.of = make(map[store.ID]timetable.Cursor)
	}
	c.of[id] = w
}
