package queue

import (
	"context"
	"math"
	"time"

	"github.com/executor-go/executor/internal/ring"
)

// waiter is a goroutine that waits to put or to take. Its fields are guarded by the lock
// of the queue.
//
// It is made for one wait. To reuse it would save an allocation, but a channel belongs
// to the testing/synctest bubble that made it.
type waiter[T any] struct {
	value T   // the element of a putter; of a taker, once it is served
	place int // in the ring of takers or putters; -1 once it is served

	// wake has a token if the waiter is to look at the queue again: it has been
	// served, has become the leader, or leads and an earlier element has come.
	wake chan struct{}

	due int64 // of the leader: the instant for which its timer is set
}

// noTimeout is the timeout of a waiter that waits until its context ends.
const noTimeout = time.Duration(math.MaxInt64)

func newWaiter[T any]() *waiter[T] { return &waiter[T]{wake: make(chan struct{}, 1)} }

// signal puts a token into w.wake, unless there is one.
func (w *waiter[T]) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// doneOf returns the Done channel of ctx, or its error if it has ended. It panics if ctx
// is nil.
//
// The methods of a context may be user code. They are called here and by errOf only,
// while no lock is held and the caller is not a waiter: they may use the queue, and if
// one panics no element is lost.
func doneOf(ctx context.Context) (done <-chan struct{}, err error) {
	if ctx == nil {
		panic("queue: nil context")
	}
	if err = ctx.Err(); err != nil {
		return nil, err
	}
	return ctx.Done(), nil
}

// errOf returns the error of a context whose Done channel is closed. A context of the
// user's may have none yet.
func errOf(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Canceled
}

// waitLocked adds w to waiters and waits until it is served, its timeout is over, or done
// is closed. It reports whether w was served and, if not, whether done was closed. A
// waiter that was not served has been removed. The lock is released while it waits.
func (q *Blocking[T]) waitLocked(
	done <-chan struct{}, w *waiter[T], waiters *ring.Ring[*waiter[T]], timeout time.Duration,
) (served, ended bool) {
	start := time.Now()
	var timer *time.Timer
	var expired <-chan time.Time

	waiters.Push(w)
	for {
		// The queue comes first, the context next, and the clock last: an element
		// that was handed over must not be lost, and an ended context outranks a
		// timeout.
		q.matchLocked(w)
		if w.place < 0 {
			return true, false
		}
		select {
		case <-done:
			q.removeWaiterLocked(w, waiters)
			return false, true
		default:
		}
		left := timeout
		if timeout < noTimeout {
			left -= time.Since(start)
			if left <= 0 {
				q.removeWaiterLocked(w, waiters)
				return false, false
			}
		}
		if q.mu.leader == w {
			w.due, _ = q.mu.store.due()
			if w.due != never {
				now := q.clock.now()
				left = min(left, time.Duration(max(w.due, now)-now))
			}
		}

		q.mu.Unlock()
		switch {
		case left < noTimeout && timer == nil:
			timer = time.NewTimer(left)
			defer timer.Stop()
			expired = timer.C
		case left < noTimeout:
			timer.Reset(left)
		case timer != nil:
			timer.Stop() // w is no longer the leader
		}
		select {
		case <-w.wake:
		case <-expired:
		case <-done:
		}
		q.mu.Lock()
	}
}

// removeWaiterLocked removes w, which gives up, from waiters.
func (q *Blocking[T]) removeWaiterLocked(w *waiter[T], waiters *ring.Ring[*waiter[T]]) {
	waiters.Remove(w.place)
	q.setLeaderLocked(nil)
}

// matchLocked moves elements of putters to the room that there is, and elements that can
// leave to takers, until no more can be moved. It is called after every change. self is
// the waiter that calls it, nil if the caller is not one.
func (q *Blocking[T]) matchLocked(self *waiter[T]) {
	for {
		if q.mu.putters.Len() > 0 && q.mu.store.len() < q.capacity {
			w, _ := q.mu.putters.Pop()
			q.mu.fifo.push(w.value)
			w.signal()
			continue
		}
		if q.mu.takers.Len() > 0 {
			if v, ok := q.popLocked(); ok {
				w, _ := q.mu.takers.Pop()
				w.value = v
				w.signal()
				continue
			}
		}
		break
	}
	q.setLeaderLocked(self)
}

// setLeaderLocked makes the first taker the leader if there is an element that is not
// due, and wakes the leader if its timer has to be set anew, unless it is the caller,
// self.
func (q *Blocking[T]) setLeaderLocked(self *waiter[T]) {
	if q.clock == nil {
		return
	}
	w, waiting := q.mu.takers.Peek()
	at, ok := q.mu.store.due()
	if !waiting || !ok {
		q.mu.leader = nil
		return
	}
	// A timer that is early does no harm. It is late if an element has come that is
	// due earlier.
	if q.mu.leader == w && w.due <= at {
		return
	}
	q.mu.leader = w
	w.due = at
	if w != self {
		w.signal()
	}
}

// popLocked removes the first element that can leave and returns it; on a handoff queue,
// the element of the first putter. The caller calls matchLocked.
func (q *Blocking[T]) popLocked() (v T, ok bool) {
	if v, ok = q.mu.store.pop(); ok || q.capacity > 0 {
		return v, ok
	}
	w, ok := q.mu.putters.Pop()
	if !ok {
		return v, false
	}
	w.signal()
	return w.value, true
}
