package delay

import (
	"sync/atomic"

	"github.com/executor-go/executor/internal/heap"
)

// A Queue has two ends, which may be used at the same time under two locks, as those of
// a pool's gate: PushTail by one goroutine, Crowded, PopHead and Merge by another. All
// other methods need the queue for themselves. See pool_lock.go.
type ends struct {
	full  bool        // there were too many elements at the last Swap
	crowd atomic.Bool // many have been pushed at the tail since the last Swap
}

// many is how many elements may be pushed out of order before a worker merges them, which
// takes a hundred microseconds.
const many = 1024

// PushTail is Push for an element on the monotonic clock. It reports false if the
// element must be pushed otherwise: it may belong before one that PopHead can return, or
// there are limit elements. The place is heap.Unplaced if it is passed to placed later.
func (q *Queue[E]) PushTail(e E, due int64, limit int) (place int, ok bool) {
	if q.ends.full || q.mono.Joined() >= limit {
		return 0, false
	}
	place, ok = q.mono.Join(due, e)
	if ok && place == heap.Unplaced && q.mono.Loose() == many {
		q.ends.crowd.Store(true)
	}
	return place, ok
}

// PopHead is Pop for an element that was due at the last reading of the clocks. False
// says nothing: an element may wait for the wall clock, which may have been set back, or
// it is time for a Swap.
func (q *Queue[E]) PopHead() (e E, ok bool) {
	if q.ends.crowd.Load() {
		return e, false
	}
	if at, some := q.wall.Least(); some && at <= q.seen.Wall {
		return e, false
	}
	return q.mono.Serve()
}

// Swap reads the clocks and moves what was pushed at the tail to the head, where Merge,
// which must follow, orders it.
func (q *Queue[E]) Swap(limit int) {
	q.observe(q.clock.Now())
	q.swap(limit)
}

func (q *Queue[E]) swap(limit int) {
	q.mono.Turn(q.seen.Mono)
	q.ends.full = q.Len() >= limit
	if q.ends.crowd.Load() {
		q.ends.crowd.Store(false)
	}
}

// Merge follows a Swap.
func (q *Queue[E]) Merge() { q.mono.Settle() }

// Unite makes one queue of the two ends, without reading the clocks.
func (q *Queue[E]) Unite(limit int) {
	q.swap(limit)
	q.Merge()
}

// Unmerged returns the number of elements that wait for Merge.
func (q *Queue[E]) Unmerged() int { return q.mono.Loose() }
