package heap

import (
	"iter"
	"slices"
)

// All returns the elements with their keys, in no particular order, without
// copying them. The heap must not change during the traversal.
func (h *Heap[K, E]) All() iter.Seq2[K, E] {
	return func(yield func(K, E) bool) {
		for i := range h.slots {
			if !yield(h.slots[i].key, h.slots[i].elem) {
				return
			}
		}
	}
}

// RemoveFunc removes every element that match accepts and returns them in no
// particular order, nil if there are none. Those that stay keep their order of
// arrival. It takes time linear in the length of the heap, so it is the way to
// remove many; [Heap.Remove] is the way to remove one.
//
// match is called once for each element, and for all of them before anything
// changes: if it panics, the heap is as it was. It must not touch the heap.
func (h *Heap[K, E]) RemoveFunc(match func(E) bool) []E {
	var doomed []int // indices, ascending
	for i := range h.slots {
		if match(h.slots[i].elem) {
			doomed = append(doomed, i)
		}
	}
	if len(doomed) == 0 {
		return nil
	}

	removed := make([]E, 0, len(doomed))
	n := doomed[0]
	for i := n; i < len(h.slots); i++ {
		if len(removed) < len(doomed) && i == doomed[len(removed)] {
			removed = append(removed, h.slots[i].elem)
		} else {
			h.place(n, h.slots[i])
			n++
		}
	}
	clear(h.slots[n:])
	h.slots = h.slots[:n]
	h.shrink()

	// What is left is in no order: sift down every inner node, the last first.
	if n > 1 {
		for i := (n - 2) / arity; i >= 0; i-- {
			h.down(i, h.slots[i])
		}
	}
	for _, e := range removed {
		h.tell(e, -1)
	}
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none.
// The array is given back.
func (h *Heap[K, E]) Drain() []E {
	slots := h.slots
	if len(slots) == 0 {
		return nil
	}
	h.slots = nil
	slices.SortFunc(slots, func(a, b slot[K, E]) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	all := make([]E, len(slots))
	for i := range slots {
		all[i] = slots[i].elem
		h.tell(all[i], -1)
	}
	return all
}
