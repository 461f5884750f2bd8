package queue

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"
)

// unlimited is the capacity of a queue without a limit.
const unlimited = math.MaxInt

// NewBounded returns an empty queue that holds up to capacity elements, the
// oldest leaves first; Java's ArrayBlockingQueue with the fair policy. Memory
// grows and shrinks with what it holds. NewBounded panics if capacity is less
// than 1; see [NewHandoff] for a queue that holds nothing.
func NewBounded[T any](capacity int) *Blocking[T] {
	if capacity < 1 {
		panic(fmt.Sprintf("queue: capacity %d of a bounded queue is less than 1", capacity))
	}
	return newFIFO[T](capacity)
}

// NewUnbounded returns an empty queue without a limit, the oldest leaves first;
// Java's LinkedBlockingQueue. Put never waits.
func NewUnbounded[T any]() *Blocking[T] { return newFIFO[T](unlimited) }

// NewHandoff returns a queue that holds nothing, where a Put waits for a Take
// and a Take for a Put; Java's SynchronousQueue with the fair policy. Offer
// succeeds only if somebody waits in Take or PollFor, Poll only if somebody
// waits in Put or OfferFor. It is empty and full at once: Len is 0, Peek shows
// nothing.
func NewHandoff[T any]() *Blocking[T] { return newFIFO[T](0) }

// NewPriority returns an empty queue without a limit, where the element with
// the least key leaves first, and among equal keys the oldest; Java's
// PriorityBlockingQueue. Keys are compared as [cmp.Compare] does. For the
// greatest first, negate the key. Put never waits.
//
// key is called once for each element, by the goroutine that puts it, while no
// lock is held. What it returns is the key for good: an element that changes
// later keeps its rank. NewPriority panics if key is nil.
func NewPriority[T any, K cmp.Ordered](key func(T) K) *Blocking[T] {
	if key == nil {
		panic("queue: nil key")
	}
	q := newBlocking[T](unlimited)
	s := &ranked[T, K]{}
	q.mu.shelf = s
	q.rank = func(mu sync.Locker, v T) {
		k := key(v)
		mu.Lock()
		s.push(k, v)
	}
	return q
}

// NewDelay returns an empty queue without a limit, where an element leaves
// when it is due, the earliest first, and among equal times the oldest; Java's
// DelayQueue. Put never waits. Until the first element is due the queue seems
// empty to those who take, but Len counts it and Peek shows it.
//
// due is called once for each element, by the goroutine that puts it, while no
// lock is held. What it returns is the time for good. The zero Time is due at
// once, and so is any time past; a time more than 292 years away is never due.
//
// A time with a monotonic clock reading, such as time.Now().Add(d), is kept on
// the monotonic clock, whatever the wall clock does. One without, such as a
// [time.Date] or one that was parsed, is compared with the wall clock when the
// element is put, and then kept on the monotonic clock: if the wall clock is
// set in the meantime, the element is late or early by as much.
//
// Elements leave up to about a millisecond late when the process is idle, as
// package time's timers do. NewDelay panics if due is nil.
func NewDelay[T any](due func(T) time.Time) *Blocking[T] {
	if due == nil {
		panic("queue: nil due")
	}
	q := newBlocking[T](unlimited)
	q.clock = &clock{epoch: time.Now()}
	s := &delayed[T]{clock: q.clock}
	q.mu.shelf = s
	q.rank = func(mu sync.Locker, v T) {
		at := q.clock.instant(due(v))
		mu.Lock()
		s.push(at, v)
	}
	return q
}

func newFIFO[T any](capacity int) *Blocking[T] {
	q := newBlocking[T](capacity)
	q.mu.fifo = new(fifo[T])
	q.mu.shelf = q.mu.fifo
	return q
}
