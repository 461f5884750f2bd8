package heap

import (
	"cmp"
	"fmt"
	"slices"
)

// Check reports the first invariant of q that does not hold.
func (q *Queue[K, E]) Check() error {
	if err := q.lane.check(); err != nil {
		return err
	}
	if q.tree.n == 0 && q.buckets.n > 0 {
		return fmt.Errorf("the tree is empty, and %d elements are in buckets", q.buckets.n)
	}
	if q.tree.n > q.full() {
		return fmt.Errorf("%d elements in the tree", q.tree.n)
	}
	for s := range q.tree.all() {
		if !q.beforeAll(&s) {
			return fmt.Errorf("slot %v of the tree belongs into a bucket", s)
		}
	}
	if err := q.tree.check(q.arrivals); err != nil {
		return err
	}
	if err := q.buckets.check(q.arrivals); err != nil {
		return err
	}
	return q.moves.check()
}

func (m *moves[E]) check() error {
	if m == nil {
		return nil
	}
	if m.n != 0 {
		return fmt.Errorf("%d moves are not reported", m.n)
	}
	var zero E
	for _, e := range m.elems {
		if any(e) != any(zero) {
			return fmt.Errorf("the move of %v was reported and is still here", e)
		}
	}
	return nil
}

func (bs *buckets[K, E]) check(arrivals uint64) error {
	numbers := make(map[uint32]bool)
	n := 0
	for i, bound := range bs.bounds {
		numbers[bound.place()] = true
		b := bs.bucket(i)
		if b.n > bs.full() || b.n == 0 {
			return fmt.Errorf("%d elements in a bucket", b.n)
		}
		if small := bs.small(); i > 0 && b.n <= small && bs.bucket(i-1).n <= small {
			return fmt.Errorf("buckets of %d and %d elements, side by side", b.n, bs.bucket(i-1).n)
		}
		m := 0
		for index, it := range b.all() {
			m++
			switch {
			case it.arrival() >= arrivals || it.place() != 0:
				return fmt.Errorf("%v arrived as one of %d", it, arrivals)
			case bs.find(it.slot) != i:
				return fmt.Errorf("%v is in bucket %d of %d and belongs to bucket %d", it, i, len(bs.bounds), bs.find(it.slot))
			case !b.has(index):
				return fmt.Errorf("%v is not known to be at %#x", it, index)
			}
		}
		if m != b.n {
			return fmt.Errorf("%d items in a bucket, %d counted", m, b.n)
		}
		n += m
		for j, block := range b.blocks {
			if (block != nil) != (b.used[j] != 0) {
				return fmt.Errorf("block %d of a bucket: %v, of which %#x are used", j, block, b.used[j])
			}
			if j < b.open && b.used[j] != allUsed {
				return fmt.Errorf("block %d of a bucket has room, and the first is said to be %d", j, b.open)
			}
			for k := range blockSize {
				place := placeIn(bound.place(), j<<blockBits|k)
				if block != nil && !b.has(j<<blockBits|k) && any(block.items[k]) != any(item[K, E]{}) &&
					!slices.Contains(bs.dead.places[:bs.dead.n], uint32(place)) {
					return fmt.Errorf("block %d of a bucket retains %v", j, block.items[k])
				}
			}
		}
	}
	for _, number := range bs.vacant {
		numbers[number] = true
	}
	if len(numbers) != len(bs.table) || len(numbers) != len(bs.bounds)+len(bs.vacant) {
		return fmt.Errorf("%d buckets and %d vacant numbers of %d", len(bs.bounds), len(bs.vacant), len(bs.table))
	}
	if bs.dead.n == len(bs.dead.places) {
		return fmt.Errorf("%d dead items are not cleared", bs.dead.n)
	}
	if n != bs.n {
		return fmt.Errorf("%d in buckets, %d counted", n, bs.n)
	}
	for _, b := range bs.free.blocks {
		if any(*b) != any(zeroBlock[K, E]()) {
			return fmt.Errorf("a free block retains %v", b)
		}
	}
	return nil
}

func zeroBlock[K cmp.Ordered, E any]() (b block[K, E]) { return b }

func (l *lane[K, E]) check() error {
	var last item[K, E]
	first := true
	for t := range l.line.All() {
		if t.arrival() >= l.arrivals || t.place() != 0 {
			return fmt.Errorf("%v arrived as one of %d", t, l.arrivals)
		}
		if !first && t.before(&last.slot) {
			return fmt.Errorf("%v is in the lane behind %v", t, last)
		}
		last, first = t, false
	}
	if !first && last.key > l.greatest {
		return fmt.Errorf("%v is in the lane, of which %v is the greatest", last, l.greatest)
	}
	return nil
}

func (t *tree[K, E]) check(arrivals uint64) error {
	if n := len(t.slots); n > 0 && n < root {
		return fmt.Errorf("an array of %d slots has no room for what is below the root", n)
	}
	for i, s := range t.slots {
		if i < root {
			if s != (slot[K]{}) {
				return fmt.Errorf("slot %d below the root is used", i)
			}
			continue
		}
		if s.arrival() >= arrivals {
			return fmt.Errorf("slot %v arrived as one of %d", s, arrivals)
		}
		if p := s.place(); p >= uint32(len(t.home)) || t.home[p] != uint32(i) {
			return fmt.Errorf("slot %v at %#x is not known to be there", s, i)
		}
		if parent := i/arity + 2; i > root && s.before(&t.slots[parent]) {
			return fmt.Errorf("slot %d (key %v) is before its parent %d (key %v)", i, s.key, parent, t.slots[parent].key)
		}
	}
	for i, s := range t.slots[len(t.slots):cap(t.slots)] {
		if s != (slot[K]{}) {
			return fmt.Errorf("slot %d past the end is not clear: %v", len(t.slots)+i, s)
		}
	}
	if n := max(root, len(t.slots)) - root; n != t.n {
		return fmt.Errorf("%d slots, %d counted", n, t.n)
	}
	return t.checkPlaces()
}

func (t *tree[K, E]) checkPlaces() error {
	if len(t.home) != len(t.elems) {
		return fmt.Errorf("%d homes for %d places", len(t.home), len(t.elems))
	}
	var zero E
	free := 0
	for next := t.free; next != 0; next = t.home[next-1] &^ isFree {
		free++
		if t.home[next-1]&isFree == 0 || free > len(t.home) {
			return fmt.Errorf("the list of free places comes to one that is not, or does not end")
		}
	}
	if free+t.n != len(t.home) {
		return fmt.Errorf("%d places, %d elements, %d free", len(t.home), t.n, free)
	}
	for p, home := range t.home {
		if home&isFree != 0 && any(t.elems[p]) != any(zero) {
			return fmt.Errorf("place %d is not clear: %v", p, t.elems[p])
		}
	}
	return nil
}

// LaneRetry is how many elements may come out of order before the lane is emptied.
const LaneRetry = laneRetry

// Cap returns the number of elements for which there is memory in the tree and the
// buckets.
func (q *Queue[K, E]) Cap() int {
	n := len(q.buckets.free.blocks)
	for i := range q.bounds {
		for _, b := range q.bucket(i).blocks {
			if b != nil {
				n++
			}
		}
	}
	return max(cap(q.tree.slots), cap(q.tree.elems)) + n*blockSize
}

// SetBucketSize sets the most elements of a bucket and of the tree of an empty queue.
func (q *Queue[K, E]) SetBucketSize(size int) { q.size = size }

// Lane returns the length of the lane.
func (q *Queue[K, E]) Lane() int { return q.line.Len() }

// RenumberIn has the queue number its arrivals anew after n more.
func (q *Queue[K, E]) RenumberIn(n int) { q.arrivals = maxArrivals - uint64(n) }

// Take is Remove that returns the element.
func (q *Queue[K, E]) Take(place int) E {
	e := q.At(place)
	q.Remove(place)
	return e
}

// NumberBuckets has the queue, which has no buckets yet, number them from n on.
func (q *Queue[K, E]) NumberBuckets(n int) { q.table = make([]*bucket[K, E], n) }

// InBucket reports whether place is in a bucket.
func InBucket(place int) bool { return place&3 == 2 }
