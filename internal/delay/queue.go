package delay

import (
	"iter"
	"time"

	"github.com/executor-go/executor/internal/heap"
)

// MaxTrust is the longest time for which a reading of the wall clock is trusted. A
// timer measures elapsed time, and stops while the machine sleeps. So a long wait for a
// time of day goes wrong when the clock is set or the machine is suspended.
const MaxTrust = 30 * time.Second

// StepBack is how far the wall clock must be set back for the times of day of repeated
// elements to be found anew. A smaller step counts as a correction, after which nothing
// runs twice; Vixie cron draws the same line.
const StepBack = 3 * time.Hour

// Queue is a delay queue of elements E: in order of their due times and, among equals,
// of arrival.
type Queue[E any] struct {
	mono, wall heap.Queue[int64, E]
	clock      Clock
	placed     func(es []E, places []int32, wall bool)
	stale      func(E) bool

	seen  Instant // the last reading of the clocks
	ahead int64   // by how much the wall clock was ahead of the monotonic one then
	pace  pace
}

// New returns an empty queue. slack is the least time between two wake-ups that Next asks
// for; 0 is up to MostSlack, by how dense the elements are, and a negative one is none.
//
// placed is called with elements and their places on a clock whenever these change, other than
// by Push.
//
// If the wall clock was set back by StepBack or more, the elements that wait for a time
// of day and for which stale returns true become due at once, at the time 1; placed is
// called for them.
func New[E any](
	c Clock, slack time.Duration, placed func(es []E, places []int32, wall bool), stale func(E) bool,
) *Queue[E] {
	return &Queue[E]{
		clock: c, placed: placed, stale: stale,
		mono: *heap.New[int64](func(es []E, places []int32) { placed(es, places, false) }),
		wall: *heap.New[int64](func(es []E, places []int32) { placed(es, places, true) }),
		pace: pace{slack: slack, gap: longest},
	}
}

func (q *Queue[E]) heap(wall bool) *heap.Queue[int64, E] {
	if wall {
		return &q.wall
	}
	return &q.mono
}

// Push adds e, due on the wall clock or on the monotonic one, and returns its place.
func (q *Queue[E]) Push(e E, due int64, wall bool) (place int) {
	q.pace.push(Until(due, q.seen.On(wall)))
	return q.heap(wall).Push(due, e)
}

// Look reads the clocks, unless an element is known to be due: then the last reading
// suffices, as long as workers are behind.
func (q *Queue[E]) Look() {
	if due, ok := q.mono.Least(); !ok || due > q.seen.Mono || q.wall.Len() > 0 {
		q.observe(q.clock.Now())
	}
}

// Wake reads the clocks at a time that Next has returned.
func (q *Queue[E]) Wake() {
	q.observe(q.clock.Now())
	q.pace.wake(q.seen.Mono)
}

// observe takes note of a reading, and of a step of the wall clock. While an element
// waits for a time of day there is a reading at least every MaxTrust.
func (q *Queue[E]) observe(now Instant) {
	ahead := now.Wall - now.Mono
	back := q.ahead - ahead
	q.seen, q.ahead = now, ahead
	if back >= int64(StepBack) {
		q.Renew()
	}
}

// Renew makes the elements due at once that wait for a time of day and are stale.
func (q *Queue[E]) Renew() {
	for _, e := range q.wall.RemoveFunc(q.stale) {
		q.placed([]E{e}, []int32{int32(q.wall.Push(1, e))}, true)
	}
}

// Due reports whether an element was due at the last reading of the clocks.
func (q *Queue[E]) Due() bool { return q.due(false) >= 0 || q.due(true) >= 0 }

// due returns for how long the first element that waits on a clock was due at the last
// reading, negative if it was not, or there is none.
func (q *Queue[E]) due(wall bool) time.Duration {
	if due, ok := q.heap(wall).Least(); ok {
		return Until(q.seen.On(wall), due)
	}
	return -1
}

// Pop removes and returns the element that was overdue by most at the last reading of
// the clocks, or false if none was due.
func (q *Queue[E]) Pop() (e E, ok bool) {
	mono, wall := q.due(false), q.due(true)
	if mono < 0 && wall < 0 {
		return e, false
	}
	_, e, _ = q.heap(wall > mono).Pop()
	q.pace.taken++
	return e, true
}

// Next returns the reading of the monotonic clock at which it is next worth to look, not
// sooner after the last Wake than by the slack; false if there is none, also if no element
// will ever be due.
func (q *Queue[E]) Next() (at int64, ok bool) {
	at, ok = q.First()
	return q.pace.next(at), ok
}

// First is Next without the slack.
func (q *Queue[E]) First() (at int64, ok bool) {
	at, ok = q.mono.Least()
	ok = ok && at != Never
	if due, some := q.wall.Least(); some && due != Never {
		w := After(q.seen.Mono, int64(min(Until(due, q.seen.Wall), MaxTrust)))
		if !ok || w < at {
			at, ok = w, true
		}
	}
	return at, ok
}

// At returns the element at a place.
func (q *Queue[E]) At(place int, wall bool) E { return q.heap(wall).At(place) }

// Remove removes the element at a place.
func (q *Queue[E]) Remove(place int, wall bool) { q.heap(wall).Remove(place) }

// RemoveFunc removes all elements that match and returns them.
func (q *Queue[E]) RemoveFunc(match func(E) bool) []E {
	return append(q.mono.RemoveFunc(match), q.wall.RemoveFunc(match)...)
}

// Drain removes all elements and returns them.
func (q *Queue[E]) Drain() []E { return append(q.mono.Drain(), q.wall.Drain()...) }

// Len returns the number of elements.
func (q *Queue[E]) Len() int { return q.mono.Len() + q.wall.Len() }

// All returns the elements, in no particular order. The queue must not change meanwhile.
func (q *Queue[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, wall := range [...]bool{false, true} {
			for _, e := range q.heap(wall).All() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Now reads the clocks.
func (q *Queue[E]) Now() Instant { return q.clock.Now() }
