package heap

import (
	"cmp"
	"iter"
	"slices"
)

// This file is how elements get into the tree and the piles, and from one to
// another.

// insert adds an element that came out of order, and gives its place.
func (q *Queue[K, E]) insert(t ticket[K, E]) (place int) {
	if q.near(&t.slot) {
		if q.tree.n < q.full() {
			return q.tree.push(t)
		}
		q.spill()
		return q.insert(t)
	}
	i := q.find(t.slot)
	if q.at(i).n == q.full() {
		q.split(i)
		return q.insert(t)
	}
	return pilesAt(q.piles.add(i, t))
}

// spill makes a pile of the upper half of the tree, which is full.
func (q *Queue[K, E]) spill() {
	pivot := median(q.tree.n, q.tree.all())
	i := len(q.bounds)
	q.begin(i, pivot)
	for s := range q.tree.all() {
		if !s.before(&pivot) {
			t := ticket[K, E]{s.unplaced(), q.tree.take(s.place())}
			q.tell(t.elem, pilesAt(q.piles.add(i, t)))
		}
	}
	q.announce()
	q.tree.compact()
}

// split makes a pile of the upper half of the one at index i, which is full.
func (q *Queue[K, E]) split(i int) {
	lower := q.at(i)
	pivot := median(lower.n, lower.slots())
	q.begin(i, pivot)
	for at, t := range lower.all() {
		if !t.before(&pivot) {
			t := q.piles.take(lower, at)
			q.tell(t.elem, pilesAt(q.piles.add(i, t)))
		}
	}
	q.pack(i + 1)
	q.announce()
}

// pack moves what a pile has in its last trays to where the first have holes.
func (q *Queue[K, E]) pack(i int) {
	p := q.at(i)
	for at := p.last(); at>>trayBits > (p.n-1)/traySize; at = p.last() {
		t := q.piles.take(p, at)
		q.tell(t.elem, pilesAt(q.piles.add(i, t)))
	}
}

// advance makes the tree, which is empty, of the first pile.
func (q *Queue[K, E]) advance() {
	i := len(q.bounds) - 1
	p := q.at(i)
	for at := range p.all() {
		t := q.piles.take(p, at)
		q.tell(t.elem, q.tree.lay(t))
	}
	q.announce()
	q.end(i)
	q.tree.heapify()
}

// removeFar removes the element at a place in the piles.
func (q *Queue[K, E]) removeFar(place int) {
	p, at := q.locate(place)
	if left := p.n - 1; left > 0 && left != q.few() {
		q.drop(p, at, place)
		return
	}
	t := q.piles.take(p, at)
	q.thin(q.find(t.slot))
}

// thin keeps it true, after some have left the pile at index i, that of two piles
// side by side one has more than a few elements.
func (q *Queue[K, E]) thin(i int) {
	if q.at(i).n == 0 {
		q.end(i)
	} else {
		q.join(i)
	}
	q.join(i - 1)
}

// join puts the pile at index i onto the one before it, if there are two and
// neither has more than a few elements.
func (q *Queue[K, E]) join(i int) {
	if few := q.few(); i < 0 || i+1 >= len(q.bounds) || q.at(i).n > few || q.at(i+1).n > few {
		return
	}
	p := q.at(i)
	for at := range p.all() {
		t := q.piles.take(p, at)
		q.tell(t.elem, pilesAt(q.piles.add(i+1, t)))
	}
	q.announce()
	q.end(i)
}

// median gives a slot of n that is about in the middle, and not the least unless
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
