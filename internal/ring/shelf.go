package ring

import "slices"

// idle is the number of chunks that a ring keeps for its next burst when it
// needs them no more.
const idle = 8

// shelf has the chunks of a ring by their number, so that a place leads to its
// chunk, and those in reserve.
type shelf[E any] struct {
	// table has the chunks in use at their numbers, and nil at numbers that are
	// free. Its last entry is a chunk.
	table []*chunk[E]
	used  int // chunks in table
	hint  int // where a free number was found last

	spare  *chunk[E] // linked by next, otherwise zero
	spares int       // at most idle or, if that is more, used or keep
	keep   int       // set by the owner
}

// take gives an empty chunk with a number.
func (s *shelf[E]) take() *chunk[E] {
	if s.spare == nil {
		s.stock()
	}
	c := s.spare
	s.spare, c.next = c.next, nil
	s.spares--

	// Look for a free number if at least half of them are: then a round through
	// the table finds more free numbers than others, and a search takes
	// constant time on average.
	if s.used++; 2*s.used > len(s.table) {
		c.number = len(s.table)
		s.table = append(s.table, c)
		return c
	}
	for {
		if s.hint++; s.hint >= len(s.table) {
			s.hint = 0
		}
		if s.table[s.hint] == nil {
			c.number = s.hint
			s.table[s.hint] = c
			return c
		}
	}
}

// stock makes a chunk to spare, or two if there are many: half the allocations.
func (s *shelf[E]) stock() {
	if s.used < idle {
		s.spare, s.spares = new(chunk[E]), 1
		return
	}
	pair := new([2]chunk[E])
	pair[0].next = &pair[1]
	s.spare, s.spares = &pair[0], 2
}

// release takes back a chunk whose slots are zero.
func (s *shelf[E]) release(c *chunk[E]) {
	s.table[c.number] = nil
	n := len(s.table)
	for n > 0 && s.table[n-1] == nil {
		n--
	}
	s.table = s.table[:n]
	if cap(s.table) > 8*idle && n <= cap(s.table)/4 {
		s.table = slices.Clone(s.table)
	}

	s.used--
	c.prev, c.next, c.number, c.holes = nil, s.spare, 0, 0
	s.spare = c
	s.spares++
	s.stow(max(s.used, s.keep))
}

// settle is for a ring that is in no steady flow.
func (s *shelf[E]) settle() {
	s.keep = 0
	if s.spares > idle {
		s.stow(s.used)
	}
}

// stow keeps no more than so many chunks in reserve, but always a few.
func (s *shelf[E]) stow(most int) {
	for s.spares > max(idle, most) {
		s.spare = s.spare.next
		s.spares--
	}
}
