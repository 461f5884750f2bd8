package heap

import "fmt"

// Check reports the first invariant of q that does not hold.
func (q *Queue[K, E]) Check() error {
	if n := len(q.slots); n > 0 && n < root {
		return fmt.Errorf("an array of %d slots has no room for what is below the root", n)
	}
	n := 0
	at := func(s slot[K], home uint32) error {
		n++
		if s.seq>>placeBits >= q.arrivals {
			return fmt.Errorf("slot %v arrived as one of %d", s, q.arrivals)
		}
		if p := s.place(); p >= uint32(len(q.home)) || q.home[p] != home {
			return fmt.Errorf("slot %v at %#x is not known to be there", s, home)
		}
		return nil
	}
	for i := range q.slots {
		s := q.slots[i]
		if i < root {
			if s != (slot[K]{}) {
				return fmt.Errorf("slot %d below the root is used", i)
			}
			continue
		}
		if err := at(s, uint32(i)); err != nil {
			return err
		}
		if parent := i/arity + 2; i > root && s.before(&q.slots[parent]) {
			return fmt.Errorf("slot %d (key %v) is before its parent %d (key %v)", i, s.key, parent, q.slots[parent].key)
		}
	}
	for i, s := range q.slots[len(q.slots):cap(q.slots)] {
		if s != (slot[K]{}) {
			return fmt.Errorf("slot %d past the end is not clear: %v", len(q.slots)+i, s)
		}
	}
	if err := q.checkLane(at); err != nil {
		return err
	}
	if n != q.n {
		return fmt.Errorf("%d slots, %d counted", n, q.n)
	}
	return q.checkStore()
}

// checkLane does it for the lane.
func (q *Queue[K, E]) checkLane(at func(s slot[K], home uint32) error) error {
	var last slot[K]
	first := true
	for s := range q.lane.All() {
		home := q.home[s.place()]
		if home&inLane == 0 {
			return fmt.Errorf("slot %v is in the lane and not known to be", s)
		}
		if err := at(s, home); err != nil {
			return err
		}
		if !first && s.before(&last) {
			return fmt.Errorf("slot %v is in the lane behind %v", s, last)
		}
		last, first = s, false
	}
	if !first && last.key > q.newest {
		return fmt.Errorf("slot %v is in the lane, of which %v is the newest", last, q.newest)
	}
	return nil
}

// checkStore does it for the store.
func (s *store[E]) checkStore() error {
	if len(s.home) != len(s.elems) {
		return fmt.Errorf("%d homes for %d places", len(s.home), len(s.elems))
	}
	var zero E
	free := 0
	for next := s.free; next != 0; next = s.home[next-1] &^ isFree {
		free++
		if s.home[next-1]&isFree == 0 || free > len(s.home) {
			return fmt.Errorf("the list of free places comes to one that is not, or does not end")
		}
	}
	if free+s.n != len(s.home) {
		return fmt.Errorf("%d places, %d elements, %d free", len(s.home), s.n, free)
	}
	for p, home := range s.home {
		if home&isFree != 0 && any(s.elems[p]) != any(zero) {
			return fmt.Errorf("place %d is not clear: %v", p, s.elems[p])
		}
	}
	if s.sparse() {
		return fmt.Errorf("%d elements in a store for %d", s.n, cap(s.elems))
	}
	return nil
}

// Patience is how many may come out of order.
const Patience = patience

// Cap returns the number of elements for which there is memory.
func (q *Queue[K, E]) Cap() int { return max(cap(q.slots), cap(q.elems)) }

// Lane returns the length of the lane.
func (q *Queue[K, E]) Lane() int { return q.lane.Len() }

// RecountIn makes the queue count its arrivals anew after n more.
func (q *Queue[K, E]) RecountIn(n int) { q.arrivals = maxArrivals - uint64(n) }
