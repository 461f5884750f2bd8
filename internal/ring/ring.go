package ring

import "fmt"

// Ring is a first-in, first-out queue. The zero Ring is empty and ready to use. A
// Ring is not safe for concurrent use.
//
// Every element has a place, a number that no other element of the ring has. It
// stays the same until the element leaves, unless [Ring.Compact] changes it. If
// Compact is called after each removal from the middle, places are less than about
// four times the largest number of elements that were in the ring at once.
type Ring[E any] struct {
	// first and last are the ends of the list of chunks, nil if there is no chunk.
	// In first, the slots below head have been left; in last, the room slots at
	// the end have not been used yet.
	first, last *chunk[E]
	head        uint // always less than size
	room        uint

	n int // elements

	chunkTable[E]

	moved func(e E, place int) // may be nil
}

// New returns an empty ring that calls moved with an element and its place when it is
// pushed, and with -1 when it leaves. moved must not use the ring. A nil moved is not
// called. The zero Ring is faster for a caller that notes the place that
// [Ring.Push] returns.
func New[E any](moved func(e E, place int)) *Ring[E] {
	return &Ring[E]{moved: moved}
}

// Len returns the number of elements.
func (r *Ring[E]) Len() int { return r.n }

// Push adds e as the youngest element and returns its place.
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

// Peek returns the oldest element, or false if the ring is empty.
func (r *Ring[E]) Peek() (e E, ok bool) {
	if r.n == 0 {
		return e, false
	}
	return r.first.slots[r.head], true
}

// First returns a pointer to the oldest element, nil if the ring is empty. The
// pointer is valid until that element leaves.
func (r *Ring[E]) First() *E {
	if r.n == 0 {
		return nil
	}
	return &r.first.slots[r.head%size]
}

// Pop removes the oldest element and returns it, or false if the ring is empty.
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
		r.skipHoles()
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e, true
}

// At returns the element at place, in constant time. It panics if there is none.
func (r *Ring[E]) At(place int) E {
	c, i := r.find(place)
	if c == nil {
		panic(fmt.Sprintf("ring: no element at place %d", place))
	}
	return c.slots[i]
}

// Remove removes the element at place and returns it, in constant time. It panics if
// there is no element at place.
func (r *Ring[E]) Remove(place int) E {
	c, i := r.find(place)
	if c == nil {
		panic(fmt.Sprintf("ring: no element at place %d", place))
	}
	e := c.slots[i]
	c.slots[i] = *new(E)
	r.n--
	if c == r.last && i == size-1-r.room {
		r.popTail()
	} else {
		r.punch(c, i)
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e
}

// Sparse reports whether more than three quarters of a ring of more than a few chunks
// are holes. It takes constant time.
func (r *Ring[E]) Sparse() bool { return r.used > minSpares && r.used*size > 4*r.n }

// Compact fills the ring anew if it is sparse, and calls moved for each element with
// its new place. A nil moved is not called. It takes time linear in the length of
// the ring.
func (r *Ring[E]) Compact(moved func(e E, place int)) {
	if !r.Sparse() {
		return
	}
	for _, e := range r.Drain() {
		place := r.Push(e)
		if moved != nil {
			moved(e, place)
		}
	}
}

// find returns the chunk and the slot of the element at place, nil if there is none.
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
