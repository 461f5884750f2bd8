package heap

import (
	"cmp"
	"fmt"
	"iter"
)

// isFree marks the home of a place without an element; the rest of it is the next
// such number.
const isFree uint32 = 1 << 31

// idle is the capacity up to which a tree that is empty keeps its arrays, so that
// short bursts do not allocate each time they come round.
const idle = 256

// tree is the part of a queue that is next to leave, but for what came in order: a
// heap of slots, and the elements at their places.
//
// The order of the elements is kept apart from the elements. What is sorted are
// slots: a key, the number of the arrival, the place of the element. Under keys
// of 64 bits four of them fill a cache line and hold no pointers, and to move one
// is a copy and a note of where it is now. A heap of the elements themselves, which
// tells each element of each of its moves, lost: that touches, at every level, the
// memory of a task that nobody asked for, and takes twice the time to fill and to
// empty.
type tree[K cmp.Ordered, E any] struct {
	n int // elements

	// slots is a 4-ary min-heap whose root is at index root; what is below is
	// unused. Every slot knows the place of its element, and home[place] the
	// index of the slot.
	slots []slot[K]

	elems []E      // zero at free places: the tree retains nothing that left
	home  []uint32 // as long as elems
	free  uint32   // one more than a free place, 0 if there is none; its home is isFree and the next such number
}

// push adds an element and gives its place.
func (t *tree[K, E]) push(k ticket[K, E]) (place int) {
	place = t.lay(k)
	t.up(len(t.slots)-1, t.slots[len(t.slots)-1])
	return place
}

// lay is push without the order: heapify must follow.
func (t *tree[K, E]) lay(k ticket[K, E]) (place int) {
	p := t.put(k.elem)
	k.seq |= uint64(p)
	if len(t.slots) == 0 {
		t.slots = append(t.slots, make([]slot[K], root, 2*arity)...)
	}
	t.slots = append(t.slots, k.slot)
	t.home[p] = uint32(len(t.slots) - 1)
	return treeAt(p)
}

// put gives a place to e. Its home is the caller's to set.
func (t *tree[K, E]) put(e E) (place uint32) {
	t.n++
	if t.free == 0 {
		t.elems = append(t.elems, e)
		t.home = append(t.home, 0)
		return uint32(len(t.elems) - 1)
	}
	place = t.free - 1
	t.free = t.home[place] &^ isFree
	t.elems[place] = e
	return place
}

// take frees a place and returns the element that had it.
func (t *tree[K, E]) take(place uint32) E {
	t.n--
	e := t.elems[place]
	t.elems[place] = *new(E)
	t.home[place] = isFree | t.free
	t.free = place + 1
	return e
}

// least gives the first slot, nil if there is none.
func (t *tree[K, E]) least() *slot[K] {
	if t.n == 0 {
		return nil
	}
	return &t.slots[root]
}

// pop removes the first element; there is one.
func (t *tree[K, E]) pop() E {
	place := t.slots[root].place()
	t.removeAt(root)
	return t.take(place)
}

// remove removes the element at place. It panics if there is none.
func (t *tree[K, E]) remove(place int) {
	p := uint(place) // a huge number if place is negative
	if p >= uint(len(t.home)) || t.home[p]&isFree != 0 {
		panic(fmt.Sprintf("heap: no element at place %d", place))
	}
	t.removeAt(int(t.home[p]))
	t.take(uint32(p))
}

func (t *tree[K, E]) all() iter.Seq[slot[K]] {
	return func(yield func(slot[K]) bool) {
		for _, s := range t.slots[min(root, len(t.slots)):] {
			if !yield(s) {
				return
			}
		}
	}
}

// compact follows take: it drops the slots whose places are free, and puts the
// others in order.
func (t *tree[K, E]) compact() {
	n := min(root, len(t.slots))
	for i := n; i < len(t.slots); i++ {
		if s := t.slots[i]; t.home[s.place()]&isFree == 0 {
			t.set(n, s)
			n++
		}
	}
	clear(t.slots[n:])
	t.slots = t.slots[:n]
	t.heapify()
}
