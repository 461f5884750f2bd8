package queue

import (
	"slices"

	"github.com/executor-go/executor/internal/ring"
)

// fifo is the shelf of a queue in order of arrival.
type fifo[T any] struct {
	ring   ring.Ring[entry[T]]
	ticket uint64 // of the next element
}

func (s *fifo[T]) push(v T) {
	s.ring.Push(entry[T]{v, s.ticket})
	s.ticket++
}

func (s *fifo[T]) len() int { return s.ring.Len() }

func (s *fifo[T]) peek() (T, bool) {
	e, ok := s.ring.Peek()
	return e.value, ok
}

func (s *fifo[T]) pop() (T, bool) {
	e, ok := s.ring.Pop()
	return e.value, ok
}

func (s *fifo[T]) due() (int64, bool) { return 0, false }

func (s *fifo[T]) snapshot() []entry[T] {
	return slices.AppendSeq(make([]entry[T], 0, s.ring.Len()), s.ring.All())
}

func (s *fifo[T]) remove(match func(entry[T]) bool) int {
	n := len(s.ring.RemoveFunc(match))
	s.ring.Compact(nil)
	return n
}

func (s *fifo[T]) clear() { s.ring = ring.Ring[entry[T]]{} }
