package ring

import (
	"fmt"
	"math/bits"
)

// Check reports the first invariant of r that does not hold.
func (r *Ring[E]) Check() error {
	if n := len(r.buf); n&(n-1) != 0 {
		return fmt.Errorf("an array of %d slots", n)
	}
	span := r.tail - r.head
	if span > uint(len(r.buf)) {
		return fmt.Errorf("a span of %d in an array of %d", span, len(r.buf))
	}
	if span > 0 && (r.isHole(r.head) || r.isHole(r.tail-1)) {
		return fmt.Errorf("a hole at an end of the span")
	}
	marks := 0
	for _, word := range r.hole {
		marks += bits.OnesCount64(word)
	}
	if marks != r.holes {
		return fmt.Errorf("%d marks for %d holes", marks, r.holes)
	}
	var zero E
	for p := r.head; p != r.head+uint(len(r.buf)); p++ {
		outside := p-r.head >= span
		if !outside && !r.isHole(p) {
			continue
		}
		if e := r.buf[r.index(p)]; any(e) != any(zero) {
			return fmt.Errorf("position %d is not clear: %v", p, e)
		}
		if i := r.index(p); outside && r.hole != nil && r.hole[i/64]&(1<<(i%64)) != 0 {
			return fmt.Errorf("position %d outside of the span is marked as a hole", p)
		}
	}
	return nil
}

// Cap returns the size of the array.
func (r *Ring[E]) Cap() int { return len(r.buf) }

// StartAt moves the position of an empty ring.
func (r *Ring[E]) StartAt(p uint) { r.head, r.tail = p, p }
