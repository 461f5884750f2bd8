package heap

import (
	"cmp"

	"github.com/executor-go/executor/internal/ring"
)

// patience is how many elements in a row may be too early for the lane before
// it is given to them, if no more than that are in it. A lane that is longer has
// proved its use.
const patience = 64

// Queue is a priority queue of elements E under keys K: the least key first
// and, among equal keys, the first that came. The zero Queue is empty and ready
// to use; [New] makes one that says when it gives out new places. A Queue
// is not safe for concurrent use.
//
// Every element has a place, a number that is its own for as long as it is in
// the queue. Places are used again: none is larger than about the largest
// number of elements that were there at once.
//
// Keys are compared as [cmp.Compare] does, so a NaN is less than any number.
//
// The order of the elements is kept apart from the elements. What is sorted are
// slots: a key, the number of the arrival, the place of the element. Under keys
// of 64 bits four of them fill a cache line and hold no pointers, and to move one
// is a copy and a note of where it is now. A heap of the elements themselves was here before,
// which told each element of each of its moves: that touches, at every level,
// the memory of a task that nobody asked for, and took twice the time to fill
// and to empty.
//
// Slots are in a heap or in the lane. The lane is a ring of slots in order: an
// element whose key is not less than that of the lane's youngest joins it at
// its end, in constant time, and leaves it in constant time. So go tasks
// without a delay, timeouts that are all equally long, and the beats of
// periodic tasks; whatever comes out of order goes to the heap.
type Queue[K cmp.Ordered, E any] struct {
	// slots is a 4-ary min-heap whose root is at index root; what is below is
	// unused. Every slot knows the place of its element, and home[place] knows
	// the slot: as an index of slots, or as a place in lane, marked by inLane.
	slots []slot[K]

	// lane is sorted, and no slot in it is after lane's youngest, of which
	// newest is the key; if that has left, newest is still not less than any
	// key in it.
	lane   ring.Ring[slot[K]]
	newest K
	late   int // how many in a row came out of order

	store[E]

	// arrivals numbers the pushes since the last recount.
	arrivals uint64
}

// New returns an empty queue that reports new places to moved. An element
// gets its place from Push; it gets another if the queue has shrunk to a small
// part of what it was and closes ranks. moved must not touch the queue.
func New[K cmp.Ordered, E any](moved func(e E, place int)) *Queue[K, E] {
	return &Queue[K, E]{store: store[E]{moved: moved}}
}

// Len returns the number of elements.
func (q *Queue[K, E]) Len() int { return q.n }

// Push adds e under key and returns its place, which holds until moved names
// another.
func (q *Queue[K, E]) Push(key K, e E) (place int) {
	if q.arrivals == maxArrivals {
		q.recount()
	}
	p := q.put(e)
	s := slot[K]{key, q.arrivals<<placeBits | uint64(p)}
	q.arrivals++
	if q.lane.Len() > 0 && cmp.Less(key, q.newest) {
		if q.late++; q.late < patience || q.lane.Len() > patience {
			q.push(s)
			return int(p)
		}
		q.reopen()
	}
	q.late = 0
	q.newest = key
	q.home[p] = inLane | uint32(q.lane.Push(s))
	return int(p)
}

// closeRanks fills the lane anew, without the holes.
func (q *Queue[K, E]) closeRanks() {
	for _, s := range q.lane.Drain() {
		q.home[s.place()] = inLane | uint32(q.lane.Push(s))
	}
}

// reopen empties the lane, so that a few slots that are far ahead do not close
// it to all that come before them.
func (q *Queue[K, E]) reopen() {
	for {
		s, ok := q.lane.Pop()
		if !ok {
			return
		}
		q.push(s)
	}
}

// first returns the least slot, and whether it is in the lane. The queue is
// not empty.
func (q *Queue[K, E]) first() (s slot[K], lane bool) {
	s, lane = q.lane.Peek()
	if len(q.slots) > root && (!lane || q.slots[root].before(&s)) {
		return q.slots[root], false
	}
	return s, lane
}

// Least returns the least key, false if the queue is empty.
func (q *Queue[K, E]) Least() (key K, ok bool) {
	if q.n == 0 {
		return key, false
	}
	s, _ := q.first()
	return s.key, true
}

// Peek returns the least element and its key without removing it, or false
// if the queue is empty.
func (q *Queue[K, E]) Peek() (key K, e E, ok bool) {
	if q.n == 0 {
		return key, e, false
	}
	s, _ := q.first()
	return s.key, q.elems[s.place()], true
}

// Pop removes the least element and returns it with its key, or false if the
// queue is empty.
func (q *Queue[K, E]) Pop() (key K, e E, ok bool) {
	if q.n == 0 {
		return key, e, false
	}
	s, lane := q.first()
	if lane {
		q.lane.Pop()
	} else {
		q.removeAt(root)
	}
	e = q.take(s.place())
	q.fit()
	return s.key, e, true
}

// Remove removes the element at place and returns it with its key. It panics
// if no element is there.
func (q *Queue[K, E]) Remove(place int) (K, E) {
	var s slot[K]
	if at := q.at(place); at&inLane != 0 {
		s = q.lane.Remove(int(at &^ inLane))
		if q.lane.Sparse() {
			q.closeRanks()
		}
	} else {
		s = q.slots[at]
		q.removeAt(int(at))
	}
	e := q.take(uint32(place))
	q.fit()
	return s.key, e
}
