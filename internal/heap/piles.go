package heap

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// piles are the part of a queue that is far from leaving: each pile is in no
// order, all of it is behind all of the pile before it, and all piles are behind
// the tree. An element costs a search for its pile when it comes, and nothing
// until it is near.
//
// A tree of all of them lost. In a heap of a million most levels are far away in
// memory, and every slot that leaves comes past all of them; and its arrays, when
// they grow or shrink, make one push or pop wait for a hundred milliseconds. So the
// tree has a thousand at most, which are fetched together, so that the processor
// need not wait for one after the other. See docs/design/decisions/0024.
type piles[K cmp.Ordered, E any] struct {
	n      int           // elements
	table  []*pile[K, E] // by number; nil where there is none
	vacant []uint32      // the numbers where there is none
	bounds []slot[K]     // of each pile one that nothing in it is before, the last pile first; its place is the number
	stock  stock[K, E]
	litter [32]uint32 // the places of the last that were dropped, of which some may be taken again
	strewn int        // how many these are
	size   int        // of a full pile, pileSize if it is 0; tests have small ones
}

// full is how many elements a pile may have, and the tree.
func (ps *piles[K, E]) full() int {
	if ps.size == 0 {
		return pileSize
	}
	return ps.size
}

// few is how many elements are too few for two piles side by side. The halves of a
// pile that is split have more, as a rule: the pivot is only about the median.
func (ps *piles[K, E]) few() int { return ps.full() / 8 }

// at gives the pile at an index of bounds.
func (ps *piles[K, E]) at(i int) *pile[K, E] { return ps.table[ps.bounds[i].place()] }

// near reports whether s belongs to the tree.
func (ps *piles[K, E]) near(s *slot[K]) bool {
	n := len(ps.bounds)
	return n == 0 || s.before(&ps.bounds[n-1])
}

// find gives the index of the pile that s belongs to.
func (ps *piles[K, E]) find(s slot[K]) int {
	s.seq |= maxPlaces - 1 // a slot that is a bound is not before itself
	low, high := 0, len(ps.bounds)-1
	for low < high {
		if mid := int(uint(low+high) / 2); s.before(&ps.bounds[mid]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// begin makes a pile, to be at index i, for what is not before bound.
func (ps *piles[K, E]) begin(i int, bound slot[K]) {
	number := len(ps.table)
	if n := len(ps.vacant); n > 0 {
		number = int(ps.vacant[n-1])
		ps.vacant = ps.vacant[:n-1]
	} else {
		ps.table = append(ps.table, nil)
	}
	if number == maxPiles {
		panic("heap: too many elements")
	}
	ps.table[number] = new(pile[K, E])
	bound.seq = bound.seq&^(maxPlaces-1) | uint64(number)
	ps.bounds = slices.Insert(ps.bounds, i, bound)
}

// end gives up the pile at index i, which is empty.
func (ps *piles[K, E]) end(i int) {
	number := ps.bounds[i].place()
	ps.table[number] = nil
	ps.vacant = append(ps.vacant, number)
	ps.bounds = slices.Delete(ps.bounds, i, i+1)
}

// inPile is a place in the piles.
func inPile(number uint32, at int) int { return int(number)<<atBits | at }

// add puts t onto the pile at index i, which is not full, and gives its place.
func (ps *piles[K, E]) add(i int, t ticket[K, E]) (place int) {
	ps.n++
	return inPile(ps.bounds[i].place(), ps.at(i).add(t, &ps.stock))
}

// take takes a ticket off a pile.
func (ps *piles[K, E]) take(p *pile[K, E], at int) ticket[K, E] {
	t := p.ticket(at)
	taken := *t
	*t = ticket[K, E]{}
	ps.n--
	if p.free(at) {
		ps.release(p, at)
	}
	return taken
}

// drop takes the ticket at place off its pile without a look at it: that of a long
// queue is in no cache, and whoever unlocked a mutex after a look would wait until
// it is. So it stays in its hole until there are some more, or its tray is empty.
// To clear them all together costs little more than to clear one, since the
// processor fetches the next before it has the first.
func (ps *piles[K, E]) drop(p *pile[K, E], at, place int) {
	ps.litter[ps.strewn] = uint32(place)
	ps.strewn++
	ps.n--
	if p.free(at) {
		ps.release(p, at)
	}
	if ps.strewn == len(ps.litter) {
		ps.clean()
	}
}

// clean clears the holes of those that were dropped.
func (ps *piles[K, E]) clean() {
	for _, place := range ps.litter[:ps.strewn] {
		at := int(place % (1 << atBits))
		if p := ps.table[place>>atBits]; !p.has(at) {
			*p.ticket(at) = ticket[K, E]{}
		}
	}
	ps.strewn = 0
}

// release gives up the tray of a hole, which is empty.
func (ps *piles[K, E]) release(p *pile[K, E], at int) {
	ps.clean() // as long as it is known where the tray is
	tray := &p.trays[at>>trayBits]
	ps.stock.put(*tray)
	*tray = nil
}

// locate gives the pile of a place, and where in it. It panics if no element is
// there.
func (ps *piles[K, E]) locate(place int) (p *pile[K, E], at int) {
	number, at := uint(place)>>atBits, place%(1<<atBits) // a huge number if place is negative
	if number < uint(len(ps.table)) {
		p = ps.table[number]
	}
	if p == nil || !p.has(at) {
		panic(fmt.Sprintf("heap: no element at place %d of the piles", place))
	}
	return p, at
}

// all gives all tickets with their places.
func (ps *piles[K, E]) all() iter.Seq2[int, *ticket[K, E]] {
	return func(yield func(int, *ticket[K, E]) bool) {
		for _, bound := range ps.bounds {
			number := bound.place()
			for at, t := range ps.table[number].all() {
				if !yield(inPile(number, at), t) {
					return
				}
			}
		}
	}
}
