// Package heap has priority queues: [Heap], from which the least element leaves, and [MinMax], which
// has two ends.
package heap

import (
	"cmp"
	"iter"
	"slices"
)

// Heap is a priority queue of elements E, in the order of their ranks. The zero Heap is empty and ready
// to use; [New] makes one that reports places. A Heap does not lock.
//
// It is a tree of ranks in which a node has up to four children, none of which is before it. An
// element does not move with its rank: it stays in its place, a number by which it can be found
// and removed, until it leaves, or the Heap shrinks since most have left. Push, Pop and Remove
// take logarithmic time; Push of what is to leave last, as it is if elements come in order,
// takes constant time.
type Heap[K cmp.Ordered, E any] struct {
	// The tree. The root is in slot 3, so that the four children of a node are in one cache line.
	ranks  []Rank[K]
	places []int32 // by slot

	elems []E     // by place
	slots []int32 // by place; the next free place, if that is free, and the last one is -1
	free  int32   // the first free place; -1 for none

	moved func(e E, place int)
}

const root = 3

// Rank is the order in which elements leave: by key and, among equals, by arrival. Keys are compared as
// [cmp.Compare] does, so a NaN is less than any number. No two elements of a Heap have one rank.
type Rank[K cmp.Ordered] struct {
	Key     K
	Arrival uint64
}

// Before reports whether an element with rank a leaves before one with rank b.
func (a Rank[K]) Before(b Rank[K]) bool {
	if a.Key == b.Key || a.Key != a.Key && b.Key != b.Key {
		return a.Arrival < b.Arrival
	}
	return cmp.Less(a.Key, b.Key)
}

// New returns an empty Heap that calls moved with each element that gets another place than the one that Push
// has returned. moved must not use the Heap.
func New[K cmp.Ordered, E any](moved func(e E, place int)) *Heap[K, E] {
	return &Heap[K, E]{moved: moved}
}

// Len returns the number of elements.
func (h *Heap[K, E]) Len() int { return max(len(h.ranks)-root, 0) }

// Push adds e and returns its place.
func (h *Heap[K, E]) Push(r Rank[K], e E) (place int) {
	if len(h.ranks) == 0 {
		h.ranks, h.places, h.free = make([]Rank[K], root, 8), make([]int32, root, 8), -1
	}
	p := h.free
	if p >= 0 {
		h.free = h.slots[p]
		h.elems[p] = e
	} else {
		p = int32(len(h.elems))
		h.elems, h.slots = append(h.elems, e), append(h.slots, 0)
	}
	h.ranks, h.places = append(h.ranks, r), append(h.places, p)
	h.up(len(h.ranks)-1, r, p)
	return int(p)
}

// First returns the rank of the element that leaves first, or false if there is none.
func (h *Heap[K, E]) First() (r Rank[K], ok bool) {
	if len(h.ranks) <= root {
		return r, false
	}
	return h.ranks[root], true
}

// Peek returns the element that leaves first, or false if there is none.
func (h *Heap[K, E]) Peek() (e E, ok bool) {
	if len(h.ranks) <= root {
		return e, false
	}
	return h.elems[h.places[root]], true
}

// Pop removes the element that leaves first and returns it, or false if there is none.
func (h *Heap[K, E]) Pop() (e E, ok bool) {
	if len(h.ranks) <= root {
		return e, false
	}
	return h.Remove(int(h.places[root])), true
}

// At returns the element in a place, in which there must be one.
func (h *Heap[K, E]) At(place int) E { return h.elems[place] }

// Rank returns the rank of the element in a place.
func (h *Heap[K, E]) Rank(place int) Rank[K] { return h.ranks[h.slots[place]] }

// Remove removes the element in a place and returns it. It panics if there is none.
func (h *Heap[K, E]) Remove(place int) E {
	if i := int(h.slots[place]); i < root || i >= len(h.places) || h.places[i] != int32(place) {
		panic("heap: there is no element in this place")
	}
	e := h.remove(int32(place))
	h.shrink()
	return e
}

// remove is Remove, and keeps the memory.
func (h *Heap[K, E]) remove(place int32) E {
	i, last := int(h.slots[place]), len(h.ranks)-1
	r, p := h.ranks[last], h.places[last]
	h.ranks, h.places = h.ranks[:last], h.places[:last]
	e := h.vacate(place)
	switch {
	case i == last:
	case i > root && r.Before(h.ranks[parent(i)]):
		h.up(i, r, p)
	default:
		h.down(i, r, p)
	}
	return e
}

// vacate takes the element out of a place.
func (h *Heap[K, E]) vacate(place int32) E {
	var none E
	e := h.elems[place]
	h.elems[place], h.slots[place] = none, h.free
	h.free = place
	return e
}

func parent(i int) int     { return i/4 + 2 }
func firstChild(i int) int { return 4*i - 8 }

func (h *Heap[K, E]) set(i int, r Rank[K], p int32) {
	h.ranks[i], h.places[i], h.slots[p] = r, p, int32(i)
}

// up puts a rank into slot i, or above.
func (h *Heap[K, E]) up(i int, r Rank[K], p int32) {
	for i > root {
		above := parent(i)
		if !r.Before(h.ranks[above]) {
			break
		}
		h.set(i, h.ranks[above], h.places[above])
		i = above
	}
	h.set(i, r, p)
}

// down puts a rank into slot i, or below.
func (h *Heap[K, E]) down(i int, r Rank[K], p int32) {
	for {
		first := firstChild(i)
		if first >= len(h.ranks) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h.ranks)); c++ {
			if h.ranks[c].Before(h.ranks[least]) {
				least = c
			}
		}
		if !h.ranks[least].Before(r) {
			break
		}
		h.set(i, h.ranks[least], h.places[least])
		i = least
	}
	h.set(i, r, p)
}

// All returns the elements in no particular order. The Heap must not change meanwhile.
func (h *Heap[K, E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for i := root; i < len(h.places); i++ {
			if !yield(h.elems[h.places[i]]) {
				return
			}
		}
	}
}

// RemoveFunc removes the elements that match and returns them, in no particular order, nil if there are
// none. match is called once for each element, and for all of them before anything changes. It must not
// use the Heap; if it panics, the Heap is unchanged.
func (h *Heap[K, E]) RemoveFunc(match func(E) bool) []E {
	var matching []int32
	for i := root; i < len(h.places); i++ {
		if p := h.places[i]; match(h.elems[p]) {
			matching = append(matching, p)
		}
	}
	var removed []E
	for _, p := range matching {
		removed = append(removed, h.remove(p))
	}
	h.shrink()
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none.
func (h *Heap[K, E]) Drain() []E {
	n := h.Len()
	if n == 0 {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = root + i
	}
	slices.SortFunc(order, func(a, b int) int {
		if h.ranks[a].Before(h.ranks[b]) {
			return -1
		}
		return 1
	})
	all := make([]E, n)
	for i, slot := range order {
		all[i] = h.elems[h.places[slot]]
	}
	*h = Heap[K, E]{moved: h.moved}
	return all
}

// shrink gives memory back once three quarters of the places are free. The elements get new places.
func (h *Heap[K, E]) shrink() {
	n := h.Len()
	if len(h.elems) < 64 || n > len(h.elems)/4 {
		return
	}
	elems, slots := make([]E, n, 2*n), make([]int32, n, 2*n)
	for i := range n {
		e := h.elems[h.places[root+i]]
		elems[i], slots[i] = e, int32(root+i)
		h.places[root+i] = int32(i)
	}
	h.elems, h.slots, h.free = elems, slots, -1
	h.ranks, h.places = append(make([]Rank[K], 0, root+2*n), h.ranks...), append(make([]int32, 0, root+2*n), h.places...)
	if h.moved != nil {
		for p, e := range h.elems {
			h.moved(e, p)
		}
	}
}
