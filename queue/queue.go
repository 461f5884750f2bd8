// Package queue has queues on which goroutines wait for each other, like the blocking queues of java.util.concurrent.
//
//	q := queue.NewBounded[string](100)
//	…
//	err := q.Put(ctx, "a line") // waits while the queue is full
//	…
//	line, err := q.Take(ctx) // waits while the queue is empty
//
// # Kinds
//
//	constructor    java.util.concurrent     leaves first       holds
//	NewBounded     ArrayBlockingQueue       the oldest         a fixed number
//	NewUnbounded   LinkedBlockingQueue      the oldest         any number
//	NewHandoff     SynchronousQueue, fair   the oldest         nothing
//	NewPriority    PriorityBlockingQueue    the least          any number
//	NewDelay       DelayQueue               the earliest due   any number
//
// A channel is enough for most communication between goroutines. These queues do what a channel cannot: they grow
// without limit, order their elements, hold back an element until it is due, and let a program look at, drain and
// remove elements.
//
// # Waiting
//
// Put waits for room, and Take waits for an element, until their context ends. OfferFor and PollFor wait for a given
// time at most. TakeAll is a loop over Take. No other method waits.
//
// If the context has ended before the call, Put, Take, OfferFor and PollFor return an error and do not change the
// queue, even if they would not have had to wait. So a loop that takes until its context ends does end, however fast
// other goroutines put. Poll and Drain return what is left.
//
// If the context ends at the instant at which a waiting call gets its element, the call returns the element, without an
// error. No element is lost or delivered twice.
//
// # Order
//
// Goroutines that wait are served in the order in which they began to wait. The queue hands an element to the first of
// them directly, so that no later caller can take it.
//
// In the terms of the Go memory model, a Put, OfferFor or Offer synchronizes before the
// call that returns its element.
//
// # Closing
//
// Close ends the input of a queue. From then on every put fails with [ErrClosed], also a put that is waiting. Takers
// get the elements that are in the queue, and ErrClosed once it is empty; [Blocking.TakeAll] is a loop until then. In a
// delay queue each element still leaves only when it is due.
//
// A queue need not be closed: it has no goroutine and no timer of its own, and is garbage collected when nothing refers
// to it.
package queue

import (
	"fmt"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/spinlock"
)

// Blocking is a queue of T on which goroutines can wait. The function that makes it determines how many elements it
// holds and in which order they leave. The zero Blocking is not usable: its methods panic, except Cap. A Blocking must
// not be copied. Its methods may be called by several goroutines at the same time.
//
// Blocking is one struct and not an interface with a type for each kind, since all kinds have the same methods. A
// program that needs an interface declares its own.
type Blocking[T any] struct {
	capacity int // math.MaxInt if there is no limit, 0 if nothing is held

	// push adds to a queue that is ordered by a key: it calls the user's function
	// for the key of v, then locks mu, adds v unless the queue is closed, and returns
	// with mu locked. It is nil for a queue in order of arrival, whose elements go to
	// mu.fifo.
	push func(v T)

	clock *clock // of a delay queue, else nil

	// mu is a leaf lock. It is never held while user code runs.
	//
	// Invariant: while mu is free, no taker waits if an element could leave, except
	// for one that became due a moment ago, and no putter waits if there is room. In
	// a closed queue no putter waits, and no taker unless there is an element.
	// matchLocked restores the invariant after every change, and before an element
	// is taken.
	mu struct {
		spinlock.Mutex
		store store[T]
		fifo  *fifo[T] // store, if push is nil

		closed bool

		// Goroutines that wait, the oldest first. A waiter that gives up is removed
		// at once.
		takers  *ring.Ring[*waiter[T]]
		putters *ring.Ring[*waiter[T]]

		// leader is the first of takers if there is an element that is not due
		// (leader and followers). Only the leader waits with a timer, for the first
		// element; with a timer for each taker, all of them would wake for one
		// element (JDK-6609775).
		leader *waiter[T]
	}
}

func newBlocking[T any](capacity int) *Blocking[T] {
	q := &Blocking[T]{capacity: capacity}
	moved := func(w *waiter[T], place int) { w.place = place }
	q.mu.takers = ring.New(moved)
	q.mu.putters = ring.New(moved)
	return q
}

// lock locks mu. It panics for a zero Blocking.
func (q *Blocking[T]) lock() {
	if q == nil || q.mu.store == nil {
		panic("queue: this Blocking was not made by a New function; the zero value is not usable")
	}
	q.mu.Lock()
}

// Len returns the number of elements. In a delay queue it counts those that are not due, too. Len does not count the
// elements of callers that wait in Put or OfferFor, so that it is 0 for a handoff queue.
func (q *Blocking[T]) Len() int {
	q.lock()
	defer q.mu.Unlock()
	return q.mu.store.len()
}

// Cap returns the number of elements that the queue can hold: [math.MaxInt] if there is no limit, 0 for a handoff
// queue.
func (q *Blocking[T]) Cap() int { return q.capacity }

// Remaining returns how many more elements the queue can hold, and [math.MaxInt] if there is no limit. A later Offer
// may fail nevertheless, because other goroutines came first or the queue is closed.
func (q *Blocking[T]) Remaining() int {
	if q.push != nil || q.capacity == unlimited {
		return unlimited
	}
	return q.capacity - q.Len()
}

// Peek returns the element that will leave first, without removing it. It returns false if the queue is empty, as a
// handoff queue always is. In a delay queue the element may not be due yet.
func (q *Blocking[T]) Peek() (v T, ok bool) {
	q.lock()
	defer q.mu.Unlock()
	return q.mu.store.peek()
}

// String returns a text for logs, such as "queue: length 3, capacity 10". The form may change.
func (q *Blocking[T]) String() string {
	if q.capacity == unlimited {
		return fmt.Sprintf("queue: length %d", q.Len())
	}
	return fmt.Sprintf("queue: length %d, capacity %d", q.Len(), q.capacity)
}
