package queue

import (
	"cmp"
	"slices"

	"github.com/executor-go/executor/internal/heap"
	"github.com/executor-go/executor/internal/ring"
)

// store holds the elements of a queue. It does not lock; the queue does.
type store[T any] interface {
	len() int
	peek() (T, bool)                // the first to leave, due or not
	pop() (T, bool)                 // the first to leave, if it is due
	due() (at int64, ok bool)       // the instant of the first; false if none has an instant
	snapshot() []entry[T]           // all elements; the first to leave is the first
	remove(func(entry[T]) bool) int // the function is not the user's
	clear()
}

// entry is an element in a store. Its number distinguishes it from equal elements.
type entry[T any] struct {
	value  T
	number uint64 // elements that came before
}

// fifo is the store of a queue in order of arrival.
type fifo[T any] struct {
	ring     ring.Ring[entry[T]]
	arrivals uint64
}

func (s *fifo[T]) push(v T) {
	s.ring.Push(entry[T]{v, s.arrivals})
	s.arrivals++
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

// ranked is the store of a queue in order of a key.
type ranked[T any, K cmp.Ordered] struct {
	heap     heap.Heap[K, entry[T]]
	arrivals uint64
}

func (s *ranked[T, K]) push(key K, v T) {
	s.heap.Push(heap.Rank[K]{Key: key, Arrival: s.arrivals}, entry[T]{v, s.arrivals})
	s.arrivals++
}

func (s *ranked[T, K]) len() int { return s.heap.Len() }

func (s *ranked[T, K]) peek() (T, bool) {
	e, ok := s.heap.Peek()
	return e.value, ok
}

func (s *ranked[T, K]) pop() (T, bool) {
	e, ok := s.heap.Pop()
	return e.value, ok
}

func (s *ranked[T, K]) due() (int64, bool) { return 0, false }

func (s *ranked[T, K]) snapshot() []entry[T] {
	all := make([]entry[T], 0, s.heap.Len())
	first, _ := s.heap.Peek()
	for e := range s.heap.All() {
		all = append(all, e)
		if e.number == first.number { // anywhere among all
			last := len(all) - 1
			all[0], all[last] = all[last], all[0]
		}
	}
	return all
}

func (s *ranked[T, K]) remove(match func(entry[T]) bool) int { return len(s.heap.RemoveFunc(match)) }

// clear does not drain the heap, which would sort it.
func (s *ranked[T, K]) clear() { s.heap = heap.Heap[K, entry[T]]{} }

// delayed is the store of a delay queue, in order of the instant at which elements are
// due on the queue's clock.
type delayed[T any] struct {
	ranked[T, int64]
	clock *clock
}

// pop returns the first element if it is due.
func (s *delayed[T]) pop() (T, bool) {
	if first, ok := s.heap.First(); !ok || first.Key > s.clock.now() {
		var none T
		return none, false
	}
	return s.ranked.pop()
}

// due returns the instant of the first element.
func (s *delayed[T]) due() (at int64, ok bool) {
	first, ok := s.heap.First()
	return first.Key, ok
}
