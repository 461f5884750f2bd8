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

	// holes has a bit for each element that was removed from the middle. No
	// chunk but the last consists of what was removed alone.
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
