package heap

// moves has the elements that have moved and their new places, in that order, until
// they are reported.
//
// An element of a long queue is in no cache, and to write its place is to wait for its
// memory. The processor waits for many at a time if there are few instructions, and
// above all few other writes, between them. So moves are reported together, by a loop
// that does nothing else.
type moves[E any] struct {
	moved  func(elems []E, places []int32)
	n      int
	elems  [64]E
	places [64]int32
}

// noteMove has a move reported by the next flushMoves or before.
func (q *Queue[K, E]) noteMove(e E, place int) {
	if q.moves == nil {
		return
	}
	if q.moves.n == len(q.moves.elems) {
		q.flushMoves()
	}
	q.moves.elems[q.moves.n], q.moves.places[q.moves.n] = e, int32(place)
	q.moves.n++
}

// flushMoves reports what noteMove has noted. Every operation that moves elements
// ends with it.
func (q *Queue[K, E]) flushMoves() {
	if q.moves == nil || q.moves.n == 0 {
		return
	}
	elems := q.moves.elems[:q.moves.n]
	q.moves.moved(elems, q.moves.places[:q.moves.n])
	clear(elems)
	q.moves.n = 0
}
