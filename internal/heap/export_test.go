package heap

import (
	"cmp"
	"fmt"
	"slices"
)

// Check reports the first invariant of q that does not hold.
func (q *Queue[K, E]) Check() error {
	if err := q.lane.check(); err != nil {
		return err
	}
	if q.tree.n == 0 && q.piles.n > 0 {
		return fmt.Errorf("the heap is empty, and %d wait behind it", q.piles.n)
	}
	if q.tree.n > q.full() {
		return fmt.Errorf("%d elements in the heap", q.tree.n)
	}
	for s := range q.tree.all() {
		if !q.near(&s) {
			return fmt.Errorf("slot %v of the heap belongs onto a pile", s)
		}
	}
	if err := q.tree.check(q.arrivals); err != nil {
		return err
	}
	if err := q.piles.check(q.arrivals); err != nil {
		return err
	}
	return q.news.check()
}

func (n *news[E]) check() error {
	if n == nil {
		return nil
	}
	if n.n != 0 {
		return fmt.Errorf("%d are not told their places", n.n)
	}
	var zero E
	for _, e := range n.elems {
		if any(e) != any(zero) {
			return fmt.Errorf("%v was told its place and is still here", e)
		}
	}
	return nil
}

func (ps *piles[K, E]) check(arrivals uint64) error {
	numbers := make(map[uint32]bool)
	n := 0
	for i, bound := range ps.bounds {
		numbers[bound.place()] = true
		p := ps.at(i)
		if p.n > ps.full() || p.n == 0 {
			return fmt.Errorf("%d elements in a pile", p.n)
		}
		if few := ps.few(); i > 0 && p.n <= few && ps.at(i-1).n <= few {
			return fmt.Errorf("piles of %d and %d elements, side by side", p.n, ps.at(i-1).n)
		}
		m := 0
		for at, t := range p.all() {
			m++
			switch {
			case t.arrival() >= arrivals || t.place() != 0:
				return fmt.Errorf("%v arrived as one of %d", t, arrivals)
			case ps.find(t.slot) != i:
				return fmt.Errorf("%v is in pile %d of %d and belongs to pile %d", t, i, len(ps.bounds), ps.find(t.slot))
			case !p.has(at):
				return fmt.Errorf("%v is not known to be at %#x", t, at)
			}
		}
		if m != p.n {
			return fmt.Errorf("%d tickets in a pile, %d counted", m, p.n)
		}
		n += m
		for j, tray := range p.trays {
			if (tray != nil) != (p.taken[j] != 0) {
				return fmt.Errorf("tray %d of a pile: %v, of which %#x are taken", j, tray, p.taken[j])
			}
			if j < p.open && p.taken[j] != allTaken {
				return fmt.Errorf("tray %d of a pile has room, and the first is said to be %d", j, p.open)
			}
			for k := range traySize {
				place := inPile(bound.place(), j<<trayBits|k)
				if tray != nil && !p.has(j<<trayBits|k) && any(tray.tickets[k]) != any(ticket[K, E]{}) && !slices.Contains(ps.litter[:ps.strewn], uint32(place)) {
					return fmt.Errorf("tray %d of a pile retains %v", j, tray.tickets[k])
				}
			}
		}
	}
	for _, number := range ps.vacant {
		numbers[number] = true
	}
	if len(numbers) != len(ps.table) || len(numbers) != len(ps.bounds)+len(ps.vacant) {
		return fmt.Errorf("%d piles and %d vacant numbers of %d", len(ps.bounds), len(ps.vacant), len(ps.table))
	}
	if ps.strewn == len(ps.litter) {
		return fmt.Errorf("%d that were dropped are not cleared", ps.strewn)
	}
	if n != ps.n {
		return fmt.Errorf("%d in piles, %d counted", n, ps.n)
	}
	for _, tray := range ps.stock.trays {
		if any(*tray) != any(tray0[K, E]()) {
			return fmt.Errorf("a spare tray retains %v", tray)
		}
	}
	return nil
}

func tray0[K cmp.Ordered, E any]() (t tray[K, E]) { return t }

func (l *lane[K, E]) check() error {
	var last ticket[K, E]
	first := true
	for t := range l.line.All() {
		if t.arrival() >= l.arrivals || t.place() != 0 {
			return fmt.Errorf("%v arrived as one of %d", t, l.arrivals)
		}
		if !first && t.before(&last.slot) {
			return fmt.Errorf("%v is in the lane behind %v", t, last)
		}
		last, first = t, false
	}
	if !first && last.key > l.newest {
		return fmt.Errorf("%v is in the lane, of which %v is the newest", last, l.newest)
	}
	return nil
}

func (t *tree[K, E]) check(arrivals uint64) error {
	if n := len(t.slots); n > 0 && n < root {
		return fmt.Errorf("an array of %d slots has no room for what is below the root", n)
	}
	for i, s := range t.slots {
		if i < root {
			if s != (slot[K]{}) {
				return fmt.Errorf("slot %d below the root is used", i)
			}
			continue
		}
		if s.arrival() >= arrivals {
			return fmt.Errorf("slot %v arrived as one of %d", s, arrivals)
		}
		if p := s.place(); p >= uint32(len(t.home)) || t.home[p] != uint32(i) {
			return fmt.Errorf("slot %v at %#x is not known to be there", s, i)
		}
		if parent := i/arity + 2; i > root && s.before(&t.slots[parent]) {
			return fmt.Errorf("slot %d (key %v) is before its parent %d (key %v)", i, s.key, parent, t.slots[parent].key)
		}
	}
	for i, s := range t.slots[len(t.slots):cap(t.slots)] {
		if s != (slot[K]{}) {
			return fmt.Errorf("slot %d past the end is not clear: %v", len(t.slots)+i, s)
		}
	}
	if n := max(root, len(t.slots)) - root; n != t.n {
		return fmt.Errorf("%d slots, %d counted", n, t.n)
	}
	return t.checkPlaces()
}

func (t *tree[K, E]) checkPlaces() error {
	if len(t.home) != len(t.elems) {
		return fmt.Errorf("%d homes for %d places", len(t.home), len(t.elems))
	}
	var zero E
	free := 0
	for next := t.free; next != 0; next = t.home[next-1] &^ isFree {
		free++
		if t.home[next-1]&isFree == 0 || free > len(t.home) {
			return fmt.Errorf("the list of free places comes to one that is not, or does not end")
		}
	}
	if free+t.n != len(t.home) {
		return fmt.Errorf("%d places, %d elements, %d free", len(t.home), t.n, free)
	}
	for p, home := range t.home {
		if home&isFree != 0 && any(t.elems[p]) != any(zero) {
			return fmt.Errorf("place %d is not clear: %v", p, t.elems[p])
		}
	}
	return nil
}

// Patience is how many may come out of order.
const Patience = patience

// Cap returns the number of elements for which there is memory in the tree.
func (q *Queue[K, E]) Cap() int {
	n := len(q.stock.trays)
	for i := range q.bounds {
		for _, tray := range q.at(i).trays {
			if tray != nil {
				n++
			}
		}
	}
	return max(cap(q.tree.slots), cap(q.tree.elems)) + n*traySize
}

// MakePiles makes the queue, which is empty, have piles of so many elements at most, and a heap
// no larger.
func (q *Queue[K, E]) MakePiles(size int) { q.size = size }

// Lane returns the length of the lane.
func (q *Queue[K, E]) Lane() int { return q.line.Len() }

// RecountIn makes the queue count its arrivals anew after n more.
func (q *Queue[K, E]) RecountIn(n int) { q.arrivals = maxArrivals - uint64(n) }

// Take is Remove that gives the element, too.
func (q *Queue[K, E]) Take(place int) (e E) {
	switch {
	case place&1 != 0:
		e = q.line.Remove(place >> 1).elem
		q.fitLane()
		return e
	case place&2 != 0:
		p, at := q.locate(int(uint32(place) >> 2))
		e = p.ticket(at).elem
	default:
		e = q.tree.elems[place>>2]
	}
	q.Remove(place)
	return e
}

// NumberPiles has the queue, which has no piles yet, number them from n on.
func (q *Queue[K, E]) NumberPiles(n int) { q.table = make([]*pile[K, E], n) }

// Far reports whether an element at place is in a pile.
func Far(place int) bool { return place&3 == 2 }
