package queue

import (
	"iter"
	"slices"
)

// Drain removes up to limit elements and returns them in the order in which they would have left. It returns nil if
// there are none, or if limit is zero or negative. To remove all elements, pass [math.MaxInt]. Drain does not wait.
// Goroutines that wait in Put get the room at once.
//
// From a delay queue Drain removes only elements that are due; [Blocking.Clear] removes all. From a handoff queue it
// takes the elements of goroutines that wait in Put or OfferFor.
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

// RemoveFunc removes the elements for which match returns true, due or not, and returns how many it has removed.
// Goroutines that wait in Put get the room at once.
//
// RemoveFunc calls match once for each element that is in the queue when it begins, while no lock is held, so that
// match may use the queue. An element that another goroutine takes in the meantime is not counted. If match panics,
// nothing is removed. The time that RemoveFunc takes is linear in the length of the queue, plus a sort of the elements
// to remove.
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

// All returns an iterator over the elements that are in the queue when the loop begins, due or not. It removes none of
// them. The element that leaves first is yielded first. The others follow in the order in which they leave, but in a
// priority queue and in a delay queue in no particular order. Changes of the queue during the loop do not affect the
// loop.
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
