package queue

import (
	"context"
	"time"
)

// Take removes the first element and returns it. If there is none, it waits for one until
// ctx ends, and returns the error of ctx then. If ctx has ended before, Take fails even
// if there is an element; see [Blocking.Poll] and [Blocking.Drain]. It panics if ctx is
// nil.
func (q *Blocking[T]) Take(ctx context.Context) (T, error) {
	v, _, err := q.take(ctx, noTimeout)
	return v, err
}

// PollFor removes the first element and returns it. If there is none, it waits for one
// for up to d, and until ctx ends. It reports whether there was one. The error is that
// of ctx if ctx ended before d was over, or before the call. If d is zero or negative
// PollFor does not wait. It panics if ctx is nil.
func (q *Blocking[T]) PollFor(ctx context.Context, d time.Duration) (v T, ok bool, err error) {
	return q.take(ctx, d)
}

// Poll removes the first element and returns it, or false if there is none. It does not
// wait. On a delay queue it returns false if no element is due.
func (q *Blocking[T]) Poll() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pollLocked()
}

func (q *Blocking[T]) take(ctx context.Context, timeout time.Duration) (v T, ok bool, err error) {
	done, err := doneOf(ctx)
	if err != nil {
		return v, false, err
	}
	v, ok, ended := q.takeUntil(done, timeout)
	if ended {
		err = errOf(ctx)
	}
	return v, ok, err
}

func (q *Blocking[T]) takeUntil(done <-chan struct{}, timeout time.Duration) (v T, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if v, ok = q.pollLocked(); ok || timeout <= 0 {
		return v, ok, false
	}
	w := newWaiter[T]()
	ok, ended = q.waitLocked(done, w, q.mu.takers, timeout)
	return w.value, ok, ended
}

// pollLocked removes the first element and returns it, after handing elements that have
// become due to the takers that wait for them.
func (q *Blocking[T]) pollLocked() (v T, ok bool) {
	if q.mu.takers.Len() > 0 {
		q.matchLocked(nil)
	}
	v, ok = q.popLocked()
	if ok {
		q.matchLocked(nil)
	}
	return v, ok
}
