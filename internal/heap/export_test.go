package heap

import "fmt"

// Check reports the first invariant of h that does not hold.
func (h *Heap[K, E]) Check() error {
	for i := 1; i < len(h.slots); i++ {
		if parent := (i - 1) / arity; h.slots[i].before(&h.slots[parent]) {
			return fmt.Errorf("slot %d (key %v) is before its parent %d (key %v)",
				i, h.slots[i].key, parent, h.slots[parent].key)
		}
	}
	for i := range h.slots {
		if h.slots[i].arrival >= h.arrivals {
			return fmt.Errorf("slot %d arrived as number %d of %d", i, h.slots[i].arrival, h.arrivals)
		}
	}
	var zero slot[K, E]
	for i, s := range h.slots[len(h.slots):cap(h.slots)] {
		if s.key != zero.key || s.arrival != 0 || any(s.elem) != any(zero.elem) {
			return fmt.Errorf("slot %d past the end is not clear: %v", len(h.slots)+i, s)
		}
	}
	return nil
}

// Cap returns the size of the array.
func (h *Heap[K, E]) Cap() int { return cap(h.slots) }
