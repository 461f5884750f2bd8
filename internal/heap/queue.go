package heap

import "cmp"

// Queue is a priority queue of elements E under keys K: the least key first
// and, among equal keys, the first that came. The zero Queue is empty and ready
// to use; [New] makes one that says when it gives out new places. A Queue
// is not safe for concurrent use.
//
// Every element has a place, a number that is its own for as long as it is in
// the queue, or until it is told another. Places are used again: with up to 67 million
// elements at once they have 32 bits, and may be kept as an int32.
//
// Keys are compared as [cmp.Compare] does, so a NaN is less than any number.
//
// An element is in the lane, in the tree or in a pile. The lane is a queue in
// order: an element whose key is not less than that of the lane's youngest joins
// it at its end, in constant time, and leaves it in constant time. So go tasks
// without a delay, timeouts that are all equally long, and the beats of
// periodic tasks. Whatever comes out of order goes to the tree, a heap, if it is
// near and onto a pile if it is not.
type Queue[K cmp.Ordered, E any] struct {
	lane[K, E]
	tree[K, E]
	piles[K, E]

	news *news[E] // nil if nobody wants to know
}

// New returns an empty queue that reports new places to moved: of each element the
// one at the same index. An element gets its place from Push, and
// another each time it goes from one part of the queue to another, or the part
// closes ranks, whatever is done to the queue then; by the time that is done the
// place has been reported. If an element occurs twice the later place counts. moved
// must not touch the queue, nor keep the slices, which have the same length, at
// most 64.
func New[K cmp.Ordered, E any](moved func(elems []E, places []int32)) *Queue[K, E] {
	return &Queue[K, E]{news: &news[E]{moved: moved}}
}

// Len returns the number of elements.
func (q *Queue[K, E]) Len() int { return q.line.Len() + q.tree.n + q.piles.n }

// Push adds e under key and returns its place, which holds until moved names
// another.
func (q *Queue[K, E]) Push(key K, e E) (place int) {
	if q.arrivals == maxArrivals {
		q.recount()
	}
	if q.line.Len() > 0 && cmp.Less(key, q.newest) {
		if q.late++; !q.impatient() {
			return q.insert(ticket[K, E]{q.number(key), e})
		}
		q.reopen()
	}
	return q.lane.push(key, e)
}

// first gives the least element's slot, nil if the queue is empty, and its
// ticket if it is in the lane.
func (q *Queue[K, E]) first() (s *slot[K], t *ticket[K, E]) {
	s = q.tree.least()
	if t = q.line.First(); t != nil && (s == nil || t.before(s)) {
		return &t.slot, t
	}
	return s, nil
}

// Least returns the least key, false if the queue is empty.
func (q *Queue[K, E]) Least() (key K, ok bool) {
	s, _ := q.first()
	if s == nil {
		return key, false
	}
	return s.key, true
}

// Peek returns the least element and its key without removing it, or false
// if the queue is empty.
func (q *Queue[K, E]) Peek() (key K, e E, ok bool) {
	s, t := q.first()
	switch {
	case s == nil:
		return key, e, false
	case t != nil:
		return s.key, t.elem, true
	}
	return s.key, q.tree.elems[s.place()], true
}

// Pop removes the least element and returns it with its key, or false if the
// queue is empty.
func (q *Queue[K, E]) Pop() (key K, e E, ok bool) {
	s, t := q.first()
	switch {
	case s == nil:
		return key, e, false
	case t != nil:
		next, _ := q.line.Pop()
		return next.key, next.elem, true
	}
	key = s.key
	return key, q.popTree(), true
}

func (q *Queue[K, E]) popTree() E {
	e := q.tree.pop()
	q.fitTree()
	return e
}

// Remove removes the element at place. It panics if no element is there. The
// queue may keep alive the last 31 that were far from leaving.
func (q *Queue[K, E]) Remove(place int) {
	switch {
	case place&1 != 0:
		q.line.Remove(place >> 1)
		q.fitLane()
	case place&2 != 0:
		q.removeFar(int(uint32(place) >> 2)) // an int32 may have made it negative
	default:
		q.tree.remove(place >> 2)
		q.fitTree()
	}
}

// reopen empties the lane, so that a few elements that are far ahead do not
// close it to all that come before them.
func (q *Queue[K, E]) reopen() {
	for t, ok := q.line.Pop(); ok; t, ok = q.line.Pop() {
		q.tell(t.elem, q.insert(t))
	}
	q.announce()
	q.late, q.newest = 0, *new(K)
}

// impatient reports whether the lane is to be given to those who come now.
func (q *Queue[K, E]) impatient() bool { return q.late >= patience && q.line.Len() <= patience }

// fitTree sees to it that the tree is not empty as long as there are piles.
func (q *Queue[K, E]) fitTree() {
	switch {
	case q.tree.n > 0:
	case len(q.bounds) > 0:
		q.advance()
	case cap(q.tree.elems) > idle:
		q.clear()
	}
}

// clear gives up the tree and the piles.
func (q *Queue[K, E]) clear() {
	q.tree, q.piles = tree[K, E]{}, piles[K, E]{size: q.size}
}

// fitLane closes ranks in the lane, if few are left in much memory.
func (q *Queue[K, E]) fitLane() {
	if q.line.Sparse() {
		q.line.CloseRanks(func(t ticket[K, E], place int) { q.tell(t.elem, laneAt(place)) })
		q.announce()
	}
}

// The low bits of a place say in which part of the queue it is.
func laneAt(place int) int    { return place<<1 | 1 }
func treeAt(place uint32) int { return int(place) << 2 }
func pilesAt(place int) int   { return place<<2 | 2 }
