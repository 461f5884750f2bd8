package ring

import "iter"

// All returns the elements, the oldest first, without copying them. The ring
// must not change during the traversal.
func (r *Ring[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for p := r.head; p != r.tail; p++ {
			if !r.isHole(p) && !yield(r.buf[r.index(p)]) {
				return
			}
		}
	}
}

// RemoveFunc removes every element that match accepts and returns them, the
// oldest first, nil if there are none. It takes time linear in the length of
// the ring.
//
// match is called once for each element, and for all of them before anything
// changes: if it panics, the ring is as it was. It must not touch the ring.
func (r *Ring[E]) RemoveFunc(match func(E) bool) []E {
	var doomed []uint // positions, ascending
	for p := r.head; p != r.tail; p++ {
		if !r.isHole(p) && match(r.buf[r.index(p)]) {
			doomed = append(doomed, p)
		}
	}
	if len(doomed) == 0 {
		return nil
	}
	removed := make([]E, len(doomed))
	for i, p := range doomed {
		removed[i] = r.punch(p)
	}
	// Not by Remove, one by one: it may renumber what is left, and then the
	// positions in doomed would name other elements.
	r.relocate(r.fitting())
	if r.moved != nil {
		for _, e := range removed {
			r.moved(e, -1)
		}
	}
	return removed
}

// Drain removes all elements and returns them, the oldest first, nil if there
// are none. The array is given back.
func (r *Ring[E]) Drain() []E {
	if r.head == r.tail {
		return nil
	}
	all := make([]E, 0, r.Len())
	for e := range r.All() {
		all = append(all, e)
	}
	r.buf, r.hole, r.holes = nil, nil, 0
	r.head = r.tail
	if r.moved != nil {
		for _, e := range all {
			r.moved(e, -1)
		}
	}
	return all
}
