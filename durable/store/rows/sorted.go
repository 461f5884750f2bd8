package rows

import (
	"iter"
	"slices"
)

// A sorted is a set in order: chunks of neighbors, of which none is empty. Adding and removing take the square root of
// its size.
type sorted[T any] struct {
	compare func(a, b T) int
	chunks  [][]T
	n       int
}

// chunk is how many elements a chunk has at most.
const chunk = 512

// find returns the first element that is not before v: its chunk, and its place there. If v is after all, it is the end
// of the last chunk.
func (s *sorted[T]) find(v T) (c, i int, there bool) {
	c, _ = slices.BinarySearchFunc(s.chunks, v, func(of []T, v T) int { return s.compare(of[len(of)-1], v) })
	if c == len(s.chunks) {
		if c == 0 {
			return 0, 0, false
		}
		return c - 1, len(s.chunks[c-1]), false
	}
	i, there = slices.BinarySearchFunc(s.chunks[c], v, s.compare)
	return c, i, there
}

// add adds v, unless it is there.
func (s *sorted[T]) add(v T) {
	c, i, there := s.find(v)
	switch {
	case there:
		return
	case len(s.chunks) == 0:
		s.chunks = [][]T{{v}}
	default:
		of := slices.Insert(s.chunks[c], i, v)
		if s.chunks[c] = of; len(of) > chunk {
			at := len(of) / 2
			if i == chunk && c == len(s.chunks)-1 {
				at = chunk // what comes in order fills the chunks
			}
			s.chunks[c] = slices.Clip(of[:at])
			s.chunks = slices.Insert(s.chunks, c+1, slices.Clone(of[at:]))
		}
	}
	s.n++
}

// remove removes v, if it is there.
func (s *sorted[T]) remove(v T) {
	c, i, there := s.find(v)
	if !there {
		return
	}
	if s.chunks[c] = slices.Delete(s.chunks[c], i, i+1); len(s.chunks[c]) == 0 {
		s.chunks = slices.Delete(s.chunks, c, c+1)
	}
	s.n--
}

// from yields the elements that are not before v, in order.
func (s *sorted[T]) from(v T) iter.Seq[T] {
	return func(yield func(T) bool) {
		c, i, _ := s.find(v)
		for ; c < len(s.chunks); c++ {
			for _, v := range s.chunks[c][i:] {
				if !yield(v) {
					return
				}
			}
			i = 0
		}
	}
}

// back yields the elements that are before v, or all if it is nil, in descending order.
func (s *sorted[T]) back(v *T) iter.Seq[T] {
	return func(yield func(T) bool) {
		c, end := len(s.chunks)-1, chunk
		if v != nil && c >= 0 {
			c, end, _ = s.find(*v)
		}
		for ; c >= 0; c, end = c-1, chunk {
			of := s.chunks[c]
			for _, v := range slices.Backward(of[:min(end, len(of))]) {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// first returns the first element, of which there must be one.
func (s *sorted[T]) first() T { return s.chunks[0][0] }

// len returns how many elements there are.
func (s *sorted[T]) len() int { return s.n }
