package heap

import (
	"cmp"

	"github.com/executor-go/executor/internal/ring"
)

// laneRetry is how many elements in a row may come out of order before the lane is
// emptied for them, if no more than that are in it. A longer lane has proved useful.
const laneRetry = 64

// item is an element that is not in the tree.
type item[K cmp.Ordered, E any] struct {
	slot[K] // without a place
	elem    E
}

// lane is the part of a queue for elements that come in order. An element whose key
// is not less than all others in the lane goes to its end: tasks without a delay,
// timeouts of equal length, the runs of periodic tasks.
type lane[K cmp.Ordered, E any] struct {
	line ring.Ring[item[K, E]]

	greatest K      // not less than any key in the lane; of its youngest or of one that has left
	rejected int    // elements in a row that came out of order
	arrivals uint64 // elements pushed since the last renumber
}

// number returns the slot of the next element to arrive, without a place.
func (l *lane[K, E]) number(key K) slot[K] {
	s := slot[K]{key, l.arrivals << placeBits}
	l.arrivals++
	return s
}

// push adds e at the end.
func (l *lane[K, E]) push(key K, e E) (place int) {
	l.rejected, l.greatest = 0, key
	return lanePlace(l.line.Push(item[K, E]{l.number(key), e}))
}

// emptyLane moves all elements of the lane to the other parts, so that a few elements
// with great keys do not close it to all that come before them.
func (q *Queue[K, E]) emptyLane() {
	for it, ok := q.line.Pop(); ok; it, ok = q.line.Pop() {
		q.noteMove(it.elem, q.insert(it))
	}
	q.flushMoves()
	q.rejected, q.greatest = 0, *new(K)
}

// compactLane compacts the lane if few elements are left in much memory.
func (q *Queue[K, E]) compactLane() {
	if q.line.Sparse() {
		q.line.Compact(func(it item[K, E], place int) { q.noteMove(it.elem, lanePlace(place)) })
		q.flushMoves()
	}
}
