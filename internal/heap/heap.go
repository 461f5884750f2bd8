// Package heap is the one priority queue of this module: an indexed 4-ary
// min-heap, ordered by key and, among equal keys, by arrival.
//
// It is a plain structure. It takes no locks and reads no clocks; whoever owns
// a [Heap] guards it with a lock of its own.
package heap

import "cmp"

// arity is the number of children of a node. Four rather than two halves the
// depth, so a sift up writes half as often, and the four siblings that a sift
// down compares lie next to each other in memory.
const arity = 4

// idle is the capacity below which a heap keeps its array whatever its length,
// so that short bursts do not allocate each time they come round.
const idle = 256

// Heap is an indexed min-heap of elements E under keys K. The zero Heap is
// empty and ready to use, and tells nobody about moves; [New] makes one that
// does. A Heap is not safe for concurrent use.
//
// Keys are compared as [cmp.Compare] does, so a NaN is less than any number.
type Heap[K cmp.Ordered, E any] struct {
	// slots[0] is the least; the children of i are arity*i+1 .. arity*i+arity.
	// Slots between len and cap are zero: the array retains nothing that left.
	slots []slot[K, E]

	// arrivals numbers the pushes. It never goes back, not even when the heap
	// empties: 64 bits last for centuries.
	arrivals uint64

	moved func(e E, index int) // nil if nobody wants to know
}

// slot holds an element with the pair that orders it. The pair is fixed at
// Push: an element that changes afterwards cannot break the order.
type slot[K cmp.Ordered, E any] struct {
	key     K
	arrival uint64
	elem    E
}

// before reports whether s leaves the heap before t. No two slots are equal,
// since arrivals differ.
func (s *slot[K, E]) before(t *slot[K, E]) bool {
	if cmp.Less(s.key, t.key) {
		return true
	}
	if cmp.Less(t.key, s.key) {
		return false
	}
	return s.arrival < t.arrival
}

// New returns an empty heap that reports places to moved: the index of an
// element whenever it takes a place, beginning with its Push, and -1 when it
// leaves. moved may be nil; it must not touch the heap.
func New[K cmp.Ordered, E any](moved func(e E, index int)) *Heap[K, E] {
	return &Heap[K, E]{moved: moved}
}

// Len returns the number of elements.
func (h *Heap[K, E]) Len() int { return len(h.slots) }

// Key returns the key of the element at index. It panics if index is out of
// range.
func (h *Heap[K, E]) Key(index int) K { return h.slots[index].key }

// Push adds e under key and returns its index, which holds until moved names
// another. Among equal keys the first pushed is the first popped.
func (h *Heap[K, E]) Push(key K, e E) (index int) {
	s := slot[K, E]{key, h.arrivals, e}
	h.arrivals++
	h.slots = append(h.slots, s)
	return h.up(len(h.slots)-1, s)
}

// Peek returns the least element and its key without removing it, or false
// if the heap is empty.
func (h *Heap[K, E]) Peek() (K, E, bool) {
	if len(h.slots) == 0 {
		var s slot[K, E]
		return s.key, s.elem, false
	}
	return h.slots[0].key, h.slots[0].elem, true
}

// Pop removes the least element and returns it with its key, or false if the
// heap is empty.
func (h *Heap[K, E]) Pop() (K, E, bool) {
	if len(h.slots) == 0 {
		var s slot[K, E]
		return s.key, s.elem, false
	}
	k, e := h.Remove(0)
	return k, e, true
}

// Remove removes the element at index and returns it with its key. It panics
// if index is out of range.
func (h *Heap[K, E]) Remove(index int) (K, E) {
	gone := h.slots[index]
	n := len(h.slots) - 1
	last := h.slots[n]
	h.slots[n] = slot[K, E]{}
	h.slots = h.slots[:n]

	// The last slot fills the gap. It comes from another branch of the tree and
	// so may belong above the gap as well as below it; sifting only down leaves
	// the heap out of order (JDK-8370887).
	if index < n {
		if index > 0 && last.before(&h.slots[(index-1)/arity]) {
			h.up(index, last)
		} else {
			h.down(index, last)
		}
	}
	h.shrink()
	h.tell(gone.elem, -1)
	return gone.key, gone.elem
}

// up places s at index or above, moving larger ancestors down, and returns
// where s came to rest. The slot at index is free.
func (h *Heap[K, E]) up(index int, s slot[K, E]) int {
	for index > 0 {
		parent := (index - 1) / arity
		if !s.before(&h.slots[parent]) {
			break
		}
		h.place(index, h.slots[parent])
		index = parent
	}
	h.place(index, s)
	return index
}

// down places s at index or below, moving smaller descendants up. The slot at
// index is free.
func (h *Heap[K, E]) down(index int, s slot[K, E]) {
	for {
		first := arity*index + 1
		if first >= len(h.slots) {
			break
		}
		least := first
		for child := first + 1; child < min(first+arity, len(h.slots)); child++ {
			if h.slots[child].before(&h.slots[least]) {
				least = child
			}
		}
		if !h.slots[least].before(&s) {
			break
		}
		h.place(index, h.slots[least])
		index = least
	}
	h.place(index, s)
}

// place is the only writer of a live slot, so that moved misses nothing.
func (h *Heap[K, E]) place(index int, s slot[K, E]) {
	h.slots[index] = s
	h.tell(s.elem, index)
}

func (h *Heap[K, E]) tell(e E, index int) {
	if h.moved != nil {
		h.moved(e, index)
	}
}

// shrink halves the array as long as three quarters of it are empty. It then
// is at least a quarter full and mostly half: the length must about halve or
// double before the array is touched again, so a heap that grows and shrinks
// around one size does not thrash.
func (h *Heap[K, E]) shrink() {
	size := cap(h.slots)
	for size > idle && len(h.slots) <= size/4 {
		size /= 2
	}
	if size < cap(h.slots) {
		h.slots = append(make([]slot[K, E], 0, size), h.slots...)
	}
}
