package heap

import (
	"cmp"
	"iter"
	"math/bits"
)

const (
	traySize = 63
	trays    = 16
	pileSize = trays * traySize

	// Where a ticket is in its pile is the tray and, in the low bits, where in the
	// tray.
	trayBits = 6
	atBits   = trayBits + 4

	allTaken = 1<<traySize - 1

	// So that a place has 32 bits. It is enough for 67 million elements: of two piles side
	// by side one has more than a few, so that they have 128 or more.
	maxPiles = 1 << (32 - 2 - atBits)
)

// tray is memory for a few tickets. The allocator puts a header of eight bytes before
// an object of this size; with it and the words that are not used, a tray of
// interfaces under keys of 64 bits has 2,048 bytes, and no ticket is in two lines
// of the cache.
type tray[K cmp.Ordered, E any] struct {
	_       [3]uint64
	tickets [traySize]ticket[K, E]
}

// pile has tickets in no order, in trays. One that leaves makes a hole, which the
// next to come fills, so that no other has to move. What is in a hole says nothing.
type pile[K cmp.Ordered, E any] struct {
	n     int // tickets
	open  int // no tray before this one has a hole
	taken [trays]uint64
	trays [trays]*tray[K, E] // nil where nothing is taken
}

// add adds t to a pile that is not full, and reports where it is.
func (p *pile[K, E]) add(t ticket[K, E], stock *stock[K, E]) (at int) {
	for p.taken[p.open] == allTaken {
		p.open++
	}
	i := p.open
	if p.trays[i] == nil {
		p.trays[i] = stock.get()
	}
	j := bits.TrailingZeros64(^p.taken[i])
	at = i<<trayBits | j
	*p.ticket(at) = t
	p.taken[i] |= 1 << j
	p.n++
	return at
}

// has reports whether there is a ticket.
func (p *pile[K, E]) has(at int) bool { return p.taken[at>>trayBits]&(1<<(at%(1<<trayBits))) != 0 }

// ticket gives the ticket that is there, or the hole. It asks whether there is a tray
// since the compiler otherwise does, by reading the beginning of it: a line of the cache
// that is of no use.
func (p *pile[K, E]) ticket(at int) *ticket[K, E] {
	if tray := p.trays[at>>trayBits]; tray != nil {
		return &tray.tickets[at%(1<<trayBits)]
	}
	return nil
}

// free makes a hole of the ticket that is there, and reports whether its tray is
// empty now.
func (p *pile[K, E]) free(at int) (empty bool) {
	i, j := at>>trayBits, at%(1<<trayBits)
	p.taken[i] &^= 1 << j
	p.open = min(p.open, i)
	p.n--
	return p.taken[i] == 0
}

// last reports where the last ticket is; there is one.
func (p *pile[K, E]) last() (at int) {
	i := trays - 1
	for p.taken[i] == 0 {
		i--
	}
	return i<<trayBits | (bits.Len64(p.taken[i]) - 1)
}

// all gives all tickets. Each may be taken when it is its turn.
func (p *pile[K, E]) all() iter.Seq2[int, *ticket[K, E]] {
	return func(yield func(int, *ticket[K, E]) bool) {
		for i, taken := range p.taken {
			for tray := p.trays[i]; taken != 0; taken &= taken - 1 {
				j := bits.TrailingZeros64(taken)
				if !yield(i<<trayBits|j, &tray.tickets[j]) {
					return
				}
			}
		}
	}
}

// slots gives the slots of all tickets.
func (p *pile[K, E]) slots() iter.Seq[slot[K]] {
	return func(yield func(slot[K]) bool) {
		for _, t := range p.all() {
			if !yield(t.slot) {
				return
			}
		}
	}
}

// stock has a few trays that were emptied, for the piles that need one next. They
// are zero.
type stock[K cmp.Ordered, E any] struct{ trays []*tray[K, E] }

func (s *stock[K, E]) get() *tray[K, E] {
	n := len(s.trays)
	if n == 0 {
		return new(tray[K, E])
	}
	t := s.trays[n-1]
	s.trays = s.trays[:n-1]
	return t
}

func (s *stock[K, E]) put(t *tray[K, E]) {
	if len(s.trays) < trays {
		s.trays = append(s.trays, t)
	}
}
