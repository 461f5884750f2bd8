// Package ring is the first-in, first-out queue of this module: a chain of
// small arrays, with removal from the middle in constant time.
//
// It is a plain structure. It takes no locks; whoever owns a [Ring] guards it
// with a lock of its own.
package ring

import "fmt"

// Ring is a queue of elements E. The zero Ring is empty and ready to use, and
// tells nobody about places; [New] makes one that does. A Ring is not safe for
// concurrent use.
//
// Every element has a place, a number that is its own and the same for as long
// as it is in the ring, unless [Ring.CloseRanks] names another. Places are used
// again, and holes are not. If CloseRanks follows each removal from the middle, no
// place is larger than about four times the largest number of elements that ever
// were in the ring at once.
//
// The elements lie in chunks, which come and go at the ends as in a ring buffer
// of chunks. A circular array that doubles lost: a push in a million copies the
// million, and the arrays have to be cleared when they are made, as it grows and
// again as it shrinks, which is most of the cost of a queue that comes and goes in
// bursts. See docs/design/decisions/0014.
type Ring[E any] struct {
	// first and last are the ends of the chain, nil if there is no chunk. Of
	// the first, the slots below head have been left; of the last, the room
	// slots at the end are not taken yet. The slot at head holds an element,
	// unless the ring is empty.
	first, last *chunk[E]
	head        uint // always less than size
	room        uint

	n int // elements

	shelf[E]

	moved func(e E, place int) // nil if nobody wants to know
}

// New returns an empty ring that reports places to moved: an element's place
// when it is pushed, and -1 when it leaves. moved may be nil; it must not touch
// the ring. It is called through a pointer, with the element, so a caller who
// has its own way to the place is better served by a zero Ring and [Ring.Push].
func New[E any](moved func(e E, place int)) *Ring[E] {
	return &Ring[E]{moved: moved}
}

// Len returns the number of elements.
func (r *Ring[E]) Len() int { return r.n }

// Push adds e as the youngest element and returns its place, which holds until
// e leaves.
func (r *Ring[E]) Push(e E) (place int) {
	if r.room == 0 {
		r.extend()
	}
	c := r.last
	i := (size - r.room) % size
	c.slots[i] = e
	r.room--
	r.n++
	place = c.number*size + int(i)
	if r.moved != nil {
		r.moved(e, place)
	}
	return place
}

// Peek returns the oldest element without removing it, or false if the ring is
// empty.
func (r *Ring[E]) Peek() (e E, ok bool) {
	if r.n == 0 {
		return e, false
	}
	return r.first.slots[r.head], true
}

// First is Peek without a copy: it returns nil if the ring is empty, and what it
// points to may be used until that element leaves.
func (r *Ring[E]) First() *E {
	if r.n == 0 {
		return nil
	}
	return &r.first.slots[r.head%size]
}

// Pop removes the oldest element and returns it, or false if the ring is
// empty.
func (r *Ring[E]) Pop() (e E, ok bool) {
	if r.n == 0 {
		return e, false
	}
	c := r.first
	slot := &c.slots[r.head%size]
	e = *slot
	*slot = *new(E)
	r.n--
	r.head++
	if r.head == size || c.holes != 0 {
		r.trim()
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e, true
}

// Remove removes the element at place and returns it, in constant time. It
// panics if no element is there.
func (r *Ring[E]) Remove(place int) E {
	c, i := r.find(place)
	if c == nil {
		panic(fmt.Sprintf("ring: no element at place %d", place))
	}
	e := c.slots[i]
	c.slots[i] = *new(E)
	r.n--
	if c == r.last && i == size-1-r.room {
		r.retract()
	} else {
		r.pierce(c, i)
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e
}

// Sparse reports whether CloseRanks has something to do: whether three quarters of
// the ring are holes. It takes constant time.
func (r *Ring[E]) Sparse() bool { return r.used > idle && r.used*size > 4*r.n }

// CloseRanks fills the ring anew if it is sparse, and tells its elements their new
// places. A nil tell tells nobody.
func (r *Ring[E]) CloseRanks(tell func(e E, place int)) {
	if !r.Sparse() {
		return
	}
	for _, e := range r.Drain() {
		place := r.Push(e)
		if tell != nil {
			tell(e, place)
		}
	}
}

// find returns the chunk and the index of the element at place, nil if there
// is none.
func (r *Ring[E]) find(place int) (c *chunk[E], i uint) {
	number, i := uint(place)/size, uint(place)%size // a huge number if place is negative
	if number >= uint(len(r.table)) {
		return nil, 0
	}
	c = r.table[number]
	if c == nil || c.holes&(1<<i) != 0 || c == r.first && i < r.head || c == r.last && i >= size-r.room {
		return nil, 0
	}
	return c, i
}
