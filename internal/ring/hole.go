package ring

// isHole reports whether p, within the span, is a hole.
func (r *Ring[E]) isHole(p uint) bool {
	if r.holes == 0 {
		return false
	}
	i := r.index(p)
	return r.hole[i/64]&(1<<(i%64)) != 0
}

// punch takes the element at p out and leaves a hole.
func (r *Ring[E]) punch(p uint) E {
	i := r.index(p)
	e := r.buf[i]
	r.buf[i] = *new(E)
	if r.hole == nil {
		r.hole = make([]uint64, (len(r.buf)+63)/64)
	}
	r.hole[i/64] |= 1 << (i % 64)
	r.holes++
	return e
}

// fill forgets the hole at p.
func (r *Ring[E]) fill(p uint) {
	i := r.index(p)
	r.hole[i/64] &^= 1 << (i % 64)
	r.holes--
}

// trim drops the holes at both ends of the span. A hole is trimmed or closed
// once, so this adds a constant to the operation that made it.
func (r *Ring[E]) trim() {
	for r.holes > 0 && r.isHole(r.head) {
		r.fill(r.head)
		r.head++
	}
	for r.holes > 0 && r.isHole(r.tail-1) {
		r.tail--
		r.fill(r.tail)
	}
}
