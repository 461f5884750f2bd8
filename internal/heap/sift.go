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

// placeBits is how much of a slot's seq is the place, or of a bound's the number of
// the pile: the rest counts arrivals. After 17 trillion pushes they are counted
// anew.
const (
	placeBits   = 20
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

// unplaced is s without a place.
func (s slot[K]) unplaced() slot[K] { return slot[K]{s.key, s.seq &^ (maxPlaces - 1)} }

func (s *slot[K]) arrival() uint64 { return s.seq >> placeBits }

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

// compare is before for package slices. No two slots are equal.
func compare[K cmp.Ordered](a, b slot[K]) int {
	if a.before(&b) {
		return -1
	}
	return 1
}

// removeAt takes the slot at i out of the heap.
func (t *tree[K, E]) removeAt(i int) {
	n := len(t.slots) - 1
	last := t.slots[n]
	t.slots[n] = slot[K]{} // a key may hold a string
	t.slots = t.slots[:n]

	// The last slot fills the gap. It comes from another branch of the tree and
	// so may belong above the gap as well as below it; sifting only down leaves
	// the heap out of order (JDK-8370887).
	switch {
	case i == n:
	case i > root && last.before(&t.slots[i/arity+2]):
		t.up(i, last)
	default:
		t.down(i, last)
	}
}

// up sets s at i or above, moving larger ancestors down. The slot at i is free.
func (t *tree[K, E]) up(i int, s slot[K]) {
	for i > root {
		parent := i/arity + 2
		if !s.before(&t.slots[parent]) {
			break
		}
		t.set(i, t.slots[parent])
		i = parent
	}
	t.set(i, s)
}

// down sets s at i or below, moving smaller descendants up. The slot at i is
// free.
func (t *tree[K, E]) down(i int, s slot[K]) {
	for {
		first := arity*i - 2*arity
		if first >= len(t.slots) {
			break
		}
		least := first
		if first+arity <= len(t.slots) {
			// A tournament, in place of one after the other, again for the sake
			// of the processor: the first two games don't wait for each other.
			c := t.slots[first : first+arity : first+arity]
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
			for child := first + 1; child < len(t.slots); child++ {
				if t.slots[child].before(&t.slots[least]) {
					least = child
				}
			}
		}
		if !t.slots[least].before(&s) {
			break
		}
		t.set(i, t.slots[least])
		i = least
	}
	t.set(i, s)
}

// heapify sifts down every inner node, the last first, of slots that are in no
// order.
func (t *tree[K, E]) heapify() {
	if n := len(t.slots); n > root+1 {
		for i := (n-1)/arity + 2; i >= root; i-- {
			t.down(i, t.slots[i])
		}
	}
}

// set is the only writer of a live slot, so that home is always right.
func (t *tree[K, E]) set(i int, s slot[K]) {
	t.slots[i] = s
	t.home[s.place()] = uint32(i)
}
