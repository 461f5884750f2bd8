// Package ring is the first-in, first-out queue of this module: a circular
// array that grows, with removal from the middle in constant time.
//
// It is a plain structure. It takes no locks; whoever owns a [Ring] guards it
// with a lock of its own.
package ring

import (
	"fmt"
	"math"
)

const (
	// smallest is the capacity of the first array; a power of two.
	smallest = 16

	// idle is the capacity up to which a ring keeps its array whatever its
	// length, so that short bursts do not allocate each time they come round.
	idle = 512
)

// Ring is a queue of elements E. The zero Ring is empty and ready to use, and
// tells nobody about moves; [New] makes one that does. A Ring is not safe for
// concurrent use.
//
// Every element has a place, a number that grows from the oldest to the
// youngest. An element removed from the middle leaves a hole, which later
// operations step over.
type Ring[E any] struct {
	// buf is the array; its length is zero or a power of two. The element at
	// position p lives in buf[p&(len(buf)-1)]. Everything outside of the span,
	// and every hole, is zero: the array retains nothing that left.
	buf []E

	// The span [head, tail) holds the elements and the holes among them. The
	// positions count on for ever and wrap around without harm, since only
	// their difference and their low bits matter. No hole is at either end: if
	// the span is not empty, head and tail-1 are elements.
	head, tail uint

	// holes counts the holes. While it is zero, which is nearly always, nobody
	// looks at hole. A flag in each slot would cost every push and pop a write,
	// and a padded slot of memory.
	holes int
	hole  []uint64 // one bit for each index of buf; nil before the first hole

	moved func(e E, place int) // nil if nobody wants to know
}

// New returns an empty ring that reports places to moved: an element's place
// when it is pushed, its new one if the ring has to close the holes, and -1
// when it leaves. moved may be nil; it must not touch the ring.
func New[E any](moved func(e E, place int)) *Ring[E] {
	return &Ring[E]{moved: moved}
}

// Len returns the number of elements.
func (r *Ring[E]) Len() int { return int(r.tail-r.head) - r.holes }

// Push adds e as the youngest element and returns its place, which holds until
// moved names another.
func (r *Ring[E]) Push(e E) (place int) {
	if r.tail-r.head == uint(len(r.buf)) {
		r.makeRoom()
	}
	p := r.tail
	r.buf[r.index(p)] = e
	r.tail++
	if r.moved != nil {
		r.moved(e, placeOf(p))
	}
	return placeOf(p)
}

// Peek returns the oldest element without removing it, or false if the ring is
// empty.
func (r *Ring[E]) Peek() (e E, ok bool) {
	if r.head == r.tail {
		return e, false
	}
	return r.buf[r.index(r.head)], true
}

// Pop removes the oldest element and returns it, or false if the ring is
// empty.
func (r *Ring[E]) Pop() (e E, ok bool) {
	if r.head == r.tail {
		return e, false
	}
	slot := &r.buf[r.index(r.head)]
	e = *slot
	*slot = *new(E)
	r.head++
	if r.holes > 0 {
		r.trim()
	}
	if r.sparse() {
		r.relocate(r.fitting())
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e, true
}

// Remove removes the element at place and returns it, in constant time on
// average. It panics if no element is there. Places change, so this is for
// rings that report to moved.
func (r *Ring[E]) Remove(place int) E {
	offset := (uint(place) - r.head) & math.MaxInt
	p := r.head + offset
	if place < 0 || offset >= r.tail-r.head || r.isHole(p) {
		panic(fmt.Sprintf("ring: no element at place %d", place))
	}
	e := r.punch(p)
	r.trim()
	if r.sparse() {
		r.relocate(r.fitting())
	}
	if r.moved != nil {
		r.moved(e, -1)
	}
	return e
}

// index returns where position p lives in buf.
func (r *Ring[E]) index(p uint) uint { return p & uint(len(r.buf)-1) }

// placeOf returns the position p as callers know it: never negative, since -1
// stands for "gone". The bit this drops matters only where int has 32 bits,
// and there Remove puts it back.
func placeOf(p uint) int { return int(p & math.MaxInt) }
