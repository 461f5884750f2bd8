package heap

import (
	"cmp"

	"github.com/executor-go/executor/internal/ring"
)

// patience is how many elements in a row may be too early for the lane before
// it is given to them, if no more than that are in it. A lane that is longer has
// proved its use.
const patience = 64

// ticket is an element in the lane, or on its way into the tree.
type ticket[K cmp.Ordered, E any] struct {
	slot[K] // without a place
	elem    E
}

// lane is the part of a queue that is in order, and where elements come in.
type lane[K cmp.Ordered, E any] struct {
	line ring.Ring[ticket[K, E]]

	// newest is not less than any key in the lane: that of its youngest or, if
	// that has left, of one that was.
	newest   K
	late     int    // how many in a row came out of order
	arrivals uint64 // numbers all pushes of the queue since the last recount
}

// number gives the slot of the next element to come, still without a place.
func (l *lane[K, E]) number(key K) slot[K] {
	s := slot[K]{key, l.arrivals << placeBits}
	l.arrivals++
	return s
}

// push adds e at the end.
func (l *lane[K, E]) push(key K, e E) (place int) {
	l.late, l.newest = 0, key
	return laneAt(l.line.Push(ticket[K, E]{l.number(key), e}))
}
