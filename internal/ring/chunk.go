package ring

import (
	"math"
	"math/bits"
)

// size is the number of slots of a chunk, one for each bit of a word. Chunks of 256
// are a few percent faster in long queues, and cost more memory in short ones.
const size = 64

// full has a bit set for each slot of a chunk.
const full = math.MaxUint64

// chunk is a node of the list. A slot without an element is zero.
type chunk[E any] struct {
	prev, next *chunk[E]
	number     int // the index in the table

	holes uint64 // a bit for each slot whose element was removed from the middle

	slots [size]E
}

// extend appends a chunk.
func (r *Ring[E]) extend() {
	c := r.take()
	if r.last == nil {
		r.first, r.head = c, 0
	} else {
		c.prev, r.last.next = r.last, c
	}
	r.last, r.room = c, size
}

// popTail makes room of the youngest slot, which is zero, and of the holes before it.
// Chunks that have no element then are unlinked, except for the only chunk of an
// empty ring.
func (r *Ring[E]) popTail() {
	r.room++
	c := r.last
	for r.n > 0 {
		r.room += uint(bits.LeadingZeros64(^(c.holes << r.room)))
		c.holes &= 1<<(size-r.room) - 1
		if r.room < size {
			return
		}
		r.unlink(c)
		c, r.room = r.last, 0
	}
	if c.number > 0 {
		r.unlink(c) // so that the table can shrink
		r.head, r.room = 0, 0
		return
	}
	r.head, r.room, c.holes = 0, size, 0
}

// punch makes a hole of a slot, which is zero and not the youngest.
func (r *Ring[E]) punch(c *chunk[E], i uint) {
	c.holes |= 1 << i
	if c == r.first {
		r.skipHoles()
	} else if c.holes == full {
		r.unlink(c)
	}
}

// skipHoles moves head to the oldest element, past the holes before it, and unlinks
// the chunks that it leaves.
func (r *Ring[E]) skipHoles() {
	for {
		r.head += uint(bits.TrailingZeros64(^(r.first.holes >> r.head)))
		if r.head < size {
			return
		}
		r.head = 0
		r.unlink(r.first)
		if r.first == nil {
			return
		}
	}
}

// unlink takes a chunk without elements and without room out of the list.
func (r *Ring[E]) unlink(c *chunk[E]) {
	if c.prev == nil {
		r.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		r.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	r.release(c)
}
