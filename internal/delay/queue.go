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

// These are how far the wall clock must be set back for the times of day of repeated elements
// to be found anew: more than LeastStep for those that follow the clock, and StepBack or more
// for fixed times. A smaller step counts as a correction, after which nothing runs twice; ISC
// cron draws the same line.
const (
	LeastStep = time.Second
	StepBack  = 3 * time.Hour
)

// Queue is a delay queue of elements E: in order of their due times and, among equals,
// of arrival, on whichever clock.
type Queue[E any] struct {
	mono, wall *heap.Heap[int64, E]
	arrivals   uint64
	clock      Clock
	trust      time.Duration // MaxTrust, or more where both clocks are one
	placed     func(e E, place int, wall bool)
	stale      func(e E, step time.Duration) bool

	seen  Instant // the last reading of the clocks
	ahead int64   // by how much the wall clock was ahead of the monotonic one then
	pace  pace
}

// New returns an empty queue. slack is the least time between two wake-ups that Next asks
// for; 0 is up to MostSlack, by how dense the elements are, and a negative one is none. trust is
// the longest time for which a reading of the wall clock is trusted.
//
// placed is called with an element that gets another place on its clock than the one that Push has
// returned.
//
// If the wall clock was set back by more than LeastStep, the elements that wait for a time
// of day and for which stale, which is called with the step, returns true become due at once,
// at the time 1; placed is called for them.
func New[E any](
	c Clock, slack, trust time.Duration, placed func(e E, place int, wall bool),
	stale func(e E, step time.Duration) bool,
) *Queue[E] {
	return &Queue[E]{
		clock: c, trust: trust, placed: placed, stale: stale,
		mono: heap.New[int64](func(e E, place int) { placed(e, place, false) }),
		wall: heap.New[int64](func(e E, place int) { placed(e, place, true) }),
		pace: pace{slack: slack, gap: longest},
	}
}

func (q *Queue[E]) heap(wall bool) *heap.Heap[int64, E] {
	if wall {
		return q.wall
	}
	return q.mono
}

// Push adds e, due on the wall clock or on the monotonic one, and returns its place.
func (q *Queue[E]) Push(e E, due int64, wall bool) (place int) {
	q.pace.push(Until(due, q.seen.On(wall)))
	q.arrivals++
	return q.heap(wall).Push(heap.Rank[int64]{Key: due, Arrival: q.arrivals}, e)
}

// ReadClocks reads the clocks, unless an element is known to be due: then the last reading
// suffices, as long as workers are behind.
func (q *Queue[E]) ReadClocks() {
	if first, ok := q.mono.First(); !ok || first.Key > q.seen.Mono || q.wall.Len() > 0 {
		q.observe(q.clock.Now())
	}
}

// Wake reads the clocks at a time that Next has returned.
func (q *Queue[E]) Wake() {
	q.observe(q.clock.Now())
	q.pace.wake(q.seen.Mono)
}

// observe takes note of a reading, and of a step of the wall clock. While an element
// waits for a time of day there is a reading at least as often as it is trusted.
func (q *Queue[E]) observe(now Instant) {
	ahead := now.Wall - now.Mono
	back := time.Duration(q.ahead - ahead)
	q.seen, q.ahead = now, ahead
	if back > LeastStep {
		q.Renew(back)
	}
}

// Renew makes the elements due at once that wait for a time of day and are stale after a step.
func (q *Queue[E]) Renew(step time.Duration) {
	for _, e := range q.wall.RemoveFunc(func(e E) bool { return q.stale(e, step) }) {
		q.placed(e, q.Push(e, 1, true), true)
	}
}

// Due reports whether an element was due at the last reading of the clocks.
func (q *Queue[E]) Due() bool { return q.due(false) >= 0 || q.due(true) >= 0 }

// IsDue reports whether the element at a place is due.
func (q *Queue[E]) IsDue(place int, wall bool) bool {
	due := q.heap(wall).Key(place)
	return due <= q.seen.On(wall) || due <= q.clock.Now().On(wall)
}

// When returns the reading of the monotonic clock at which it is worth to look whether the element at a place is due,
// or false if that will never be.
func (q *Queue[E]) When(place int, wall bool) (at int64, ok bool) {
	return q.when(q.heap(wall).Key(place), wall)
}

func (q *Queue[E]) when(due int64, wall bool) (at int64, ok bool) {
	at = due
	if wall {
		at = After(q.seen.Mono, int64(min(Until(due, q.seen.Wall), q.trust)))
	}
	return at, due != Never
}

// due returns for how long the first element that waits on a clock was due at the last
// reading, negative if it was not, or there is none.
func (q *Queue[E]) due(wall bool) time.Duration {
	if first, ok := q.heap(wall).First(); ok {
		return Until(q.seen.On(wall), first.Key)
	}
	return -1
}

// Pop removes and returns the element that was overdue by most at the last reading of
// the clocks, or false if none was due. Of two that were overdue by the same the one that
// came first leaves first.
func (q *Queue[E]) Pop() (e E, ok bool) {
	mono, wall := q.due(false), q.due(true)
	if mono < 0 && wall < 0 {
		return e, false
	}
	onWall := wall > mono
	if wall == mono {
		m, _ := q.mono.First()
		w, _ := q.wall.First()
		onWall = w.Arrival < m.Arrival
	}
	q.pace.taken++
	return q.heap(onWall).Pop()
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
	if first, some := q.mono.First(); some {
		at, ok = q.when(first.Key, false)
	}
	if first, some := q.wall.First(); some {
		if w, ever := q.when(first.Key, true); ever && (!ok || w < at) {
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
			for e := range q.heap(wall).All() {
				if !yield(e) {
					return
				}
			}
		}
	}
}
