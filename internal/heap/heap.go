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
// and removed, until it leaves, or the Heap shrinks since most have left. Push and Pop take
// logarithmic time; Push of what is to leave last, as it is if elements come in order, takes
// constant time.
//
// Remove takes constant time: the element leaves at once, but its rank stays in the tree until it is
// the first, or the last, or until more than half of the ranks are such. Then a Remove takes
// them all out, in linear time.
type Heap[K cmp.Ordered, E any] struct {
	// The tree. The root is in slot 3, so that the four children of a node are in one cache line.
	// There is an element of the first rank.
	ranks  []Rank[K]
	places []int32 // by slot

	elems []element[K, E] // by place
	full  []uint64        // a bit for each place: whether there is an element
	free  []int32         // the places that are in no slot
	gone  int             // the ranks whose elements have been removed

	moved func(e E, place int)
}

// element is an element with its key, in its place.
type element[K cmp.Ordered, E any] struct {
	elem E
	key  K
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
func (h *Heap[K, E]) Len() int { return max(len(h.ranks)-root, 0) - h.gone }

// Push adds e and returns its place.
func (h *Heap[K, E]) Push(r Rank[K], e E) (place int) {
	if len(h.ranks) == 0 {
		h.ranks, h.places = make([]Rank[K], root, 8), make([]int32, root, 8)
	}
	p := int32(len(h.elems))
	if last := len(h.free) - 1; last >= 0 {
		p, h.free = h.free[last], h.free[:last]
		h.elems[p] = element[K, E]{e, r.Key}
	} else {
		h.elems = append(h.elems, element[K, E]{e, r.Key})
		if int(p)/64 == len(h.full) {
			h.full = append(h.full, 0)
		}
	}
	h.full[p/64] |= 1 << (p % 64)
	h.ranks, h.places = append(h.ranks, r), append(h.places, p)
	h.up(len(h.ranks)-1, r, p)
	return int(p)
}

// isFull reports whether there is an element in a place.
func (h *Heap[K, E]) isFull(place int32) bool { return h.full[place/64]&(1<<(place%64)) != 0 }

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
	return h.elems[h.places[root]].elem, true
}

// Pop removes the element that leaves first and returns it, or false if there is none.
func (h *Heap[K, E]) Pop() (e E, ok bool) {
	if len(h.ranks) <= root {
		return e, false
	}
	return h.Remove(int(h.places[root])), true
}

// At returns the element in a place, in which there must be one.
func (h *Heap[K, E]) At(place int) E { return h.elems[place].elem }

// Key returns the key of the element in a place, in which there must be one.
func (h *Heap[K, E]) Key(place int) K { return h.elems[place].key }

// Remove removes the element in a place and returns it. It panics if there is none.
func (h *Heap[K, E]) Remove(place int) E {
	if place < 0 || place >= len(h.elems) || !h.isFull(int32(place)) {
		panic("heap: there is no element in this place")
	}
	e := h.take(place)
	h.tidy()
	return e
}

// take takes the element out of a place, and leaves its rank in the tree.
func (h *Heap[K, E]) take(place int) E {
	e := h.elems[place].elem
	h.elems[place] = element[K, E]{}
	h.full[place/64] &^= 1 << (place % 64)
	h.gone++
	return e
}

// tidy takes ranks out of the tree after elements have been removed, and gives memory back once three quarters of the
// places are free.
func (h *Heap[K, E]) tidy() {
	h.trim()
	n := h.Len()
	switch {
	case len(h.elems) >= 64 && n <= len(h.elems)/4:
		h.shrink()
	case h.gone > n:
		h.sweep()
	}
}

// trim takes the first and the last ranks out as long as their elements have been removed.
func (h *Heap[K, E]) trim() {
	for h.gone > 0 {
		last := len(h.ranks) - 1
		r, p := h.ranks[last], h.places[last]
		switch first := h.places[root]; {
		case !h.isFull(first):
			h.vacate(first)
			h.cut(last)
			if last > root {
				h.down(root, r, p)
			}
		case !h.isFull(p):
			h.vacate(p)
			h.cut(last)
		default:
			return
		}
	}
}

// cut makes the tree end before a slot.
func (h *Heap[K, E]) cut(slot int) { h.ranks, h.places = h.ranks[:slot], h.places[:slot] }

// vacate makes the place free whose element has been removed, and whose rank leaves the tree.
func (h *Heap[K, E]) vacate(place int32) {
	h.free = append(h.free, place)
	h.gone--
}

// sweep takes all ranks out whose elements have been removed.
func (h *Heap[K, E]) sweep() {
	n := root
	for i := root; i < len(h.ranks); i++ {
		p := h.places[i]
		if !h.isFull(p) {
			h.vacate(p)
			continue
		}
		h.ranks[n], h.places[n] = h.ranks[i], p
		n++
	}
	h.cut(n)
	for i := parent(n - 1); i >= root; i-- {
		h.down(i, h.ranks[i], h.places[i])
	}
}

func parent(i int) int     { return i/4 + 2 }
func firstChild(i int) int { return 4*i - 8 }

func (h *Heap[K, E]) set(i int, r Rank[K], p int32) {
	h.ranks[i], h.places[i] = r, p
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
		for i := range h.elems {
			if h.isFull(int32(i)) && !yield(h.elems[i].elem) {
				return
			}
		}
	}
}

// RemoveFunc removes the elements that match and returns them, in no particular order, nil if there are
// none. match is called once for each element, and for all of them before anything changes. It must not
// use the Heap; if it panics, the Heap is unchanged.
func (h *Heap[K, E]) RemoveFunc(match func(E) bool) []E {
	var matching []int
	for p := range h.elems {
		if h.isFull(int32(p)) && match(h.elems[p].elem) {
			matching = append(matching, p)
		}
	}
	var all []E
	for _, p := range matching {
		all = append(all, h.take(p))
	}
	h.tidy()
	return all
}

// Drain removes all elements and returns them in order, nil if there are none.
func (h *Heap[K, E]) Drain() []E {
	n := h.Len()
	if n == 0 {
		return nil
	}
	h.sweep()
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
		all[i] = h.elems[h.places[slot]].elem
	}
	*h = Heap[K, E]{moved: h.moved}
	return all
}

// shrink gives the elements new places, as few as there are elements.
func (h *Heap[K, E]) shrink() {
	h.sweep()
	n := h.Len()
	elems := make([]element[K, E], n, 2*n)
	for i := range n {
		elems[i] = h.elems[h.places[root+i]]
		h.places[root+i] = int32(i)
	}
	h.elems, h.free = elems, nil
	h.full = make([]uint64, (n+63)/64)
	for p := range n {
		h.full[p/64] |= 1 << (p % 64)
	}
	h.ranks, h.places = append(make([]Rank[K], 0, root+2*n), h.ranks...), append(make([]int32, 0, root+2*n), h.places...)
	if h.moved != nil {
		for p := range h.elems {
			h.moved(h.elems[p].elem, p)
		}
	}
}
