package heap

import "cmp"

// Queue is a priority queue of elements E under keys K. The zero Queue is empty and
// ready to use; [New] makes one that reports places. A Queue is not safe for
// concurrent use.
//
// Every element has a place, a number that no other element of the queue has. Places
// are reused: with up to 67 million elements a place has 32 bits, and may be kept as
// an int32.
//
// Keys are compared as [cmp.Compare] does, so a NaN is less than any number.
type Queue[K cmp.Ordered, E any] struct {
	lane[K, E]
	tree[K, E]
	buckets[K, E]

	moves *moves[E] // nil if places are not reported
}

// New returns an empty queue that calls moved with elements and their new places: an
// element moves from one part of the queue to another, and when the lane is
// compacted. Before a method of the queue returns, all moves that it has made are
// reported. If an element occurs twice in a call the later place counts. moved must
// not use the queue, nor keep the slices, which have the same length, at most 64.
func New[K cmp.Ordered, E any](moved func(elems []E, places []int32)) *Queue[K, E] {
	return &Queue[K, E]{moves: &moves[E]{moved: moved}}
}

// Len returns the number of elements.
func (q *Queue[K, E]) Len() int { return q.line.Len() + q.tree.n + q.buckets.n }

// Push adds e under key and returns its place.
func (q *Queue[K, E]) Push(key K, e E) (place int) {
	if q.arrivals == maxArrivals {
		q.renumber()
	}
	if q.line.Len() > 0 && cmp.Less(key, q.greatest) {
		if q.rejected++; q.rejected < laneRetry || q.line.Len() > laneRetry {
			return q.insert(item[K, E]{q.number(key), e})
		}
		q.emptyLane()
	}
	return q.lane.push(key, e)
}

// first returns the slot of the least element, nil if the queue is empty, and its
// item if it is in the lane.
func (q *Queue[K, E]) first() (s *slot[K], it *item[K, E]) {
	s = q.tree.least()
	if it = q.line.First(); it != nil && (s == nil || it.before(s)) {
		return &it.slot, it
	}
	return s, nil
}

// Least returns the least key, or false if the queue is empty.
func (q *Queue[K, E]) Least() (key K, ok bool) {
	s, _ := q.first()
	if s == nil {
		return key, false
	}
	return s.key, true
}

// Peek returns the least element and its key, or false if the queue is empty.
func (q *Queue[K, E]) Peek() (key K, e E, ok bool) {
	s, it := q.first()
	switch {
	case s == nil:
		return key, e, false
	case it != nil:
		return s.key, it.elem, true
	}
	return s.key, q.tree.elems[s.place()], true
}

// Pop removes the least element and returns it with its key, or false if the queue is
// empty.
func (q *Queue[K, E]) Pop() (key K, e E, ok bool) {
	s, it := q.first()
	switch {
	case s == nil:
		return key, e, false
	case it != nil:
		next, _ := q.line.Pop()
		return next.key, next.elem, true
	}
	key = s.key
	e = q.tree.pop()
	q.refillTree()
	return key, e, true
}

// At returns the element at place, which there must be.
func (q *Queue[K, E]) At(place int) E {
	switch {
	case place&1 != 0:
		return q.line.At(place >> 1).elem
	case place&2 != 0:
		b, index := q.locate(int(uint32(place) >> 2))
		return b.at(index).elem
	}
	return q.tree.elems[place>>2]
}

// Remove removes the element at place. It panics if there is no element at place.
// The queue may keep up to 31 removed elements alive, see removeLazily.
func (q *Queue[K, E]) Remove(place int) {
	switch {
	case place&1 != 0:
		q.line.Remove(place >> 1)
		q.compactLane()
	case place&2 != 0:
		q.removeFromBucket(int(uint32(place) >> 2)) // an int32 may have made it negative
	default:
		q.tree.remove(place >> 2)
		q.refillTree()
	}
}

// The low bits of a place are the part of the queue.
func lanePlace(place int) int    { return place<<1 | 1 }
func treePlace(place uint32) int { return int(place) << 2 }
func bucketPlace(place int) int  { return place<<2 | 2 }
