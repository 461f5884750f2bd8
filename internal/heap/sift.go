package heap

import "cmp"

const (
	// arity is the number of children of a node. With four rather than two the
	// heap is half as deep, and siblings share a cache line.
	arity = 4

	// root is the index of the least slot: 3, so that the children of i, from
	// arity*i-8 on, begin at a multiple of four. The parent of i is i/arity+2.
	root = arity - 1
)

// placeBits is how much of a slot's seq is the place: the rest counts arrivals.
// So there can be 268 million elements at once, and after 68 billion pushes the
// arrivals are counted anew.
const (
	placeBits   = 28
	maxPlaces   = 1 << placeBits
	maxArrivals = 1 << (64 - placeBits)
)

// slot stands for an element in the order. Its key is fixed at Push: an element
// that changes afterwards cannot break the order.
type slot[K cmp.Ordered] struct {
	key K
	seq uint64 // the arrival, and in the low bits the place
}

func (s *slot[K]) place() uint32 { return uint32(s.seq % maxPlaces) }

// before reports whether s leaves before t. No two slots are equal, since
// arrivals differ. It is written so that the only branch is whether keys are
// equal, which rarely surprises the processor: for keys at random, a branch on
// which is less is a wrong guess every other time, and those cost more than the
// comparisons.
func (s *slot[K]) before(t *slot[K]) bool {
	if s.key == t.key || s.key != s.key && t.key != t.key { // NaN
		return s.seq < t.seq
	}
	return cmp.Less(s.key, t.key)
}

// push adds s to the heap.
func (q *Queue[K, E]) push(s slot[K]) {
	if len(q.slots) == 0 {
		q.slots = append(q.slots, make([]slot[K], root, 2*arity)...)
	}
	q.slots = append(q.slots, s)
	q.up(len(q.slots)-1, s)
}

// removeAt takes the slot at i out of the heap.
func (q *Queue[K, E]) removeAt(i int) {
	n := len(q.slots) - 1
	last := q.slots[n]
	q.slots[n] = slot[K]{} // a key may hold a string
	q.slots = q.slots[:n]

	// The last slot fills the gap. It comes from another branch of the tree and
	// so may belong above the gap as well as below it; sifting only down leaves
	// the heap out of order (JDK-8370887).
	switch {
	case i == n:
	case i > root && last.before(&q.slots[i/arity+2]):
		q.up(i, last)
	default:
		q.down(i, last)
	}
}

// up sets s at i or above, moving larger ancestors down. The slot at i is free.
func (q *Queue[K, E]) up(i int, s slot[K]) {
	for i > root {
		parent := i/arity + 2
		if !s.before(&q.slots[parent]) {
			break
		}
		q.set(i, q.slots[parent])
		i = parent
	}
	q.set(i, s)
}

// down sets s at i or below, moving smaller descendants up. The slot at i is
// free.
func (q *Queue[K, E]) down(i int, s slot[K]) {
	for {
		first := arity*i - 2*arity
		if first >= len(q.slots) {
			break
		}
		least := first
		if first+arity <= len(q.slots) {
			// A tournament, in place of one after the other, again for the sake
			// of the processor: the first two games don't wait for each other.
			c := q.slots[first : first+arity : first+arity]
			a, b := 0, 2
			if c[1].before(&c[0]) {
				a = 1
			}
			if c[3].before(&c[2]) {
				b = 3
			}
			if c[b&3].before(&c[a&3]) { // &3 spares the checks of bounds
				a = b
			}
			least += a
		} else {
			for child := first + 1; child < len(q.slots); child++ {
				if q.slots[child].before(&q.slots[least]) {
					least = child
				}
			}
		}
		if !q.slots[least].before(&s) {
			break
		}
		q.set(i, q.slots[least])
		i = least
	}
	q.set(i, s)
}

// set is the only writer of a live slot, so that home is always right.
func (q *Queue[K, E]) set(i int, s slot[K]) {
	q.slots[i] = s
	q.home[s.place()] = uint32(i)
}
