package heap

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// buckets is the part of a queue that is far from leaving. A bucket has a number,
// which is part of the places in it, and an index in bounds, which changes as others
// come and go.
type buckets[K cmp.Ordered, E any] struct {
	n      int             // elements
	table  []*bucket[K, E] // by number; nil where there is none
	vacant []uint32        // the numbers where there is none

	// bounds has a slot for each bucket, the last bucket first. No item in a bucket
	// is before its bound. The place of a bound is the number of the bucket.
	bounds []slot[K]

	free freeBlocks[K, E]
	dead deadItems
	size int // the most elements of a bucket, bucketSize if it is 0; tests have small ones
}

// full is the number of elements of a full bucket, and of a full tree.
func (bs *buckets[K, E]) full() int {
	if bs.size == 0 {
		return bucketSize
	}
	return bs.size
}

// small is the number of elements up to which a bucket is merged with another such
// beside it. The halves of a bucket that is split have more, as a rule: the pivot is
// about the median.
func (bs *buckets[K, E]) small() int { return bs.full() / 8 }

// bucket returns the bucket at index i of bounds.
func (bs *buckets[K, E]) bucket(i int) *bucket[K, E] { return bs.table[bs.bounds[i].place()] }

// beforeAll reports whether s is before all buckets, so that it belongs to the tree.
func (bs *buckets[K, E]) beforeAll(s *slot[K]) bool {
	n := len(bs.bounds)
	return n == 0 || s.before(&bs.bounds[n-1])
}

// find returns the index in bounds of the bucket that s belongs to.
func (bs *buckets[K, E]) find(s slot[K]) int {
	s.seq |= maxPlaces - 1 // a slot that is a bound is not before itself
	low, high := 0, len(bs.bounds)-1
	for low < high {
		if mid := int(uint(low+high) / 2); s.before(&bs.bounds[mid]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// insertBucket makes a bucket at index i of bounds for what is not before bound.
func (bs *buckets[K, E]) insertBucket(i int, bound slot[K]) {
	number := len(bs.table)
	if n := len(bs.vacant); n > 0 {
		number = int(bs.vacant[n-1])
		bs.vacant = bs.vacant[:n-1]
	} else {
		bs.table = append(bs.table, nil)
	}
	if number == maxBuckets {
		panic("heap: too many elements")
	}
	bs.table[number] = new(bucket[K, E])
	bound.seq = bound.seq&^(maxPlaces-1) | uint64(number)
	bs.bounds = slices.Insert(bs.bounds, i, bound)
}

// deleteBucket deletes the bucket at index i of bounds, which is empty.
func (bs *buckets[K, E]) deleteBucket(i int) {
	number := bs.bounds[i].place()
	bs.table[number] = nil
	bs.vacant = append(bs.vacant, number)
	bs.bounds = slices.Delete(bs.bounds, i, i+1)
}

// placeIn returns the place of the item at index of the bucket with that number, among
// the places in buckets.
func placeIn(number uint32, index int) int { return int(number)<<indexBits | index }

// add adds it to the bucket at index i of bounds, which is not full, and returns its
// place.
func (bs *buckets[K, E]) add(i int, it item[K, E]) (place int) {
	bs.n++
	return placeIn(bs.bounds[i].place(), bs.bucket(i).add(it, &bs.free))
}

// take removes the item at index of b and returns it.
func (bs *buckets[K, E]) take(b *bucket[K, E], index int) item[K, E] {
	at := b.at(index)
	it := *at
	*at = item[K, E]{}
	bs.n--
	if b.free(index) {
		bs.releaseBlock(b, index)
	}
	return it
}

// releaseBlock releases the block of index, which is empty.
func (bs *buckets[K, E]) releaseBlock(b *bucket[K, E], index int) {
	bs.clearDead() // while their blocks can be found
	block := &b.blocks[index>>blockBits]
	bs.free.put(*block)
	*block = nil
}

// locate returns the bucket of a place, and the index in it. It panics if there is no
// element at place.
func (bs *buckets[K, E]) locate(place int) (b *bucket[K, E], index int) {
	number, index := uint(place)>>indexBits, place%(1<<indexBits) // a huge number if place is negative
	if number < uint(len(bs.table)) {
		b = bs.table[number]
	}
	if b == nil || !b.has(index) {
		panic(fmt.Sprintf("heap: no element at place %d of the buckets", place))
	}
	return b, index
}

// all returns all items with their places.
func (bs *buckets[K, E]) all() iter.Seq2[int, *item[K, E]] {
	return func(yield func(int, *item[K, E]) bool) {
		for _, bound := range bs.bounds {
			number := bound.place()
			for index, it := range bs.table[number].all() {
				if !yield(placeIn(number, index), it) {
					return
				}
			}
		}
	}
}
