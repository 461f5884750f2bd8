package heap

import (
	"fmt"

	"github.com/executor-go/executor/internal/ring"
)

// A home is the index of a slot in the heap, or a place in the lane, or at
// places that are free the next of these. Which it is, the highest bits say.
const (
	inLane uint32 = 1 << 31
	isFree uint32 = 1 << 30
)

// idle is the capacity below which a queue keeps its arrays whatever its
// length, so that short bursts do not allocate each time they come round.
const idle = 256

// store has the elements at their places.
type store[E any] struct {
	n     int      // elements
	elems []E      // zero at free places: the store retains nothing that left
	home  []uint32 // as long as elems
	free  uint32   // one more than a free place, 0 if there is none; its home is isFree and the next such number

	moved func(e E, place int) // nil if nobody wants to know
}

// put gives a place to e. Its home is the caller's to set.
func (s *store[E]) put(e E) (place uint32) {
	s.n++
	if s.free == 0 {
		if len(s.elems) == maxPlaces {
			panic("heap: too many elements")
		}
		s.elems = append(s.elems, e)
		s.home = append(s.home, 0)
		return uint32(len(s.elems) - 1)
	}
	place = s.free - 1
	s.free = s.home[place] &^ isFree
	s.elems[place] = e
	return place
}

// take frees a place and returns the element that had it.
func (s *store[E]) take(place uint32) E {
	s.n--
	e := s.elems[place]
	s.elems[place] = *new(E)
	s.home[place] = isFree | s.free
	s.free = place + 1
	return e
}

// at returns the home of the element at place. It panics if there is none.
func (s *store[E]) at(place int) uint32 {
	if uint(place) < uint(len(s.home)) {
		if home := s.home[place]; home&isFree == 0 {
			return home
		}
	}
	panic(fmt.Sprintf("heap: no element at place %d", place))
}

// sparse reports whether seven eighths of the store are empty. Three quarters
// would do as well, and cost those who cancel a million tasks a tenth more.
func (s *store[E]) sparse() bool { return cap(s.elems) > idle && s.n <= cap(s.elems)/8 }

// fit closes ranks if the store is sparse: the elements get new places, and the
// arrays become about twice as large as they need. The length must double or
// fall to a quarter before that happens again, so a queue that grows and
// shrinks around one size does not thrash.
func (q *Queue[K, E]) fit() {
	if q.sparse() {
		q.shrink()
	}
}

func (q *Queue[K, E]) shrink() {
	size := cap(q.elems)
	for size > idle && q.n <= size/4 {
		size /= 2
	}
	elems, home, lane := q.elems, q.home, q.lane.Drain()
	q.elems, q.home, q.free = make([]E, 0, size), make([]uint32, 0, size), 0
	if len(q.slots) > 0 {
		q.slots = append(make([]slot[K], 0, root+size), q.slots...)
	}

	// resettle gives a new place to the element of s, at home.
	resettle := func(s *slot[K], home uint32) {
		e := elems[s.place()]
		place := len(q.elems)
		s.seq = s.seq&^(maxPlaces-1) | uint64(place)
		q.elems, q.home = append(q.elems, e), append(q.home, home)
		if q.moved != nil {
			q.moved(e, place)
		}
	}
	// Those in the heap in the order of their places, which is more or less
	// that of their memory.
	for _, at := range home {
		if at&(inLane|isFree) == 0 {
			resettle(&q.slots[at], at)
		}
	}
	for _, s := range lane {
		resettle(&s, 0)
		q.home[s.place()] = inLane | uint32(q.lane.Push(s))
	}
}

// recount numbers the arrivals anew, from 0. All slots go to the heap.
func (q *Queue[K, E]) recount() {
	q.slots = append(make([]slot[K], root, root+q.n), q.sorted()...)
	q.lane = ring.Ring[slot[K]]{}
	q.arrivals = 0
	for i := root; i < len(q.slots); i++ {
		s := q.slots[i]
		s.seq = q.arrivals<<placeBits | uint64(s.place())
		q.arrivals++
		q.set(i, s)
	}
}
