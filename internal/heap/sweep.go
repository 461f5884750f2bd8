package heap

import (
	"iter"
	"slices"
)

// places gives the places of all elements with their keys: first those in the
// heap, then those in the lane.
func (q *Queue[K, E]) places() iter.Seq2[K, uint32] {
	return func(yield func(K, uint32) bool) {
		for i := root; i < len(q.slots); i++ {
			if !yield(q.slots[i].key, q.slots[i].place()) {
				return
			}
		}
		for s := range q.lane.All() {
			if !yield(s.key, s.place()) {
				return
			}
		}
	}
}

// All returns the elements with their keys, in no particular order, without
// copying them. The queue must not change during the traversal.
func (q *Queue[K, E]) All() iter.Seq2[K, E] {
	return func(yield func(K, E) bool) {
		for k, place := range q.places() {
			if !yield(k, q.elems[place]) {
				return
			}
		}
	}
}

// RemoveFunc removes every element that match accepts and returns them in no
// particular order, nil if there are none. Those that stay keep their order of
// arrival. It takes time linear in the length of the queue, so it is the way
// to remove many; [Queue.Remove] is the way to remove one.
//
// match is called once for each element, and for all of them before anything
// changes: if it panics, the queue is as it was. It must not touch the queue.
func (q *Queue[K, E]) RemoveFunc(match func(E) bool) []E {
	var doomed []uint32
	for _, place := range q.places() {
		if match(q.elems[place]) {
			doomed = append(doomed, place)
		}
	}
	if len(doomed) == 0 {
		return nil
	}
	removed := make([]E, len(doomed))
	for i, place := range doomed {
		if at := q.home[place]; at&inLane != 0 {
			q.lane.Remove(int(at &^ inLane))
		}
		removed[i] = q.take(place)
	}
	if q.lane.Sparse() {
		q.closeRanks()
	}

	// What is left of the heap moves up and is in no order: sift down every
	// inner node, the last first.
	n := min(root, len(q.slots))
	for i := n; i < len(q.slots); i++ {
		if s := q.slots[i]; q.home[s.place()]&isFree == 0 {
			q.set(n, s)
			n++
		}
	}
	clear(q.slots[n:])
	q.slots = q.slots[:n]
	if n > root+1 {
		for i := (n-1)/arity + 2; i >= root; i-- {
			q.down(i, q.slots[i])
		}
	}
	q.fit()
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none.
// All memory is given back.
func (q *Queue[K, E]) Drain() []E {
	if q.n == 0 {
		return nil
	}
	all := make([]E, q.n)
	for i, s := range q.sorted() {
		all[i] = q.elems[s.place()]
	}
	*q = Queue[K, E]{arrivals: q.arrivals, store: store[E]{moved: q.moved}}
	return all
}

// sorted returns all slots in order. It may use the array of the heap, which
// is of no use then.
func (q *Queue[K, E]) sorted() []slot[K] {
	all := append(q.slots[min(root, len(q.slots)):], q.lane.Drain()...)
	slices.SortFunc(all, func(s, t slot[K]) int {
		if s.before(&t) {
			return -1
		}
		return 1
	})
	return all
}
