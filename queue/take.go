package queue

import (
	"context"
	"iter"
	"time"
)

// Take removes the first element and returns it. If there is none, it waits for one until
// ctx ends; the error then matches the error of ctx and its cause. If ctx has ended before,
// Take fails even if there is an element; see [Blocking.Poll] and [Blocking.Drain]. Once
// the queue is closed and empty, the error is [ErrClosed]. Take panics if ctx is nil.
func (q *Blocking[T]) Take(ctx context.Context) (T, error) {
	v, _, err := q.take(ctx, noTimeout)
	return v, err
}

// PollFor removes the first element and returns it. If there is none, it waits for one
// for up to d, and until ctx ends. It reports whether there was one. The error is as for
// Take: nil if there was an element, or d was over first. If d is zero or negative PollFor
// does not wait. It panics if ctx is nil.
func (q *Blocking[T]) PollFor(ctx context.Context, d time.Duration) (v T, ok bool, err error) {
	return q.take(ctx, d)
}

// Poll removes the first element and returns it, or false if there is none. It does not
// wait. On a delay queue it returns false if no element is due.
func (q *Blocking[T]) Poll() (T, bool) {
	q.lock()
	defer q.mu.Unlock()
	return q.pollLocked()
}

// TakeAll returns an iterator that takes elements, as Take does, until the queue is closed
// and empty. If ctx ends first, it yields the error of Take as the last pair, with the
// zero value. An element is removed from the queue just before it is yielded: leaving the
// loop leaves the others in the queue. Several loops share the elements. TakeAll panics if
// ctx is nil.
func (q *Blocking[T]) TakeAll(ctx context.Context) iter.Seq2[T, error] {
	mustContext(ctx)
	return func(yield func(T, error) bool) {
		for {
			v, err := q.Take(ctx)
			if err == ErrClosed || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (q *Blocking[T]) take(ctx context.Context, timeout time.Duration) (v T, ok bool, err error) {
	done, err := doneOf(ctx)
	if err != nil {
		return v, false, err
	}
	v, o := q.takeUntil(done, timeout)
	return v, o == served, o.err(ctx)
}

func (q *Blocking[T]) takeUntil(done <-chan struct{}, timeout time.Duration) (v T, o outcome) {
	q.lock()
	defer q.mu.Unlock()
	v, ok := q.pollLocked()
	switch {
	case ok:
		return v, served
	case q.mu.closed && q.mu.store.len() == 0:
		return v, closed
	case timeout <= 0:
		return v, timedOut
	}
	w := newWaiter[T]()
	o = q.waitLocked(done, w, q.mu.takers, timeout)
	return w.value, o
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
