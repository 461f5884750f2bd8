package ring

import (
	"iter"
	"math/bits"
)

// places returns the elements with their places, the oldest first. The ring must not
// change during the iteration.
func (r *Ring[E]) places() iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for c := r.first; c != nil; c = c.next {
			live := ^c.holes
			if c == r.first {
				live &= full << r.head
			}
			if c == r.last {
				live &= full >> r.room // 0 if no slot is used
			}
			for ; live != 0; live &= live - 1 {
				i := bits.TrailingZeros64(live)
				if !yield(c.number*size+i, c.slots[i]) {
					return
				}
			}
		}
	}
}

// All returns the elements, the oldest first, without copying them. The ring must not
// change during the iteration.
func (r *Ring[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range r.places() {
			if !yield(e) {
				return
			}
		}
	}
}

// RemoveFunc removes every element that match accepts and returns them, the oldest
// first, nil if there are none. It takes time linear in the length of the ring.
//
// match is called once for each element, and for all of them before anything
// changes: if it panics, the ring is unchanged. match must not use the ring.
func (r *Ring[E]) RemoveFunc(match func(E) bool) []E {
	var doomed []int // places
	for place, e := range r.places() {
		if match(e) {
			doomed = append(doomed, place)
		}
	}
	if len(doomed) == 0 {
		return nil
	}
	removed := make([]E, len(doomed))
	for i, place := range doomed {
		removed[i] = r.Remove(place)
	}
	return removed
}

// Drain removes all elements and returns them, the oldest first, nil if there are
// none. It releases all memory.
func (r *Ring[E]) Drain() []E {
	if r.n == 0 {
		return nil
	}
	all := make([]E, 0, r.n)
	for e := range r.All() {
		all = append(all, e)
	}
	*r = Ring[E]{moved: r.moved}
	if r.moved != nil {
		for _, e := range all {
			r.moved(e, -1)
		}
	}
	return all
}
