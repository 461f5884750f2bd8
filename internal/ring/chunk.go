package ring

import (
	"math"
	"math/bits"
)

// size is the number of slots of a chunk: as many as a word has bits. Chunks of
// 256 are a few percent faster in long queues, and cost more in all the short
// ones.
const size = 64

// full marks all slots of a chunk as holes.
const full = math.MaxUint64

// chunk is a piece of the queue. Every slot that holds no element is zero: a
// chunk retains nothing that left.
type chunk[E any] struct {
	prev, next *chunk[E]
	number     int // the chunk's index in the table

	// holes has a bit for each element that was removed from the middle. No chunk
	// consists of these alone, and the youngest slot is none.
	holes uint64

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

// retract takes back the youngest slot, which has been emptied, and the holes before
// it, so that the youngest slot never is a hole. A chunk without elements goes, unless
// the ring is empty and has that one: what comes and goes alone finds it there.
func (r *Ring[E]) retract() {
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
		r.unlink(c) // so that the table can be short
		r.head, r.room = 0, 0
		return
	}
	r.head, r.room, c.holes = 0, size, 0
}

// pierce makes a hole of a slot that has been emptied and is not the youngest.
func (r *Ring[E]) pierce(c *chunk[E], i uint) {
	c.holes |= 1 << i
	if c == r.first {
		r.trim()
	} else if c.holes == full {
		r.unlink(c)
	}
}

// trim moves head to the oldest element, over the holes before it, and drops
// the chunk that it leaves.
func (r *Ring[E]) trim() {
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

// unlink takes a chunk without elements and without room out of the chain.
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
