package queue

import (
	"context"
	"iter"
	"time"
)

// Take removes the first element and returns it. If there is none, Take waits for one until ctx ends. If ctx ends
// first, or has ended before the call, Take returns an error that matches the error of ctx and its cause, even if there
// is an element; [Blocking.Poll] and [Blocking.Drain] return what is left. Once the queue is closed and empty, Take
// returns [ErrClosed]. It panics if ctx is nil.
func (q *Blocking[T]) Take(ctx context.Context) (T, error) {
	v, _, err := q.take(ctx, noTimeout)
	return v, err
}

// PollFor removes the first element and returns it. If there is none, PollFor waits for one for d at most, and until
// ctx ends. If d passes first, it returns false and no error. Otherwise the error is that of [Blocking.Take]. If d is
// zero or negative, PollFor does not wait. It panics if ctx is nil.
func (q *Blocking[T]) PollFor(ctx context.Context, d time.Duration) (v T, ok bool, err error) {
	return q.take(ctx, d)
}

// Poll removes the first element and returns it. It does not wait: if there is no element, or in a delay queue none
// that is due, Poll returns false.
func (q *Blocking[T]) Poll() (T, bool) {
	q.lock()
	defer q.mu.Unlock()
	return q.pollLocked()
}

// TakeAll returns an iterator that takes elements, as Take does, and waits for them, until the queue is closed and
// empty. If ctx ends first, the last pair is the zero value with the error of Take. Each element is removed from the
// queue just before it is yielded: a loop that breaks leaves the others in the queue. If several goroutines loop, each
// element goes to one of them. TakeAll panics if ctx is nil.
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
