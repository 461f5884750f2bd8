package queue

import (
	"context"
	"time"
)

// Put adds v. If the queue is full, Put waits for room until ctx ends. It returns nil if v was added. It returns
// [ErrClosed] if the queue is closed, also if that happens during the wait. If ctx ends first, or has ended before the
// call, Put returns an error that matches the error of ctx and its cause, even if there is room. Put panics if ctx is
// nil.
func (q *Blocking[T]) Put(ctx context.Context, v T) error {
	_, err := q.put(ctx, v, noTimeout)
	return err
}

// OfferFor adds v, and reports whether it was added. If the queue is full, OfferFor waits for room for d at most, and
// until ctx ends. If d passes first, it returns false and no error. Otherwise the error is that of [Blocking.Put]. If d
// is zero or negative, OfferFor does not wait. It panics if ctx is nil.
func (q *Blocking[T]) OfferFor(ctx context.Context, v T, d time.Duration) (bool, error) {
	return q.put(ctx, v, d)
}

// Offer adds v if there is room and the queue is not closed, and reports whether it was added. Offer does not wait.
func (q *Blocking[T]) Offer(v T) bool { return q.putUntil(nil, v, 0) == served }

func (q *Blocking[T]) put(ctx context.Context, v T, timeout time.Duration) (ok bool, err error) {
	done, err := doneOf(ctx)
	if err != nil {
		return false, err
	}
	o := q.putUntil(done, v, timeout)
	return o == served, o.err(ctx)
}

func (q *Blocking[T]) putUntil(done <-chan struct{}, v T, timeout time.Duration) outcome {
	if q.push != nil {
		return q.pushByKey(v)
	}
	q.lock()
	defer q.mu.Unlock()
	switch {
	case q.mu.closed:
		return closed
	case q.offerLocked(v):
		return served
	case timeout <= 0:
		return timedOut
	}
	w := newWaiter[T]()
	w.value = v
	return q.waitLocked(done, w, q.mu.putters, timeout)
}

// pushByKey adds v to a queue that is ordered by a key, and never full.
func (q *Blocking[T]) pushByKey(v T) outcome {
	q.push(v)
	defer q.mu.Unlock()
	if q.mu.closed {
		return closed
	}
	q.matchLocked(nil)
	return served
}

// offerLocked adds v to a queue in order of arrival if there is room. On a handoff queue
// it hands v to the first taker. It reports whether it did.
func (q *Blocking[T]) offerLocked(v T) bool {
	if q.mu.fifo.len() < q.capacity {
		q.mu.fifo.push(v)
		q.matchLocked(nil)
		return true
	}
	if q.capacity > 0 {
		return false
	}
	w, ok := q.mu.takers.Pop()
	if ok {
		w.value = v
		w.end(served)
	}
	return ok
}
