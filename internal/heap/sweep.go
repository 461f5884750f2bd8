package heap

import (
	"iter"
	"slices"
)

// All returns the elements with their keys, in no particular order, without
// copying them. The queue must not change during the traversal.
func (q *Queue[K, E]) All() iter.Seq2[K, E] {
	return func(yield func(K, E) bool) {
		for t := range q.tickets() {
			if !yield(t.key, t.elem) {
				return
			}
		}
	}
}

// tickets gives all elements, those in the tree with their places.
func (q *Queue[K, E]) tickets() iter.Seq[ticket[K, E]] {
	return func(yield func(ticket[K, E]) bool) {
		for s := range q.tree.all() {
			if !yield(ticket[K, E]{s, q.tree.elems[s.place()]}) {
				return
			}
		}
		for _, t := range q.piles.all() {
			if !yield(*t) {
				return
			}
		}
		for t := range q.line.All() {
			if !yield(t) {
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
	var inTree []uint32
	var inPiles []int
	for s := range q.tree.all() {
		if match(q.tree.elems[s.place()]) {
			inTree = append(inTree, s.place())
		}
	}
	for place, t := range q.piles.all() {
		if match(t.elem) {
			inPiles = append(inPiles, place)
		}
	}
	var removed []E
	for _, t := range q.line.RemoveFunc(func(t ticket[K, E]) bool { return match(t.elem) }) {
		removed = append(removed, t.elem)
	}
	if len(inTree) > 0 {
		for _, place := range inTree {
			removed = append(removed, q.tree.take(place))
		}
		q.tree.compact()
	}
	for _, place := range inPiles {
		removed = append(removed, q.piles.take(q.locate(place)).elem)
	}
	for i := len(q.bounds) - 1; i >= 0; i-- {
		q.thin(i)
	}
	q.fitLane()
	q.fitTree()
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none.
// All memory is given back.
func (q *Queue[K, E]) Drain() []E {
	var all []E
	for _, t := range q.sorted() {
		all = append(all, t.elem)
	}
	q.clear()
	q.lane = lane[K, E]{arrivals: q.arrivals}
	return all
}

// sorted gives all elements in order.
func (q *Queue[K, E]) sorted() []ticket[K, E] {
	all := slices.AppendSeq(make([]ticket[K, E], 0, q.Len()), q.tickets())
	slices.SortFunc(all, func(a, b ticket[K, E]) int { return compare(a.slot, b.slot) })
	return all
}

// recount numbers the arrivals anew, from 0. All elements go to the lane.
func (q *Queue[K, E]) recount() {
	all := q.sorted()
	q.clear()
	q.lane = lane[K, E]{}
	for _, t := range all {
		q.tell(t.elem, q.lane.push(t.key, t.elem))
	}
	q.announce()
}
