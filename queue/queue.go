// Package queue holds queues on which goroutines wait for each other: the
// blocking queues of java.util.concurrent.
//
//	constructor    java.util.concurrent     leaves first       holds
//	NewBounded     ArrayBlockingQueue       the oldest         a fixed number
//	NewUnbounded   LinkedBlockingQueue      the oldest         any number
//	NewHandoff     SynchronousQueue, fair   the oldest         nothing
//	NewPriority    PriorityBlockingQueue    the least          any number
//	NewDelay       DelayQueue               the earliest due   any number
//
// A channel does for most of what goroutines have to tell each other. These
// queues do what a channel cannot: grow without limit, order their elements,
// hold them back until they are due, show them, and give up some of them.
//
// # Waiting
//
// Put waits for room and Take for an element, both until their context ends.
// Offer and Poll do not wait, OfferFor and PollFor not for long. Nothing else
// waits at all.
//
// A context that has ended outranks everything that has not happened yet: with
// such a context Put, Take, OfferFor and PollFor fail without touching the
// queue, even if they had not had to wait. So a loop that takes until its
// context ends does end, however fast others put; Poll and Drain give what is
// left. But what has happened stands: an element that was handed to a waiter is
// returned by it, without an error, even if the context ended at that instant.
// No element is ever lost or delivered twice.
//
// # Order
//
// Those who wait are served in the order in which they came. Elements are
// handed to them directly, so nobody who comes later can take one before them.
//
// A Put or Offer synchronizes before the Take, Poll or Drain that returns the
// element.
//
// # No Close
//
// These queues are never closed, as in Java. A queue that can be closed adds an
// error to every operation, and each program wants something else of it: what
// is left is delivered, or dropped, and blocked producers fail, or finish. A
// context says it for each of them. A queue needs no cleaning up either: it
// owns no goroutine and no timer, and is collected when nobody uses it.
package queue

import (
	"fmt"
	"sync"

	"github.com/executor-go/executor/internal/ring"
	"github.com/executor-go/executor/internal/spinlock"
)

// Blocking is a queue of T on which goroutines can wait, as Java's
// BlockingQueue. Its constructor decides what it holds and in which order
// elements leave. The zero Blocking is not usable, and a Blocking must not be
// copied. All methods may be called by any number of goroutines.
//
// Blocking is one struct, not an interface with a type for each kind: the kinds
// differ in what they hold, not in what can be asked of them, and an interface
// of a dozen methods is one that nobody else implements. Declare the interface
// that you need where you need it.
type Blocking[T any] struct {
	capacity int // math.MaxInt if there is no limit, 0 if nothing is held

	// rank adds to a queue that orders its elements by a key: it asks the user
	// for the key of v, then locks mu, adds v, and returns with mu locked. It
	// is nil for a queue in order of arrival, whose elements go to mu.fifo.
	rank func(mu sync.Locker, v T)

	clock *clock // of a delay queue, else nil

	// mu is a leaf lock and is never held while user code runs.
	//
	// Whenever it is free, nothing is left to be done by those who could have:
	// no taker waits while an element could leave, except one that became due a
	// moment ago, and no putter waits while there is room. settleLocked sees to
	// it after every change, and before anybody takes.
	mu struct {
		spinlock.Mutex
		shelf shelf[T]
		fifo  *fifo[T] // shelf, if rank is nil

		// Those who wait, the oldest first. A waiter that gives up leaves its
		// line at once, so lines do not grow by waiting in vain.
		takers  *ring.Ring[*waiter[T]]
		putters *ring.Ring[*waiter[T]]

		// leader is the first of the takers if elements are there that are not
		// due. It alone waits with a timer, for the first of them; a timer for
		// every taker would wake them all for one element (JDK-6609775).
		leader *waiter[T]
	}
}

// entry is an element in a queue. Its ticket tells it from equal ones.
type entry[T any] struct {
	value  T
	ticket uint64
}

// shelf is what a queue holds, a plain structure under the lock of the queue.
type shelf[T any] interface {
	len() int
	peek() (T, bool)                // the first to leave, due or not
	pop() (T, bool)                 // the first to leave, if it is due
	due() (at int64, ok bool)       // its instant, if it has to wait for one
	snapshot() []entry[T]           // all; the first to leave is the first
	remove(func(entry[T]) bool) int // the func is ours, not the user's
	clear()
}

func newBlocking[T any](capacity int) *Blocking[T] {
	q := &Blocking[T]{capacity: capacity}
	moved := func(w *waiter[T], place int) { w.place = place }
	q.mu.takers = ring.New(moved)
	q.mu.putters = ring.New(moved)
	return q
}

// Len returns the number of elements, those of a delay queue that are not yet
// due among them. It is 0 for a handoff queue, and never counts elements of
// those who wait in Put.
func (q *Blocking[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.shelf.len()
}

// Cap returns the most elements the queue holds: [math.MaxInt] if there is no
// limit, 0 for a handoff queue.
func (q *Blocking[T]) Cap() int { return q.capacity }

// Remaining returns how many more elements the queue could hold at this
// moment, which is [math.MaxInt] if there is no limit: Java's
// remainingCapacity. That an Offer succeeds does not follow, since others may
// come first.
func (q *Blocking[T]) Remaining() int {
	if q.rank != nil || q.capacity == unlimited {
		return unlimited
	}
	return q.capacity - q.Len()
}

// Peek returns the element that is to leave first, without removing it, or
// false if the queue is empty. A delay queue shows it even if it is not due. A
// handoff queue is always empty.
func (q *Blocking[T]) Peek() (v T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.shelf.peek()
}

// String describes the queue in one line, for logs, as "queue: length 3, capacity 10".
// The form may change. Java: toString, which gives the elements; so does [Blocking.All].
func (q *Blocking[T]) String() string {
	if q.capacity == unlimited {
		return fmt.Sprintf("queue: length %d", q.Len())
	}
	return fmt.Sprintf("queue: length %d, capacity %d", q.Len(), q.capacity)
}
