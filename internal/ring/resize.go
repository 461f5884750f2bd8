package ring

// makeRoom makes a full span shorter than its array: by closing the holes if
// at least half of the array is holes, else by doubling it.
func (r *Ring[E]) makeRoom() {
	size := max(len(r.buf), smallest)
	if r.Len() > len(r.buf)/2 {
		size = 2 * len(r.buf)
	}
	r.relocate(size)
}

// sparse reports whether the array ought to shrink: three quarters of it are
// empty.
func (r *Ring[E]) sparse() bool {
	return len(r.buf) > idle && r.Len() <= len(r.buf)/4
}

// fitting returns the size of the array after halving it as long as it is
// sparse. The length must about halve or double before the array is touched
// again, so a ring that grows and shrinks around one size does not thrash.
func (r *Ring[E]) fitting() int {
	size := len(r.buf)
	for size > idle && r.Len() <= size/4 {
		size /= 2
	}
	return size
}

// relocate closes the holes and moves the elements to an array of size slots,
// a power of two; in place if that is the present size. An element changes its
// place only if there was a hole before it.
func (r *Ring[E]) relocate(size int) {
	from, old := r.buf, uint(len(r.buf)-1)
	to, mask := from, uint(size-1)
	if size != len(from) {
		to = make([]E, size)
	}

	end := r.head // those moved so far are at [head, end)
	for p := r.head; p != r.tail; p++ {
		if r.isHole(p) {
			continue
		}
		e := from[p&old]
		to[end&mask] = e
		if p != end && r.moved != nil {
			r.moved(e, placeOf(end))
		}
		end++
	}
	if size == len(from) {
		for p := end; p != r.tail; p++ {
			to[p&mask] = *new(E)
		}
		clear(r.hole)
	} else {
		r.buf, r.hole = to, nil
	}
	r.tail, r.holes = end, 0
}
