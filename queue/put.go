package queue

import (
	"context"
	"time"
)

// Put adds v, and waits for room as long as it takes. It returns nil, or the
// error of ctx if that ended first: then v is not in the queue. If ctx has
// ended before, Put fails even if there is room. It panics if ctx is nil.
func (q *Blocking[T]) Put(ctx context.Context, v T) error {
	_, err := q.put(ctx, v, forever)
	return err
}

// OfferFor adds v, and waits for room for up to d: Java's offer with a timeout.
// It reports whether v was added; the error is that of ctx, if that ended
// before d was over or before OfferFor began. If d is zero or negative OfferFor
// does not wait. It panics if ctx is nil.
func (q *Blocking[T]) OfferFor(ctx context.Context, v T, d time.Duration) (bool, error) {
	return q.put(ctx, v, d)
}

// Offer adds v if there is room, and reports whether there was. It does not
// wait.
func (q *Blocking[T]) Offer(v T) bool {
	if q.rank != nil {
		q.putRanked(v)
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.offerLocked(v)
}

func (q *Blocking[T]) put(ctx context.Context, v T, patience time.Duration) (ok bool, err error) {
	done, err := ask(ctx)
	if err != nil {
		return false, err
	}
	ok, ended := q.putUntil(done, v, patience)
	if ended {
		err = reason(ctx)
	}
	return ok, err
}

func (q *Blocking[T]) putUntil(done <-chan struct{}, v T, patience time.Duration) (ok, ended bool) {
	if q.rank != nil {
		q.putRanked(v)
		return true, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if ok = q.offerLocked(v); ok || patience <= 0 {
		return ok, false
	}
	w := newWaiter[T]()
	w.value = v
	return q.waitLocked(done, w, q.mu.putters, patience)
}

// putRanked adds v to a queue that is ordered by a key, and never full.
func (q *Blocking[T]) putRanked(v T) {
	q.rank(&q.mu, v)
	defer q.mu.Unlock()
	q.settleLocked(nil)
}

// offerLocked adds v to a queue in order of arrival if there is room, or on a
// handoff queue if somebody waits for it.
func (q *Blocking[T]) offerLocked(v T) bool {
	if q.mu.fifo.len() < q.capacity {
		q.mu.fifo.push(v)
		q.settleLocked(nil)
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
