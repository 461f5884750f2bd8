package queue

import (
	"context"
	"time"
)

// Take removes the first element and returns it, and waits for one as long as
// it takes. The error is that of ctx, if that ended first. If ctx has ended
// before, Take fails even if there is an element; see Poll and Drain. It panics
// if ctx is nil.
func (q *Blocking[T]) Take(ctx context.Context) (T, error) {
	v, _, err := q.take(ctx, forever)
	return v, err
}

// PollFor removes the first element and returns it, and waits for one for up
// to d: Java's poll with a timeout. It reports whether there was one; the error
// is that of ctx, if that ended before d was over or before PollFor began. If d
// is zero or negative PollFor does not wait. It panics if ctx is nil.
func (q *Blocking[T]) PollFor(ctx context.Context, d time.Duration) (v T, ok bool, err error) {
	return q.take(ctx, d)
}

// Poll removes the first element and returns it, or false if there is none. It
// does not wait. On a delay queue there is none until it is due.
func (q *Blocking[T]) Poll() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pollLocked()
}

func (q *Blocking[T]) take(ctx context.Context, patience time.Duration) (v T, ok bool, err error) {
	done, err := ask(ctx)
	if err != nil {
		return v, false, err
	}
	v, ok, ended := q.takeUntil(done, patience)
	if ended {
		err = reason(ctx)
	}
	return v, ok, err
}

func (q *Blocking[T]) takeUntil(done <-chan struct{}, patience time.Duration) (v T, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if v, ok = q.pollLocked(); ok || patience <= 0 {
		return v, ok, false
	}
	w := newWaiter[T]()
	ok, ended = q.waitLocked(done, w, q.mu.takers, patience)
	return w.value, ok, ended
}

// pollLocked takes the first element, unless it belongs to one who waits: it
// may have become due just now.
func (q *Blocking[T]) pollLocked() (v T, ok bool) {
	if q.mu.takers.Len() > 0 {
		q.settleLocked(nil)
	}
	v, ok = q.popLocked()
	if ok {
		q.settleLocked(nil)
	}
	return v, ok
}
