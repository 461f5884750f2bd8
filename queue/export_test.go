package queue

import "fmt"

// Check reports the first invariant of q that does not hold.
func (q *Blocking[T]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.mu.shelf.len()
	if n > q.capacity {
		return fmt.Errorf("%d elements in a queue of %d", n, q.capacity)
	}
	if q.mu.putters.Len() > 0 && n < q.capacity {
		return fmt.Errorf("%d wait to put, but there is room", q.mu.putters.Len())
	}
	if waiting := q.mu.takers.Len(); waiting > 0 {
		at, ranked := q.mu.shelf.due()
		if n > 0 && (!ranked || at <= q.clock.now()) || q.capacity == 0 && q.mu.putters.Len() > 0 {
			return fmt.Errorf("%d wait to take, but there is an element", waiting)
		}
	}
	for _, line := range []interface {
		Peek() (*waiter[T], bool)
	}{q.mu.takers, q.mu.putters} {
		if w, ok := line.Peek(); ok && w.place < 0 {
			return fmt.Errorf("one waits who has been served")
		}
	}
	first, _ := q.mu.takers.Peek()
	if at, ok := q.mu.shelf.due(); ok && first != nil {
		if q.mu.leader != first || q.mu.leader.due > at {
			return fmt.Errorf("the first taker does not lead, or is late")
		}
	} else if q.mu.leader != nil {
		return fmt.Errorf("one leads for nothing")
	}
	return nil
}

// Waiting returns how many wait to take and to put.
func (q *Blocking[T]) Waiting() (takers, putters int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.takers.Len(), q.mu.putters.Len()
}
