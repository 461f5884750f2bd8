package heap

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// MinMax is a priority queue with two ends: the least element can be removed, and the
// greatest. Equal keys are ordered by arrival, so the greatest element is the last to
// leave. The zero MinMax is empty and ready to use; [NewMinMax] makes one that reports
// places. A MinMax does not lock.
//
// It is a min-max heap (Atkinson, Sack, Santoro and Strothotte, "Min-Max Heaps and
// Generalized Priority Queues", CACM 29, 1986): a binary heap in which an element on an
// even level is the least of its subtree, and one on an odd level the greatest. Push, Pop,
// PopGreatest and Remove take logarithmic time.
type MinMax[K cmp.Ordered, E any] struct {
	items    []ranked[K, E]
	arrivals uint64
	moved    func(e E, place int)
}

// ranked is an element with its rank.
type ranked[K cmp.Ordered, E any] struct {
	Rank[K]
	elem E
}

// NewMinMax returns an empty queue that calls moved with each element that has a new
// place, also with one that is pushed, but not with one that leaves. moved must not use
// the queue.
func NewMinMax[K cmp.Ordered, E any](moved func(e E, place int)) *MinMax[K, E] {
	return &MinMax[K, E]{moved: moved}
}

// Len returns the number of elements.
func (h *MinMax[K, E]) Len() int { return len(h.items) }

// Push adds e under key.
func (h *MinMax[K, E]) Push(key K, e E) {
	h.items = append(h.items, ranked[K, E]{Rank[K]{key, h.arrivals}, e})
	h.arrivals++
	h.up(len(h.items) - 1)
}

// Pop removes the least element and returns it, or false if the queue is empty.
func (h *MinMax[K, E]) Pop() (e E, ok bool) {
	if len(h.items) == 0 {
		return e, false
	}
	return h.Remove(0), true
}

// Greatest returns the greatest key, or false if the queue is empty.
func (h *MinMax[K, E]) Greatest() (key K, ok bool) {
	if len(h.items) == 0 {
		return key, false
	}
	return h.items[h.greatest()].Key, true
}

// PopGreatest removes the greatest element and returns it, or false if the queue is empty.
func (h *MinMax[K, E]) PopGreatest() (e E, ok bool) {
	if len(h.items) == 0 {
		return e, false
	}
	return h.Remove(h.greatest()), true
}

// greatest returns where the greatest element is: at the root if that is the only one,
// else at one of its children.
func (h *MinMax[K, E]) greatest() int {
	switch {
	case len(h.items) <= 2:
		return len(h.items) - 1
	case h.items[1].Before(h.items[2].Rank):
		return 2
	}
	return 1
}

// At returns the element at place. It panics if there is none.
func (h *MinMax[K, E]) At(place int) E { return h.items[place].elem }

// Remove removes the element at place and returns it. It panics if there is none.
func (h *MinMax[K, E]) Remove(place int) E {
	e := h.items[place].elem
	last := len(h.items) - 1
	h.items[place] = h.items[last]
	h.items[last] = ranked[K, E]{}
	h.items = h.items[:last]
	if place < last {
		h.up(place)
		h.down(place) // what up has left there may be too great for a subtree
	}
	h.shrink()
	return e
}

// RemoveFunc removes every element that match accepts and returns them in no particular
// order, nil if there are none. match must not use the queue; if it panics, the queue is
// unchanged.
func (h *MinMax[K, E]) RemoveFunc(match func(E) bool) []E {
	var removed []E
	var kept []ranked[K, E]
	for _, it := range h.items {
		if match(it.elem) {
			removed = append(removed, it.elem)
		} else {
			kept = append(kept, it)
		}
	}
	if len(removed) == 0 {
		return nil
	}
	h.items = kept
	for i := range kept {
		h.note(i)
	}
	for i := len(kept)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none.
func (h *MinMax[K, E]) Drain() []E {
	slices.SortFunc(h.items, func(a, b ranked[K, E]) int {
		if a.Before(b.Rank) {
			return -1
		}
		return 1
	})
	var all []E
	for _, it := range h.items {
		all = append(all, it.elem)
	}
	h.items = nil
	return all
}

// All returns the elements in no particular order. The queue must not change meanwhile.
func (h *MinMax[K, E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for i := range h.items {
			if !yield(h.items[i].elem) {
				return
			}
		}
	}
}

// up moves the element at i to where it is in order with those above it, and reports its
// place. If it goes up, another comes to i.
func (h *MinMax[K, E]) up(i int) {
	sign := order(i)
	if i > 0 {
		if parent := (i - 1) / 2; h.less(parent, i, sign) {
			h.swap(i, parent)
			i, sign = parent, -sign
		}
	}
	for i > 2 {
		above := (i - 3) / 4
		if !h.less(i, above, sign) {
			break
		}
		h.swap(i, above)
		i = above
	}
	h.note(i)
}

// down moves the element at i to where it is in order with those below it.
func (h *MinMax[K, E]) down(i int) {
	sign := order(i)
	for {
		first := i
		for _, below := range [...]int{2*i + 1, 2*i + 2, 4*i + 3, 4*i + 4, 4*i + 5, 4*i + 6} {
			if below < len(h.items) && h.less(below, first, sign) {
				first = below
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		if first <= 2*i+2 {
			return // a child, which has no children of its own that are less
		}
		if parent := (first - 1) / 2; h.less(parent, first, sign) {
			h.swap(first, parent)
		}
		i = first
	}
}

// order returns 1 for a place on a level of least elements, -1 on one of greatest.
func order(i int) int { return 1 - 2*(1-bits.Len(uint(i+1))&1) }

// less reports whether the element at i is before that at j, by the order of their level.
func (h *MinMax[K, E]) less(i, j, sign int) bool {
	if sign < 0 {
		i, j = j, i
	}
	return h.items[i].Before(h.items[j].Rank)
}

func (h *MinMax[K, E]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.note(i)
	h.note(j)
}

func (h *MinMax[K, E]) note(i int) {
	if h.moved != nil {
		h.moved(h.items[i].elem, i)
	}
}

// shrink releases memory when three quarters are unused.
func (h *MinMax[K, E]) shrink() {
	if n := len(h.items); cap(h.items) > 64 && n < cap(h.items)/4 {
		h.items = append(make([]ranked[K, E], 0, 2*n), h.items...)
	}
}
