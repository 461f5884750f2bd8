package queue

import (
	"errors"

	"github.com/executor-go/executor/internal/ring"
)

// ErrClosed is the error of a put into a closed queue, and of a take from a queue that is closed and empty. It is
// returned as it is, not wrapped.
var ErrClosed = errors.New("queue: closed")

// Close ends the input of the queue. From then on Put and OfferFor fail with [ErrClosed], and Offer returns false. Puts
// that are waiting fail at once, and their elements are not in the queue. Takers get the elements that are in the
// queue, and ErrClosed when there are none left. In a delay queue they wait until each element is due; [Blocking.Clear]
// and [Blocking.RemoveFunc] remove elements that nobody should wait for. Close does not wait. It does nothing if the
// queue is closed already.
func (q *Blocking[T]) Close() {
	q.lock()
	defer q.mu.Unlock()
	q.mu.closed = true
	endAll(q.mu.putters)
	q.matchLocked(nil)
}

// endAll ends all waits in a ring, since the queue is closed.
func endAll[T any](waiters *ring.Ring[*waiter[T]]) {
	for w, ok := waiters.Pop(); ok; w, ok = waiters.Pop() {
		w.end(closed)
	}
}
