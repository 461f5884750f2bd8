package queue

import (
	"iter"
	"slices"
)

// Drain removes up to limit elements and returns them in the order in which
// they would have left, nil if there are none; Java's drainTo. It does not
// wait. To drain all, pass [math.MaxInt]; if limit is zero or negative nothing
// is removed. It makes room at once: those who wait in Put go on.
//
// Drain takes from a delay queue only what is due, see [Blocking.Clear]; and
// from a handoff queue what others wait to put.
func (q *Blocking[T]) Drain(limit int) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.takers.Len() > 0 {
		q.settleLocked(nil)
	}
	var all []T
	for len(all) < limit {
		v, ok := q.popLocked()
		if !ok {
			break
		}
		all = append(all, v)
	}
	q.settleLocked(nil)
	return all
}

// Clear removes all elements, due or not. It makes room at once: those who
// wait in Put go on.
func (q *Blocking[T]) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.shelf.clear()
	q.settleLocked(nil)
}

// RemoveFunc removes the elements that match accepts, due or not, and returns
// how many it has removed; Java's removeIf. It makes room at once: those who
// wait in Put go on. It takes time linear in the length of the queue.
//
// match is called once for each element that is in the queue when RemoveFunc
// begins, while no lock is held: it may take its time, and may use the queue. An
// element that leaves in the meantime is not counted, for it is delivered to whoever
// took it. If match panics, nothing is removed.
func (q *Blocking[T]) RemoveFunc(match func(T) bool) int {
	var doomed []uint64
	for _, e := range q.snapshot() {
		if match(e.value) {
			doomed = append(doomed, e.ticket)
		}
	}
	if len(doomed) == 0 {
		return 0
	}
	slices.Sort(doomed) // a heap gives tickets in any order

	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.mu.shelf.remove(func(e entry[T]) bool {
		_, found := slices.BinarySearch(doomed, e.ticket)
		return found
	})
	q.settleLocked(nil)
	return n
}

// All returns the elements that are in the queue when the loop begins, due or
// not. It removes none of them. The first is the first to leave; the others
// follow in the same order, or on a queue that is ordered by a key in no
// particular one. The queue may change during the loop, which does not notice.
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
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.shelf.snapshot()
}
