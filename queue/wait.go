package queue

import (
	"context"
	"math"
	"time"

	"github.com/executor-go/executor/internal/ring"
)

// waiter is a goroutine that waits in one of the lines of a queue. It is
// guarded by the queue's lock, and made for one wait: to keep it for the next
// would save an allocation, but a channel belongs to the testing/synctest
// bubble that made it.
type waiter[T any] struct {
	value T   // a putter's until it is served, a taker's from then on
	place int // in its line; -1 once it is served

	// wake tells the waiter to look again, under the lock: it has been served,
	// or has become the leader, or an earlier element than it waits for has
	// come. One token is enough for any number of these.
	wake chan struct{}

	due int64 // the leader's: the instant for which its timer is set
}

// forever is the patience of those who wait for nothing but their context.
const forever = time.Duration(math.MaxInt64)

func newWaiter[T any]() *waiter[T] { return &waiter[T]{wake: make(chan struct{}, 1)} }

func (w *waiter[T]) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // a token is there already
	}
}

// ask gives the channel that tells of ctx's end, or its error if it has ended. It
// panics if there is no ctx.
//
// The methods of a context are the user's. All that is asked of it, here and by
// reason, is asked while no lock is held and nobody stands in line: they may use
// the queue, and if one panics nothing is lost.
func ask(ctx context.Context) (done <-chan struct{}, err error) {
	if ctx == nil {
		panic("queue: nil context")
	}
	if err = ctx.Err(); err != nil {
		return nil, err
	}
	return ctx.Done(), nil
}

// reason gives the error of a context whose channel is closed, which may be before
// it knows why.
func reason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Canceled
}

// waitLocked lets w wait in line until it is served, or its patience or its
// context, of which done tells, ends, and reports which: served, or neither, or
// ended. If it was not served it has left the line. The lock is released while it
// waits.
func (q *Blocking[T]) waitLocked(done <-chan struct{}, w *waiter[T], line *ring.Ring[*waiter[T]], patience time.Duration) (served, ended bool) {
	start := time.Now()
	var timer *time.Timer
	var alarm <-chan time.Time

	line.Push(w)
	for {
		// Look at the queue first, at the context next and at the clock last:
		// what was handed over must not be lost, and an ended context outranks
		// an ended patience.
		q.settleLocked(w)
		if w.place < 0 {
			return true, false
		}
		select {
		case <-done:
			q.leaveLocked(w, line)
			return false, true
		default:
		}
		left := patience
		if patience < forever {
			left -= time.Since(start)
			if left <= 0 {
				q.leaveLocked(w, line)
				return false, false
			}
		}
		if q.mu.leader == w {
			w.due, _ = q.mu.shelf.due()
			if w.due != never {
				left = min(left, time.Duration(saturatingSub(w.due, q.clock.now())))
			}
		}

		q.mu.Unlock()
		switch {
		case left < forever && timer == nil:
			timer = time.NewTimer(left)
			defer timer.Stop()
			alarm = timer.C
		case left < forever:
			timer.Reset(left)
		case timer != nil:
			timer.Stop() // it leads no more
		}
		select {
		case <-w.wake:
		case <-alarm:
		case <-done:
		}
		q.mu.Lock()
	}
}

// leaveLocked takes w, which gives up, out of its line.
func (q *Blocking[T]) leaveLocked(w *waiter[T], line *ring.Ring[*waiter[T]]) {
	line.Remove(w.place)
	q.appointLocked(nil)
}

// settleLocked moves elements to those who wait for them, and into the room
// that others have made, until nobody waits who need not. It is called after
// every change. self is the waiter that calls, if one does.
func (q *Blocking[T]) settleLocked(self *waiter[T]) {
	for {
		if q.mu.putters.Len() > 0 && q.mu.shelf.len() < q.capacity {
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
	q.appointLocked(self)
}

// appointLocked makes the first taker the leader if there is an element that
// is not due, and tells it if that is news: unless it is the caller, self.
func (q *Blocking[T]) appointLocked(self *waiter[T]) {
	if q.clock == nil {
		return
	}
	w, waiting := q.mu.takers.Peek()
	at, ok := q.mu.shelf.due()
	if !waiting || !ok {
		q.mu.leader = nil
		return
	}
	// A timer that is set for too early does no harm. It is set for too late
	// if an element has come that is due earlier.
	if q.mu.leader == w && w.due <= at {
		return
	}
	q.mu.leader = w
	w.due = at
	if w != self {
		w.signal()
	}
}

// popLocked takes the first element, or on a handoff queue that of the putter
// who has waited longest. It leaves the queue to be settled.
func (q *Blocking[T]) popLocked() (v T, ok bool) {
	if v, ok = q.mu.shelf.pop(); ok || q.capacity > 0 {
		return v, ok
	}
	w, ok := q.mu.putters.Pop()
	if !ok {
		return v, false
	}
	w.signal()
	return w.value, true
}
