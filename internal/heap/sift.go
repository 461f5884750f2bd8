package heap

import "cmp"

const (
	// arity is the number of children of a node. With four the heap is half as deep
	// as with two, and siblings share a cache line.
	arity = 4

	// root is the index of the least slot. The children of i begin at 4i-8, a
	// multiple of four, so that they are aligned (LaMarca and Ladner, "The
	// Influence of Caches on the Performance of Heaps", 1996). The parent of i is
	// i/4+2.
	root = arity - 1
)

// placeBits is how many bits of a slot's seq are the place in the tree or, in a bound,
// the number of the bucket. The others are the number of the arrival. After 17
// trillion arrivals the elements are numbered anew.
const (
	placeBits   = 20
	maxPlaces   = 1 << placeBits
	maxArrivals = 1 << (64 - placeBits)
)

// slot is the rank of an element. The key is fixed at Push: an element that changes
// afterwards cannot break the order.
type slot[K cmp.Ordered] struct {
	key K
	seq uint64 // the arrival, and in the low bits the place
}

func (s *slot[K]) place() uint32 { return uint32(s.seq % maxPlaces) }

// unplaced is s without a place.
func (s slot[K]) unplaced() slot[K] { return slot[K]{s.key, s.seq &^ (maxPlaces - 1)} }

func (s *slot[K]) arrival() uint64 { return s.seq >> placeBits }

// before reports whether s leaves before t. No two slots are equal, since arrivals
// differ. The only branch is on equal keys, which the processor predicts well. A
// branch on the lesser of two random keys is mispredicted every other time, which
// costs more than the comparison.
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

// removeAt removes the slot at i.
func (t *tree[K, E]) removeAt(i int) {
	n := len(t.slots) - 1
	last := t.slots[n]
	t.slots[n] = slot[K]{} // a key may hold a string
	t.slots = t.slots[:n]

	// The last slot fills the gap. It comes from another branch and may belong
	// above the gap as well as below it: to sift it only down would break the
	// order (JDK-8370887).
	switch {
	case i == n:
	case i > root && last.before(&t.slots[i/arity+2]):
		t.up(i, last)
	default:
		t.down(i, last)
	}
}

// up sets s at i or above, and moves greater ancestors down. The slot at i is free.
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

// down sets s at i or below, and moves lesser descendants up. The slot at i is free.
func (t *tree[K, E]) down(i int, s slot[K]) {
	for {
		first := arity*i - 2*arity
		if first >= len(t.slots) {
			break
		}
		least := first
		if first+arity <= len(t.slots) {
			// A tournament: its first two comparisons do not depend on each other.
			c := t.slots[first : first+arity : first+arity]
			a, b := 0, 2
			if c[1].before(&c[0]) {
				a = 1
			}
			if c[3].before(&c[2]) {
				b = 3
			}
			if c[b&3].before(&c[a&3]) { // &3 saves the bounds checks
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

// heapify restores the order of slots that are in none (Floyd 1964).
func (t *tree[K, E]) heapify() {
	if n := len(t.slots); n > root+1 {
		for i := (n-1)/arity + 2; i >= root; i-- {
			t.down(i, t.slots[i])
		}
	}
}

// set writes a slot. No other function writes one that is in use, so home is always
// right.
func (t *tree[K, E]) set(i int, s slot[K]) {
	t.slots[i] = s
	t.home[s.place()] = uint32(i)
}
