package queue

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// unlimited is the capacity of a queue without a limit.
const unlimited = math.MaxInt

// NewBounded returns an empty queue that holds up to capacity elements. The oldest element leaves first. The memory of
// the queue grows and shrinks with the number of elements. NewBounded panics if capacity is less than 1; [NewHandoff]
// makes a queue that holds nothing.
func NewBounded[T any](capacity int) *Blocking[T] {
	if capacity < 1 {
		panic(fmt.Sprintf("queue: capacity %d of a bounded queue is less than 1", capacity))
	}
	return newFIFO[T](capacity)
}

// NewUnbounded returns an empty queue that holds any number of elements. The oldest element leaves first. Put never
// waits.
func NewUnbounded[T any]() *Blocking[T] { return newFIFO[T](unlimited) }

// NewHandoff returns a queue that holds nothing: a Put waits for a Take, and a Take waits for a Put. Offer succeeds
// only if a goroutine waits in Take or PollFor. Poll succeeds only if a goroutine waits in Put or OfferFor. The queue
// is both empty and full: Len returns 0, and Peek returns false.
func NewHandoff[T any]() *Blocking[T] { return newFIFO[T](0) }

// NewPriority returns an empty queue that holds any number of elements. The element with the least key leaves first
// and, among equal keys, the oldest. Keys are compared as [cmp.Compare] does. To have the greatest number first, return
// its negative. Put never waits.
//
// The goroutine that puts an element calls key once for it, while no lock is held. The result stays the key for as long
// as the element is in the queue, even if the element changes. NewPriority panics if key is nil.
func NewPriority[T any, K cmp.Ordered](key func(T) K) *Blocking[T] {
	if key == nil {
		panic("queue: NewPriority: the function for the key is nil")
	}
	q := newBlocking[T](unlimited)
	s := &ranked[T, K]{}
	q.mu.store = s
	q.push = func(v T) {
		k := key(v)
		q.lock()
		if !q.mu.closed {
			s.push(k, v)
		}
	}
	return q
}

// NewDelay returns an empty queue that holds any number of elements. Each element can leave once it is due, the
// earliest first and, among equal times, the oldest. Put never waits. While no element is due, Take waits and Poll
// returns false, but Len counts all elements and Peek returns the first.
//
// The goroutine that puts an element calls due once for it, while no lock is held. The result stays the time of the
// element for as long as the element is in the queue. If the time is past, as the zero Time is, the element is due at
// once. If it is more than 292 years ahead, the element is never due.
//
// A time with a monotonic clock reading, such as time.Now().Add(d), does not depend on the wall clock. A time without
// one, such as the result of [time.Date] or [time.Parse], is compared with the wall clock when the element is put. If
// the wall clock is set after that, the element leaves early or late by the difference.
//
// In an idle process an element may leave about a millisecond late, as timers of package time do. NewDelay panics if
// due is nil.
func NewDelay[T any](due func(T) time.Time) *Blocking[T] {
	if due == nil {
		panic("queue: NewDelay: the function for the due time is nil")
	}
	q := newBlocking[T](unlimited)
	q.clock = &clock{epoch: time.Now()}
	s := &delayed[T]{clock: q.clock}
	q.mu.store = s
	q.push = func(v T) {
		at := q.clock.instant(due(v))
		q.lock()
		if !q.mu.closed {
			s.push(at, v)
		}
	}
	return q
}

func newFIFO[T any](capacity int) *Blocking[T] {
	q := newBlocking[T](capacity)
	q.mu.fifo = new(fifo[T])
	q.mu.store = q.mu.fifo
	return q
}
