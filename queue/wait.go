package queue

import (
	"context"
	"math"
	"time"

	"github.com/executor-go/executor/internal/cause"
	"github.com/executor-go/executor/internal/ring"
)

// waiter is a goroutine that waits to put or to take. Its fields are guarded by the lock
// of the queue.
//
// It is made for one wait. To reuse it would save an allocation, but a channel belongs
// to the testing/synctest bubble that made it.
type waiter[T any] struct {
	value   T       // the element of a putter; of a taker, once it is served
	place   int     // in the ring of takers or putters; -1 once it has its outcome
	outcome outcome // served or closed, once it is out of the ring

	// wake has a token if the waiter is to look at the queue again: it has its
	// outcome, has become the leader, or leads and an earlier element has come.
	wake chan struct{}

	due int64 // of the leader: the instant for which its timer is set
}

// outcome is how an attempt to put or to take ended.
type outcome uint8

const (
	served   outcome = iota // the element was added, or taken
	timedOut                // the time for waiting was over
	ended                   // the context ended
	closed                  // the queue is closed and, for a taker, empty
)

// err returns the error of an attempt with ctx.
func (o outcome) err(ctx context.Context) error {
	switch o {
	case ended:
		return cause.Of(ctx)
	case closed:
		return ErrClosed
	}
	return nil
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

// end decides about a waiter that was removed from its ring.
func (w *waiter[T]) end(o outcome) {
	w.outcome = o
	w.signal()
}

func mustContext(ctx context.Context) {
	if ctx == nil {
		panic("queue: nil Context")
	}
}

// doneOf returns the Done channel of ctx, or its error if it has ended. It panics if ctx
// is nil.
//
// The methods of a context may be user code. They are called here and by outcome.err only,
// while no lock is held and the caller is not a waiter: they may use the queue, and if
// one panics no element is lost.
func doneOf(ctx context.Context) (done <-chan struct{}, err error) {
	mustContext(ctx)
	if ctx.Err() != nil {
		return nil, cause.Of(ctx)
	}
	return ctx.Done(), nil
}

// waitLocked adds w to waiters and waits until it has its outcome, its timeout is over, or
// done is closed. It is in no ring afterwards. The lock is released while it waits.
func (q *Blocking[T]) waitLocked(
	done <-chan struct{}, w *waiter[T], waiters *ring.Ring[*waiter[T]], timeout time.Duration,
) outcome {
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
			return w.outcome
		}
		select {
		case <-done:
			q.removeWaiterLocked(w, waiters)
			return ended
		default:
		}
		left := timeout
		if timeout < noTimeout {
			left -= time.Since(start)
			if left <= 0 {
				q.removeWaiterLocked(w, waiters)
				return timedOut
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
			w.end(served)
			continue
		}
		if q.mu.takers.Len() > 0 {
			if v, ok := q.popLocked(); ok {
				w, _ := q.mu.takers.Pop()
				w.value = v
				w.end(served)
				continue
			}
		}
		break
	}
	if q.mu.closed && q.mu.store.len() == 0 {
		endAll(q.mu.takers)
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
	w.end(served)
	return w.value, true
}
