package heap

import (
	"iter"
	"slices"
)

// All returns the elements with their keys, in no particular order, without copying
// them. The queue must not change during the iteration.
func (q *Queue[K, E]) All() iter.Seq2[K, E] {
	return func(yield func(K, E) bool) {
		for it := range q.items() {
			if !yield(it.key, it.elem) {
				return
			}
		}
	}
}

// items returns all elements, those in the tree with their places.
func (q *Queue[K, E]) items() iter.Seq[item[K, E]] {
	return func(yield func(item[K, E]) bool) {
		for s := range q.tree.all() {
			if !yield(item[K, E]{s, q.tree.elems[s.place()]}) {
				return
			}
		}
		for _, it := range q.buckets.all() {
			if !yield(*it) {
				return
			}
		}
		for it := range q.line.All() {
			if !yield(it) {
				return
			}
		}
	}
}

// RemoveFunc removes every element that match accepts and returns them in no
// particular order, nil if there are none. It takes time linear in the length of the
// queue.
//
// match is called once for each element, and for all of them before anything changes:
// if it panics, the queue is unchanged. match must not use the queue.
func (q *Queue[K, E]) RemoveFunc(match func(E) bool) []E {
	var inTree []uint32
	var inBuckets []int
	for s := range q.tree.all() {
		if match(q.tree.elems[s.place()]) {
			inTree = append(inTree, s.place())
		}
	}
	for place, it := range q.buckets.all() {
		if match(it.elem) {
			inBuckets = append(inBuckets, place)
		}
	}
	var removed []E
	for _, it := range q.line.RemoveFunc(func(it item[K, E]) bool { return match(it.elem) }) {
		removed = append(removed, it.elem)
	}
	if len(inTree) > 0 {
		for _, place := range inTree {
			removed = append(removed, q.tree.take(place))
		}
		q.tree.rebuild()
	}
	for _, place := range inBuckets {
		removed = append(removed, q.buckets.take(q.locate(place)).elem)
	}
	for i := len(q.bounds) - 1; i >= 0; i-- {
		q.mergeSmall(i)
	}
	q.compactLane()
	q.refillTree()
	return removed
}

// Drain removes all elements and returns them in order, nil if there are none. It
// releases all memory.
func (q *Queue[K, E]) Drain() []E {
	var all []E
	for _, it := range q.sorted() {
		all = append(all, it.elem)
	}
	q.clear()
	q.lane = lane[K, E]{arrivals: q.arrivals}
	return all
}

// sorted returns all elements in order.
func (q *Queue[K, E]) sorted() []item[K, E] {
	all := slices.AppendSeq(make([]item[K, E], 0, q.Len()), q.items())
	slices.SortFunc(all, func(a, b item[K, E]) int { return compare(a.slot, b.slot) })
	return all
}

// renumber numbers the arrivals anew, from 0. All elements move to the lane.
func (q *Queue[K, E]) renumber() {
	all := q.sorted()
	q.clear()
	q.lane = lane[K, E]{}
	for _, it := range all {
		q.noteMove(it.elem, q.lane.push(it.key, it.elem))
	}
	q.flushMoves()
}
