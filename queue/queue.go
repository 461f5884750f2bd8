// Package queue holds queues on which goroutines wait for each other, as the blocking
// queues of java.util.concurrent.
//
//	constructor    java.util.concurrent     leaves first       holds
//	NewBounded     ArrayBlockingQueue       the oldest         a fixed number
//	NewUnbounded   LinkedBlockingQueue      the oldest         any number
//	NewHandoff     SynchronousQueue, fair   the oldest         nothing
//	NewPriority    PriorityBlockingQueue    the least          any number
//	NewDelay       DelayQueue               the earliest due   any number
//
// A channel is enough for most communication between goroutines. These queues do what
// a channel cannot: they grow without limit, order their elements, hold elements back
// until they are due, and show, drain and remove them.
//
// # Waiting
//
// Put waits for room and Take waits for an element until their context ends. OfferFor
// and PollFor also wait for at most a given time. No other method waits.
//
// A context that has ended comes first: with such a context Put, Take, OfferFor and
// PollFor fail and do not change the queue, even if they would not have had to wait.
// So a loop that takes until its context ends does end, however fast others put. Poll
// and Drain return what is left. But an element that has been handed to a waiter is
// returned by it, without an error, even if the context ends at that instant. No
// element is lost or delivered twice.
//
// # Order
//
// Waiters are served in the order in which they came. An element is handed to a waiter
// directly, so that no later caller can take it first.
//
// In the terms of the Go memory model, a Put, OfferFor or Offer synchronizes before the
// call that returns its element.
//
// # Closing
//
// Close ends the input of a queue. From then on every put fails with [ErrClosed], also one
// that waits. Takers get what is in the queue, and ErrClosed once it is empty;
// [Blocking.TakeAll] is a loop until then. A delay queue keeps what is not due until it is.
//
// A queue needs no cleanup: it has no goroutine and no timer of its own, and is garbage
// collected when it is no longer used, closed or not.
package queue

import (
	"fmt"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/spinlock"
)

// Blocking is a queue of T on which goroutines can wait. Its constructor determines how
// many elements it holds and in which order they leave. The zero Blocking is not
// usable. A Blocking must not be copied. Its methods may be called by several
// goroutines at the same time.
//
// Blocking is one struct and not an interface with a type for each kind, since all
// kinds have the same methods. Declare the interface that you need where you need it.
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

// Len returns the number of elements. It counts the elements of a delay queue that are
// not due. It is 0 for a handoff queue: elements of callers that wait in Put are not
// counted.
func (q *Blocking[T]) Len() int {
	q.lock()
	defer q.mu.Unlock()
	return q.mu.store.len()
}

// Cap returns the most elements that the queue can hold: [math.MaxInt] if there is no
// limit, 0 for a handoff queue.
func (q *Blocking[T]) Cap() int { return q.capacity }

// Remaining returns how many more elements the queue can hold, [math.MaxInt] if there
// is no limit, whether it is closed or not. An Offer that follows may fail nevertheless, since other goroutines may
// come first.
func (q *Blocking[T]) Remaining() int {
	if q.push != nil || q.capacity == unlimited {
		return unlimited
	}
	return q.capacity - q.Len()
}

// Peek returns the element that leaves first, without removing it, or false if the
// queue is empty. A delay queue returns it even if it is not due. A handoff queue is
// always empty.
func (q *Blocking[T]) Peek() (v T, ok bool) {
	q.lock()
	defer q.mu.Unlock()
	return q.mu.store.peek()
}

// String returns a line of text for logs, such as "queue: length 3, capacity 10". The
// form may change.
func (q *Blocking[T]) String() string {
	if q.capacity == unlimited {
		return fmt.Sprintf("queue: length %d", q.Len())
	}
	return fmt.Sprintf("queue: length %d, capacity %d", q.Len(), q.capacity)
}
