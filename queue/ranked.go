package queue

import (
	"cmp"

	"github.com/executor-go/executor/internal/heap"
)

// ranked is the shelf of a queue in order of a key.
type ranked[T any, K cmp.Ordered] struct {
	heap   heap.Queue[K, entry[T]]
	ticket uint64 // of the next element
}

func (s *ranked[T, K]) push(key K, v T) {
	s.heap.Push(key, entry[T]{v, s.ticket})
	s.ticket++
}

func (s *ranked[T, K]) len() int { return s.heap.Len() }

func (s *ranked[T, K]) peek() (T, bool) {
	_, e, ok := s.heap.Peek()
	return e.value, ok
}

func (s *ranked[T, K]) pop() (T, bool) {
	_, e, ok := s.heap.Pop()
	return e.value, ok
}

func (s *ranked[T, K]) due() (int64, bool) { return 0, false }

func (s *ranked[T, K]) snapshot() []entry[T] {
	all := make([]entry[T], 0, s.heap.Len())
	_, first, _ := s.heap.Peek()
	for _, e := range s.heap.All() {
		all = append(all, e)
		if e.ticket == first.ticket { // the heap gives it at any time
			last := len(all) - 1
			all[0], all[last] = all[last], all[0]
		}
	}
	return all
}

func (s *ranked[T, K]) remove(match func(entry[T]) bool) int { return len(s.heap.RemoveFunc(match)) }

// clear gives up the array as well; Drain would sort it first.
func (s *ranked[T, K]) clear() { s.heap = heap.Queue[K, entry[T]]{} }
