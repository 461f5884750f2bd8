package heap

import (
	"cmp"
	"fmt"
	"iter"
)

// isFree marks the home of a place without an element. The other bits are the next
// entry of the list of free places.
const isFree uint32 = 1 << 31

// idle is the capacity up to which an empty tree keeps its arrays, so that short bursts
// do not allocate each time.
const idle = 256

// tree is an indexed 4-ary min-heap (a d-ary heap, Johnson 1975, whose elements can be
// found and removed, as in Sedgewick's IndexMinPQ).
//
//	slots   [ -, -, -, root, 4 children, 16 grandchildren ... ]   key, arrival, place
//	elems   [ element at place 0, 1, 2, ... ]
//	home    [ index in slots of the element at place 0, 1, 2, ... ]
//
// The elements are kept apart from their order. Slots have no pointers, and under keys
// of 64 bits four siblings fill a cache line; to move a slot is a copy and a write to
// home. A heap of the elements themselves, with their index in each, took twice the
// time: it touches the memory of an element at every level.
type tree[K cmp.Ordered, E any] struct {
	n int // elements

	slots []slot[K] // a heap from index root on; below root they are zero
	elems []E       // zero at free places: the tree keeps nothing alive that has left
	home  []uint32  // as long as elems

	// free is one more than a free place, 0 if there is none. The home of a free
	// place is isFree and the next such number.
	free uint32
}

// push adds an element and returns its place.
func (t *tree[K, E]) push(it item[K, E]) (place int) {
	place = t.append(it)
	t.up(len(t.slots)-1, t.slots[len(t.slots)-1])
	return place
}

// append is push without the order: heapify must follow.
func (t *tree[K, E]) append(it item[K, E]) (place int) {
	p := t.put(it.elem)
	it.seq |= uint64(p)
	if len(t.slots) == 0 {
		t.slots = append(t.slots, make([]slot[K], root, 2*arity)...)
	}
	t.slots = append(t.slots, it.slot)
	t.home[p] = uint32(len(t.slots) - 1)
	return treePlace(p)
}

// put allocates a place for e. The caller sets its home.
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

// take frees a place and returns its element. The caller removes its slot.
func (t *tree[K, E]) take(place uint32) E {
	t.n--
	e := t.elems[place]
	t.elems[place] = *new(E)
	t.home[place] = isFree | t.free
	t.free = place + 1
	return e
}

// least returns the least slot, nil if there is none.
func (t *tree[K, E]) least() *slot[K] {
	if t.n == 0 {
		return nil
	}
	return &t.slots[root]
}

// pop removes the least element and returns it; there is one.
func (t *tree[K, E]) pop() E {
	place := t.slots[root].place()
	t.removeAt(root)
	return t.take(place)
}

// remove removes the element at place. It panics if there is no element at place.
func (t *tree[K, E]) remove(place int) {
	p := uint(place) // a huge number if place is negative
	if p >= uint(len(t.home)) || t.home[p]&isFree != 0 {
		panic(fmt.Sprintf("heap: no element at place %d", place))
	}
	t.removeAt(int(t.home[p]))
	t.take(uint32(p))
}

// all returns all slots in no order.
func (t *tree[K, E]) all() iter.Seq[slot[K]] {
	return func(yield func(slot[K]) bool) {
		for _, s := range t.slots[min(root, len(t.slots)):] {
			if !yield(s) {
				return
			}
		}
	}
}

// rebuild follows take: it removes the slots whose places are free, and restores the
// order of the others.
func (t *tree[K, E]) rebuild() {
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
