// Package heap is a priority queue that stays fast when it is long: the least key
// first and, among equal keys, the element that came first.
//
// A [Queue] has three parts. Elements that come in order of their keys go to the
// lane. Of the others, those that leave soon are in an indexed 4-ary min-heap of at
// most 1,008 elements, the tree, and the rest in buckets behind it, as in a ladder
// queue (Tang, Goh and Thng, "Ladder Queue", ACM TOMACS 15, 2005). A bucket is not
// sorted; all keys in it are greater than those in the bucket before it.
//
//	Push --+-- in order ------------------> lane, a ring --------+
//	       |                                                     | the lesser
//	       +-- less than the first bound -> tree, a 4-ary heap --+-----------> Pop
//	       |                                 ^
//	       |                                 | the first bucket, when the tree is empty
//	       |                                 |
//	       +-- other ---------------------> buckets  [ ... )[ ... )[ ... )
//	                                        of up to 16 blocks of 63 elements
//
// Unlike those of a ladder or calendar queue, buckets do not divide time evenly. Their
// bounds are taken from the elements: a full bucket, or the full tree, is split at
// about its median, and two small neighbors are merged. So keys need only be ordered,
// not subtracted, and their distribution does not matter.
//
// Invariants:
//
//   - Keys in the lane do not decrease.
//   - The tree is empty only if there are no buckets.
//   - The tree and each bucket have at most 1,008 elements. No bucket is empty, and of
//     two neighbors one has more than an eighth of that.
//   - Every key in the tree is less than the first bound, and every key in bucket i is
//     at least bound i and less than bound i+1. Equal keys are ordered by arrival.
//   - A place belongs to one element until it leaves or the queue reports another.
//
// Costs, with n elements: in order, constant time for Push, Pop and Remove. Otherwise
// Push is a binary search among n/1,008 bounds, or log4 1,008 = 5 steps in the tree;
// Pop is 5 steps in the tree, plus one move from bucket to tree for each element;
// Remove from a bucket is constant. The longest single call moves 1,008 elements, in
// less than a millisecond.
//
// A tree of all elements was slower: in a heap of a million most levels are in no
// cache, and its arrays, when they grow or shrink, make one call wait for up to a
// hundred milliseconds. See docs/design/decisions/0024-buckets-behind-the-heap.md.
//
// A Queue does not lock, and reads no clock. Its owner holds a lock of its own.
package heap
