package queue

import "fmt"

// Check reports the first invariant of q that does not hold.
func (q *Blocking[T]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.mu.store.len()
	if q.mu.closed && (q.mu.putters.Len() > 0 || n == 0 && q.mu.takers.Len() > 0) {
		return fmt.Errorf("goroutines wait for a closed queue")
	}
	if n > q.capacity {
		return fmt.Errorf("%d elements in a queue of %d", n, q.capacity)
	}
	if q.mu.putters.Len() > 0 && n < q.capacity {
		return fmt.Errorf("%d puts wait, but there is room", q.mu.putters.Len())
	}
	if waiting := q.mu.takers.Len(); waiting > 0 {
		at, delayed := q.mu.store.due()
		if n > 0 && (!delayed || at <= q.clock.now()) || q.capacity == 0 && q.mu.putters.Len() > 0 {
			return fmt.Errorf("%d takes wait, but there is an element", waiting)
		}
	}
	for _, waiters := range []interface {
		Peek() (*waiter[T], bool)
	}{q.mu.takers, q.mu.putters} {
		if w, ok := waiters.Peek(); ok && w.place < 0 {
			return fmt.Errorf("a waiter has been served")
		}
	}
	first, _ := q.mu.takers.Peek()
	if at, ok := q.mu.store.due(); ok && first != nil {
		if q.mu.leader != first || q.mu.leader.due > at {
			return fmt.Errorf("the first taker is not the leader, or is late")
		}
	} else if q.mu.leader != nil {
		return fmt.Errorf("a leader has nothing to wait for")
	}
	return nil
}

// Waiting returns the numbers of goroutines that wait to take and to put.
func (q *Blocking[T]) Waiting() (takers, putters int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.takers.Len(), q.mu.putters.Len()
}
