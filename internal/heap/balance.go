package heap

import (
	"cmp"
	"iter"
	"slices"
)

// This file adds elements to the tree and the buckets, removes them from buckets, and
// moves them from one to another so that none has too many elements or too few.
//
//	insert        into a full tree:    splitTree, its upper half becomes the first bucket
//	              into a full bucket:  splitBucket
//	removal       from a small bucket: mergeSmall, with a small neighbor
//	Pop, Remove   of the tree's last:  refillTree, from the first bucket

// insert adds an element that came out of order, and returns its place.
func (q *Queue[K, E]) insert(it item[K, E]) (place int) {
	if q.beforeAll(&it.slot) {
		if q.tree.n < q.full() {
			return q.tree.push(it)
		}
		q.splitTree()
		return q.insert(it)
	}
	i := q.find(it.slot)
	if q.bucket(i).n == q.full() {
		q.splitBucket(i)
		return q.insert(it)
	}
	return bucketPlace(q.buckets.add(i, it))
}

// splitTree makes a bucket of the upper half of the tree, which is full.
func (q *Queue[K, E]) splitTree() {
	pivot := median(q.tree.n, q.tree.all())
	i := len(q.bounds)
	q.insertBucket(i, pivot)
	for s := range q.tree.all() {
		if !s.before(&pivot) {
			it := item[K, E]{s.unplaced(), q.tree.take(s.place())}
			q.noteMove(it.elem, bucketPlace(q.buckets.add(i, it)))
		}
	}
	q.flushMoves()
	q.tree.rebuild()
}

// splitBucket makes a bucket of the upper half of the one at index i, which is full.
func (q *Queue[K, E]) splitBucket(i int) {
	lower := q.bucket(i)
	pivot := median(lower.n, lower.slots())
	q.insertBucket(i, pivot)
	for index, it := range lower.all() {
		if !it.before(&pivot) {
			it := q.buckets.take(lower, index)
			q.noteMove(it.elem, bucketPlace(q.buckets.add(i, it)))
		}
	}
	q.compact(i + 1)
	q.flushMoves()
}

// compact moves the items in the last blocks of a bucket to the holes in the first.
func (q *Queue[K, E]) compact(i int) {
	b := q.bucket(i)
	for index := b.last(); index>>blockBits > (b.n-1)/blockSize; index = b.last() {
		it := q.buckets.take(b, index)
		q.noteMove(it.elem, bucketPlace(q.buckets.add(i, it)))
	}
}

// refillTree fills the tree from the first bucket, if it is empty. If there is none,
// it releases memory.
func (q *Queue[K, E]) refillTree() {
	switch {
	case q.tree.n > 0:
		return
	case len(q.bounds) == 0:
		if cap(q.tree.elems) > idle {
			q.clear()
		}
		return
	}
	i := len(q.bounds) - 1
	b := q.bucket(i)
	for index := range b.all() {
		it := q.buckets.take(b, index)
		q.noteMove(it.elem, q.tree.append(it))
	}
	q.flushMoves()
	q.deleteBucket(i)
	q.tree.heapify()
}

// clear releases the tree and the buckets.
func (q *Queue[K, E]) clear() {
	q.tree, q.buckets = tree[K, E]{}, buckets[K, E]{size: q.size}
}

// removeFromBucket removes the element at a place in the buckets.
func (q *Queue[K, E]) removeFromBucket(place int) {
	b, index := q.locate(place)
	if left := b.n - 1; left > 0 && left != q.small() {
		q.removeLazily(b, index, place)
		return
	}
	it := q.buckets.take(b, index) // its slot says which bucket has become small
	q.mergeSmall(q.find(it.slot))
}

// mergeSmall restores the invariant that of two buckets side by side one is not small,
// after elements have left the bucket at index i.
func (q *Queue[K, E]) mergeSmall(i int) {
	if q.bucket(i).n == 0 {
		q.deleteBucket(i)
	} else {
		q.mergeNext(i)
	}
	q.mergeNext(i - 1)
}

// mergeNext merges the buckets at indices i and i+1, if there are two and both are
// small.
func (q *Queue[K, E]) mergeNext(i int) {
	if small := q.small(); i < 0 || i+1 >= len(q.bounds) || q.bucket(i).n > small || q.bucket(i+1).n > small {
		return
	}
	b := q.bucket(i)
	for index := range b.all() {
		it := q.buckets.take(b, index)
		q.noteMove(it.elem, bucketPlace(q.buckets.add(i+1, it)))
	}
	q.flushMoves()
	q.deleteBucket(i)
}

// median returns one of n slots that is about in the middle, and not the least unless
// it is the only one.
func median[K cmp.Ordered](n int, slots iter.Seq[slot[K]]) slot[K] {
	var array [63]slot[K]
	sample, i := array[:0], 0
	for s := range slots {
		if i++; i*len(array) > n*len(sample) && len(sample) < len(array) {
			sample = append(sample, s)
		}
	}
	slices.SortFunc(sample, compare)
	return sample[len(sample)/2]
}
