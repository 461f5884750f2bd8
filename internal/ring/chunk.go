package ring

import (
	"math"
	"math/bits"
	"slices"
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

// minSpares is the number of chunks that a ring keeps in reserve in any case.
const minSpares = 8

// chunkTable allocates the chunks of a ring and numbers them. It has those in use by
// number and a list of spare ones.
type chunkTable[E any] struct {
	// table has the chunks in use at their numbers, and nil at numbers that are
	// free. Its last entry is not nil.
	table []*chunk[E]
	used  int // chunks in table
	hint  int // the free number that was found last

	spare   *chunk[E] // linked by next, otherwise zero
	spares  int       // at most the greatest of minSpares, used and reserve
	reserve int       // how many spare chunks to keep at least; see Pair.Swap
}

// take returns an empty chunk with a number.
func (t *chunkTable[E]) take() *chunk[E] {
	if t.spare == nil {
		t.allocate()
	}
	c := t.spare
	t.spare, c.next = c.next, nil
	t.spares--

	// Look for a free number only if at least half of the numbers are free, so
	// that a search takes constant time on average.
	if t.used++; 2*t.used > len(t.table) {
		c.number = len(t.table)
		t.table = append(t.table, c)
		return c
	}
	for {
		if t.hint++; t.hint >= len(t.table) {
			t.hint = 0
		}
		if t.table[t.hint] == nil {
			c.number = t.hint
			t.table[t.hint] = c
			return c
		}
	}
}

// allocate makes a spare chunk, or two in one allocation if the ring is long.
func (t *chunkTable[E]) allocate() {
	if t.used < minSpares {
		t.spare, t.spares = new(chunk[E]), 1
		return
	}
	pair := new([2]chunk[E])
	pair[0].next = &pair[1]
	t.spare, t.spares = &pair[0], 2
}

// release takes back a chunk, whose slots are zero.
func (t *chunkTable[E]) release(c *chunk[E]) {
	t.table[c.number] = nil
	n := len(t.table)
	for n > 0 && t.table[n-1] == nil {
		n--
	}
	t.table = t.table[:n]
	if cap(t.table) > 8*minSpares && n <= cap(t.table)/4 {
		t.table = slices.Clone(t.table)
	}

	t.used--
	c.prev, c.next, c.number, c.holes = nil, t.spare, 0, 0
	t.spare = c
	t.spares++
	t.trimSpares(max(t.used, t.reserve))
}

// trimSpares releases spare chunks until there are at most n, or minSpares if n is
// less.
func (t *chunkTable[E]) trimSpares(n int) {
	for t.spares > max(minSpares, n) {
		t.spare = t.spare.next
		t.spares--
	}
}

// dropReserve releases what is kept for a steady flow.
func (t *chunkTable[E]) dropReserve() {
	t.reserve = 0
	if t.spares > minSpares {
		t.trimSpares(t.used)
	}
}
