package ring

import "fmt"

// Check reports the first invariant of r that does not hold.
func (r *Ring[E]) Check() error {
	if (r.first == nil) != (r.last == nil) || r.first == nil && r.room != 0 ||
		r.head >= size && r.n > 0 || r.room > size {
		return fmt.Errorf("ends %p and %p, head %d, room %d", r.first, r.last, r.head, r.room)
	}
	var zero E
	elements, chunks := 0, 0
	var prev *chunk[E]
	for c := r.first; c != nil; prev, c = c, c.next {
		chunks++
		if c.prev != prev || c.next == nil && c != r.last {
			return fmt.Errorf("chunk %d has wrong links", c.number)
		}
		if c.number >= len(r.table) || r.table[c.number] != c {
			return fmt.Errorf("chunk %d is not in the table", c.number)
		}
		live := 0
		for i := range uint(size) {
			hole := c.holes&(1<<i) != 0
			ahead := c == r.last && i >= size-r.room
			switch {
			case ahead && hole:
				return fmt.Errorf("slot %d of chunk %d is unused, and a hole", i, c.number)
			case !hole && !ahead && (c != r.first || i >= r.head):
				live++
				if c == r.first && live == 1 && i != r.head {
					return fmt.Errorf("head is %d and the first element at %d", r.head, i)
				}
			case any(c.slots[i]) != any(zero):
				return fmt.Errorf("slot %d of chunk %d is not clear: %v", i, c.number, c.slots[i])
			}
		}
		if c == r.last && live > 0 && c.holes>>(size-1-r.room) != 0 {
			return fmt.Errorf("the youngest slot is a hole")
		}
		if live == 0 && (c != r.last || r.room == 0) {
			return fmt.Errorf("chunk %d has no elements and no room", c.number)
		}
		elements += live
	}
	if elements != r.n {
		return fmt.Errorf("%d elements, %d counted", elements, r.n)
	}
	return r.checkTable(chunks)
}

// checkTable reports the first invariant of the table of a ring of that many chunks
// that does not hold.
func (t *chunkTable[E]) checkTable(chunks int) error {
	numbered := 0
	for _, c := range t.table {
		if c != nil {
			numbered++
		}
	}
	if chunks != t.used || chunks != numbered {
		return fmt.Errorf("%d chunks, %d with a number, %d counted", chunks, numbered, t.used)
	}
	if n := len(t.table); n > 0 && t.table[n-1] == nil {
		return fmt.Errorf("the table ends with a free number")
	}
	for _, c := range t.table[len(t.table):cap(t.table)] {
		if c != nil {
			return fmt.Errorf("the table is not clear at its end")
		}
	}
	var zero [size]E
	spares := 0
	for c := t.spare; c != nil; c = c.next {
		spares++
		if c.prev != nil || c.number != 0 || c.holes != 0 || any(c.slots) != any(zero) {
			return fmt.Errorf("a spare chunk is not clear")
		}
	}
	if spares != t.spares || spares > max(minSpares, t.used, t.reserve) {
		return fmt.Errorf("%d chunks in reserve, %d counted, %d in use", spares, t.spares, t.used)
	}
	return nil
}

// Check reports the first invariant of p that does not hold.
func (p *Pair[E]) Check() error {
	for i := range p.halves {
		if err := p.halves[i].ring.Check(); err != nil {
			return fmt.Errorf("half %d: %w", i, err)
		}
	}
	return nil
}

// Cap returns the number of slots, with those in reserve.
func (p *Pair[E]) Cap() int { return p.halves[0].ring.Cap() + p.halves[1].ring.Cap() }

// Size is the number of slots of a chunk.
const Size = size

// Cap returns the number of slots, with those in reserve.
func (r *Ring[E]) Cap() int { return (r.used + r.spares) * size }

// Numbers returns the length of the table.
func (r *Ring[E]) Numbers() int { return len(r.table) }
