package ring

import "iter"

// Pair is a first-in, first-out queue made of two rings, the tail to push to and the
// head to pop from. When the head is empty, [Pair.Swap] exchanges them.
//
//	PushTail ──▶ tail   ⇄ Swap   head ──▶ PopHead
//
// One goroutine may use [Pair.PushTail] and [Pair.TailLen] while another uses
// [Pair.PopHead]. No other method may be called at the same time as any method.
//
// The zero Pair is empty and ready to use. Every element has a place as in a [Ring],
// unless [Pair.Compact] changes it.
type Pair[E any] struct {
	// tail is the index of the tail in halves. Both goroutines read it. It is
	// the first field, since compiled code reads the first word of a structure to
	// check that its address is not nil.
	tail int

	_      cacheLine
	halves [2]half[E]
}

// half is a ring on cache lines of its own. Places in halves[0] are even, places in
// halves[1] odd.
type half[E any] struct {
	ring Ring[E]
	_    cacheLine
}

// cacheLine separates what different processors write at the same time.
type cacheLine [64]byte

// PushTail adds e as the youngest element and returns its place.
func (p *Pair[E]) PushTail(e E) (place int) { return 2*p.halves[p.tail].ring.Push(e) + p.tail }

// TailLen returns the number of elements in the tail.
func (p *Pair[E]) TailLen() int { return p.halves[p.tail].ring.Len() }

// PopHead removes the oldest element of the head and returns it, or false if the head
// is empty.
func (p *Pair[E]) PopHead() (E, bool) { return p.head().Pop() }

func (p *Pair[E]) head() *Ring[E] { return &p.halves[1-p.tail].ring }

// Swap exchanges head and tail if the head is empty. If both are, it releases their memory.
func (p *Pair[E]) Swap() {
	head, next := p.head(), &p.halves[p.tail].ring
	switch {
	case head.n > 0:
		return
	case next.n == 0:
		head.dropReserve()
		next.dropReserve()
		return
	}
	p.tail = 1 - p.tail
	// In a queue of steady length the rings take turns at being empty. The empty
	// ring will need as many chunks as the other has now, or one more if its first
	// element is in the middle of a chunk.
	head.reserve, next.reserve = next.used+1, next.used+1
	head.trimSpares(head.reserve)
	next.trimSpares(next.reserve)
}

// Pop removes the oldest element and returns it, or false if the queue is empty.
func (p *Pair[E]) Pop() (E, bool) {
	p.Swap()
	e, ok := p.PopHead()
	if ok && p.Len() == 0 {
		p.Swap() // releases the memory of the ring that has become empty
	}
	return e, ok
}

// Len returns the number of elements.
func (p *Pair[E]) Len() int { return p.halves[0].ring.n + p.halves[1].ring.n }

// At returns the element at place, in constant time. It panics if there is none.
func (p *Pair[E]) At(place int) E { return p.halves[place&1].ring.At(place >> 1) }

// Remove removes the element at place and returns it, in constant time. It panics if
// there is no element at place.
func (p *Pair[E]) Remove(place int) E {
	r := &p.halves[place&1].ring
	e := r.Remove(place >> 1)
	r.dropReserve() // the flow is not steady
	if p.Len() == 0 {
		p.halves[1-place&1].ring.dropReserve()
	}
	return e
}

// RemoveFunc removes every element that match accepts and returns them, the oldest
// first, nil if there are none. match is called once for each element, and for all
// of them before anything changes.
func (p *Pair[E]) RemoveFunc(match func(E) bool) (removed []E) {
	var doomed []int
	for place, e := range p.places() {
		if match(e) {
			doomed = append(doomed, place)
		}
	}
	for _, place := range doomed {
		removed = append(removed, p.Remove(place))
	}
	return removed
}

// Sparse reports whether one of the rings is sparse, see [Ring.Sparse].
func (p *Pair[E]) Sparse() bool { return p.halves[0].ring.Sparse() || p.halves[1].ring.Sparse() }

// Compact fills the rings anew that are sparse, and calls moved for each of their
// elements with its new place.
func (p *Pair[E]) Compact(moved func(e E, place int)) {
	for i := range p.halves {
		p.halves[i].ring.Compact(func(e E, place int) { moved(e, 2*place+i) })
	}
}

// Drain removes all elements and returns them, the oldest first, nil if there are
// none. It releases all memory.
func (p *Pair[E]) Drain() []E {
	return append(p.head().Drain(), p.halves[p.tail].ring.Drain()...)
}

// All returns the elements, the oldest first, without copying them. The queue must
// not change during the iteration.
func (p *Pair[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range p.places() {
			if !yield(e) {
				return
			}
		}
	}
}

// places returns the elements with their places, the oldest first.
func (p *Pair[E]) places() iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for _, i := range [...]int{1 - p.tail, p.tail} {
			for place, e := range p.halves[i].ring.places() {
				if !yield(2*place+i, e) {
					return
				}
			}
		}
	}
}
