package queue

import (
	"iter"
	"slices"
)

// Drain removes up to limit elements and returns them in the order in which they would
// have left, nil if there are none. It does not wait. To drain all elements, pass
// [math.MaxInt]. If limit is zero or negative, Drain removes nothing. Goroutines that
// wait in Put get the room at once.
//
// Drain removes only elements that are due from a delay queue; see [Blocking.Clear]. It
// takes the elements of goroutines that wait in Put from a handoff queue.
func (q *Blocking[T]) Drain(limit int) []T {
	q.lock()
	defer q.mu.Unlock()
	if q.mu.takers.Len() > 0 {
		q.matchLocked(nil)
	}
	var all []T
	for len(all) < limit {
		v, ok := q.popLocked()
		if !ok {
			break
		}
		all = append(all, v)
	}
	q.matchLocked(nil)
	return all
}

// Clear removes all elements, due or not. Goroutines that wait in Put get the room at
// once.
func (q *Blocking[T]) Clear() {
	q.lock()
	defer q.mu.Unlock()
	q.mu.store.clear()
	q.matchLocked(nil)
}

// RemoveFunc removes the elements that match accepts, due or not, and returns the number
// of elements that it has removed. Goroutines that wait in Put get the room at once. It
// takes time linear in the length of the queue.
//
// match is called once for each element that is in the queue when RemoveFunc begins,
// while no lock is held: it may use the queue. An element that leaves in the meantime
// is not counted, since another goroutine has received it. If match panics, nothing is
// removed.
func (q *Blocking[T]) RemoveFunc(match func(T) bool) int {
	var doomed []uint64
	for _, e := range q.snapshot() {
		if match(e.value) {
			doomed = append(doomed, e.number)
		}
	}
	if len(doomed) == 0 {
		return 0
	}
	slices.Sort(doomed) // a snapshot of a heap is in no order

	q.lock()
	defer q.mu.Unlock()
	n := q.mu.store.remove(func(e entry[T]) bool {
		_, found := slices.BinarySearch(doomed, e.number)
		return found
	})
	q.matchLocked(nil)
	return n
}

// All returns an iterator over the elements that are in the queue when the loop begins,
// due or not. It removes none of them. The first element is the first to leave. The
// others follow in the order in which they leave or, in a queue that is ordered by a
// key, in no particular order. The queue may change during the loop, which does not
// affect the loop.
func (q *Blocking[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, e := range q.snapshot() {
			if !yield(e.value) {
				return
			}
		}
	}
}

func (q *Blocking[T]) snapshot() []entry[T] {
	q.lock()
	defer q.mu.Unlock()
	return q.mu.store.snapshot()
}
