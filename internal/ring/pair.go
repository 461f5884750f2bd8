package ring

import "iter"

// Pair is a queue like [Ring], made of two: one to push to, one to pop from,
// which has what came before. When the latter is empty they change places. So
// the two ends of a Pair can be used at the same time: [Pair.Push] and
// [Pair.Pushed] by one goroutine, [Pair.First] and [Pair.Shift] by another. Every other method
// needs the Pair for itself.
//
// The zero Pair is empty and ready to use. An element's place is its own for as
// long as it is in the queue, unless [Pair.CloseRanks] names another.
type Pair[E any] struct {
	// in is the half to push to. It is what both ends read, and comes first since
	// compiled code reads the first word of what a pointer points to, in order
	// to see that the pointer is not nil.
	in int

	_      cacheLine
	halves [2]half[E]
}

// half has the elements whose place is even, or odd.
type half[E any] struct {
	ring Ring[E]
	_    cacheLine
}

// cacheLine keeps apart what different processors write at the same time.
type cacheLine [64]byte

// Push adds e as the youngest element and returns its place.
func (p *Pair[E]) Push(e E) (place int) { return 2*p.halves[p.in].ring.Push(e) + p.in }

// First returns the oldest element of the half to pop from, nil if that is
// empty; it may be used until that element leaves.
func (p *Pair[E]) First() *E { return p.out().First() }

// Shift removes the oldest element of the half to pop from and returns it, or
// false if that is empty.
func (p *Pair[E]) Shift() (E, bool) { return p.out().Pop() }

func (p *Pair[E]) out() *Ring[E] { return &p.halves[1-p.in].ring }

// Turn has the halves change places if the one to pop from is empty. Then it
// reports whether there is something in it.
func (p *Pair[E]) Turn() bool {
	out := p.out()
	if out.Len() > 0 {
		return true
	}
	p.in = 1 - p.in
	next := p.out()
	// In a queue that is always about equally long each half takes turns at being
	// empty, and will need as much memory again as the other one has now, or a chunk
	// more if it begins elsewhere.
	out.keep, next.keep = next.used+1, next.used+1
	out.stow(out.keep)
	next.stow(next.keep)
	return next.Len() > 0
}

// Pop removes the oldest element and returns it, or false if the queue is empty.
func (p *Pair[E]) Pop() (E, bool) {
	p.Turn()
	e, ok := p.Shift()
	if p.Len() == 0 {
		p.Turn() // gives back the memory of the half that is empty now
	}
	return e, ok
}

// Pushed returns the number of elements in the half to push to; it may be called
// by the goroutine that pushes.
func (p *Pair[E]) Pushed() int { return p.halves[p.in].ring.Len() }

// Len returns the number of elements.
func (p *Pair[E]) Len() int { return p.halves[0].ring.Len() + p.halves[1].ring.Len() }

// Remove removes the element at place and returns it, in constant time. It
// panics if no element is there.
func (p *Pair[E]) Remove(place int) E {
	r := &p.halves[place&1].ring
	e := r.Remove(place >> 1)
	r.settle() // this is no steady flow
	if p.Len() == 0 {
		p.halves[1-place&1].ring.settle()
	}
	return e
}

// RemoveFunc removes every element that match accepts and returns them, the
// oldest first, nil if there are none. match is called once for each element,
// and for all of them before anything changes.
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

// Sparse reports whether CloseRanks has something to do.
func (p *Pair[E]) Sparse() bool { return p.halves[0].ring.Sparse() || p.halves[1].ring.Sparse() }

// CloseRanks fills the halves anew that are sparse, and tells their elements the
// new places.
func (p *Pair[E]) CloseRanks(tell func(e E, place int)) {
	for i := range p.halves {
		p.halves[i].ring.CloseRanks(func(e E, place int) { tell(e, 2*place+i) })
	}
}

// Drain removes all elements and returns them, the oldest first, nil if there
// are none. All memory is given back.
func (p *Pair[E]) Drain() []E {
	return append(p.out().Drain(), p.halves[p.in].ring.Drain()...)
}

// All returns the elements, the oldest first, without copying them. The queue
// must not change during the traversal.
func (p *Pair[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range p.places() {
			if !yield(e) {
				return
			}
		}
	}
}

// places gives the elements with their places, the oldest first.
func (p *Pair[E]) places() iter.Seq2[int, E] {
	return func(yield func(int, E) bool) {
		for _, i := range [...]int{1 - p.in, p.in} {
			for place, e := range p.halves[i].ring.places() {
				if !yield(2*place+i, e) {
					return
				}
			}
		}
	}
}
