package heap

import "cmp"

// handover is what the two ends of a queue know of each other. It is written
// while neither is in use.
type handover[K cmp.Ordered] struct {
	limit K    // no key that joins is less or equal, none greater is served; zero again in a queue that was emptied
	alone bool // all that was in the lane at the last Turn can be served
}

// Unplaced is the place of an element that has joined and is not settled.
const Unplaced = -1

// Join is Push by somebody who does not know of the other end. Join and
// [Queue.Serve] may be called at the same time, each by one goroutine, as long as
// nothing else is; and Settle is to Join as Serve is. It reports false, and does
// nothing, if e has to be pushed: if its key is not greater than the limit.
//
// The place may be Unplaced. Then it is told by Settle. What is unplaced has
// joined, but counts nowhere and is found by no other method than Settle.
func (q *Queue[K, E]) Join(key K, e E) (place int, ok bool) {
	switch {
	case !cmp.Less(q.limit, key) || q.arrivals == maxArrivals:
		return Unplaced, false
	case cmp.Less(key, q.newest):
		if len(q.joined) == maxJoined {
			return Unplaced, false
		}
		q.late++
		q.joined = append(q.joined, ticket[K, E]{q.number(key), e})
		return Unplaced, true
	}
	return q.lane.push(key, e), true
}

// Joined returns how many have joined since the last Turn, or somewhat more. It
// may be called where Join may be.
func (q *Queue[K, E]) Joined() int { return len(q.joined) + q.line.Pushed() }

// Loose returns how many have joined since the last Turn and are unplaced. It may
// be called where Join may be.
func (q *Queue[K, E]) Loose() int { return len(q.joined) }

// Turn hands what has joined over to the end that serves, and sets the limit,
// which must not become less. It takes little time. Settle must follow.
func (q *Queue[K, E]) Turn(limit K) {
	if q.limit = limit; q.impatient() {
		q.reopen()
	}
	q.line.Turn()
	q.alone = q.line.Pushed() == 0
	q.taken, q.joined = q.joined, q.taken
}

// Settle gives a place to what was handed over.
func (q *Queue[K, E]) Settle() {
	if len(q.taken) == 0 {
		q.taken = nil // the queue has become quiet
		return
	}
	for _, t := range q.taken {
		q.tell(t.elem, q.insert(t))
	}
	q.announce()
	clear(q.taken)
	q.taken = q.taken[:0]
}

// maxJoined is how many may be unplaced: to settle them takes up to half a
// millisecond.
const maxJoined = 4096

// Serve is Pop for an element whose key is not greater than the limit, and of
// which it is known without a look at the other end that it is the least. It
// reports false, and does nothing, if there is none.
func (q *Queue[K, E]) Serve() (e E, ok bool) {
	t := q.line.First()
	if t == nil && !q.alone {
		return e, false // what has come after it may be the least
	}
	s := q.tree.least()
	if s != nil && (t == nil || s.before(&t.slot)) {
		if cmp.Less(q.limit, s.key) {
			return e, false
		}
		return q.popTree(), true
	}
	if t == nil || cmp.Less(q.limit, t.key) {
		return e, false
	}
	next, ok := q.line.Shift()
	return next.elem, ok
}
