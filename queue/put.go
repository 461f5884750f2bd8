package queue

import (
	"context"
	"time"
)

// Put adds v. If the queue is full, it waits for room until ctx ends. It returns nil if v
// was added, and the error of ctx otherwise. If ctx has ended before, Put fails even if
// there is room. It panics if ctx is nil.
func (q *Blocking[T]) Put(ctx context.Context, v T) error {
	_, err := q.put(ctx, v, noTimeout)
	return err
}

// OfferFor adds v. If the queue is full, it waits for room for up to d, and until ctx
// ends. It reports whether v was added. The error is that of ctx if ctx ended before d
// was over, or before the call. If d is zero or negative OfferFor does not wait. It
// panics if ctx is nil.
func (q *Blocking[T]) OfferFor(ctx context.Context, v T, d time.Duration) (bool, error) {
	return q.put(ctx, v, d)
}

// Offer adds v if there is room, and reports whether there was. It does not wait.
func (q *Blocking[T]) Offer(v T) bool {
	if q.push != nil {
		q.pushByKey(v)
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.offerLocked(v)
}

func (q *Blocking[T]) put(ctx context.Context, v T, timeout time.Duration) (ok bool, err error) {
	done, err := doneOf(ctx)
	if err != nil {
		return false, err
	}
	ok, ended := q.putUntil(done, v, timeout)
	if ended {
		err = errOf(ctx)
	}
	return ok, err
}

func (q *Blocking[T]) putUntil(done <-chan struct{}, v T, timeout time.Duration) (ok, ended bool) {
	if q.push != nil {
		q.pushByKey(v)
		return true, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if ok = q.offerLocked(v); ok || timeout <= 0 {
		return ok, false
	}
	w := newWaiter[T]()
	w.value = v
	return q.waitLocked(done, w, q.mu.putters, timeout)
}

// pushByKey adds v to a queue that is ordered by a key, and never full.
func (q *Blocking[T]) pushByKey(v T) {
	q.push(&q.mu, v)
	defer q.mu.Unlock()
	q.matchLocked(nil)
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
		w.signal()
	}
	return ok
}
