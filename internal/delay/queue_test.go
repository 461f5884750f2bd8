package delay

import (
	"math"
	"testing"
	"time"
)

// elem is an element of a test.
type elem struct {
	place    int
	repeated bool
	loose    bool // stale after any step
}

func newQueue() *Queue[*elem] {
	return New(Clock{time.Now().Add(-1)}, 0, MaxTrust, func(e *elem, place int, _ bool) { e.place = place },
		func(e *elem, step time.Duration) bool { return e.repeated && step >= StepBack || e.loose })
}

func (q *Queue[E]) add(e E, due int64, wall bool) E {
	q.placed(e, q.Push(e, due, wall), wall)
	return e
}

// start is a reading of both clocks.
var start = Instant{Mono: 1, Wall: int64(1_000_000 * time.Hour)}

// A queue with a time of day is looked at every MaxTrust, one without only when the
// first element is due.
func TestQueueNext(t *testing.T) {
	q := newQueue()
	q.observe(start)
	if at, ok := q.Next(); ok {
		t.Errorf("an empty queue is to be looked at at %d", at)
	}
	q.add(new(elem), Never, false)
	if at, ok := q.Next(); ok {
		t.Errorf("a queue of an element that is never due is to be looked at at %d", at)
	}
	q.add(new(elem), start.Mono+int64(10*time.Hour), false)
	if at, ok := q.Next(); !ok || at != start.Mono+int64(10*time.Hour) {
		t.Errorf("next look at %d, %t for an element due in 10h", at, ok)
	}
	q.add(new(elem), start.Wall+int64(5*time.Hour), true)
	if at, ok := q.Next(); !ok || at != start.Mono+int64(MaxTrust) {
		t.Errorf("next look at %d, %t for a time of day in 5h", at, ok)
	}
	now := Instant{start.Mono, start.Wall + int64(5*time.Hour-time.Second)}
	q.observe(now)
	if at, _ := q.Next(); at != now.Mono+int64(time.Second) {
		t.Errorf("next look at %d for a time of day in 1s", at)
	}
}

// A queue that trusts its reading of the wall clock is looked at when the first element is due.
func TestQueueNextTrusted(t *testing.T) {
	q := New(Clock{time.Now().Add(-1)}, 0, math.MaxInt64, func(*elem, int, bool) {}, func(*elem, time.Duration) bool { return false })
	q.observe(start)
	q.Push(new(elem), start.Wall+int64(5*time.Hour), true)
	if at, ok := q.Next(); !ok || at != start.Mono+int64(5*time.Hour) {
		t.Errorf("next look at %d, %t for a time of day in 5h", at, ok)
	}
}

// A wall clock that is set forward past a time of day makes its element due at once,
// and moves no element of the monotonic clock.
func TestQueueWallClockSetForward(t *testing.T) {
	q := newQueue()
	q.observe(start)
	q.add(new(elem), start.Mono+int64(time.Hour), false)
	day := q.add(new(elem), start.Wall+int64(2*time.Hour), true)
	q.observe(Instant{start.Mono + int64(MaxTrust), start.Wall + int64(3*time.Hour)})
	if e, ok := q.Pop(); !ok || e != day {
		t.Fatalf("Pop returns %v, %t, want the element of the wall clock", e, ok)
	}
	if e, ok := q.Pop(); ok {
		t.Errorf("Pop returns %v, an element of the monotonic clock that is not due", e)
	}
}

// A wall clock that is set back makes those elements due at once that are stale after the step,
// and leaves the others alone. A step of up to LeastStep moves nothing.
func TestQueueWallClockSetBack(t *testing.T) {
	for back, stale := range map[time.Duration]bool{
		0: false, time.Minute: false, StepBack - time.Second: false, StepBack: true, 10 * 365 * 24 * time.Hour: true,
	} {
		q := newQueue()
		q.observe(start)
		cron := q.add(&elem{repeated: true}, start.Wall+int64(time.Hour), true)
		q.add(new(elem), start.Wall+int64(time.Minute), true)
		q.add(&elem{repeated: true}, start.Mono+int64(time.Hour), false)
		q.observe(Instant{start.Mono + int64(MaxTrust), start.Wall + int64(MaxTrust-back)})
		if e, ok := q.Pop(); ok != stale || ok && e != cron {
			t.Errorf("set back by %v: Pop returns %v, %t", back, e, ok)
		}
		if e, ok := q.Pop(); ok {
			t.Errorf("set back by %v: Pop returns %v as well", back, e)
		}
	}
}

// The queue asks which elements are stale after each step of more than LeastStep.
func TestQueueWallClockSetBackALittle(t *testing.T) {
	for back, stale := range map[time.Duration]bool{LeastStep: false, LeastStep + 1: true, time.Hour: true} {
		q := newQueue()
		q.observe(start)
		q.add(&elem{loose: true}, start.Wall+int64(2*time.Hour), true)
		q.observe(Instant{start.Mono + int64(MaxTrust), start.Wall + int64(MaxTrust-back)})
		if _, ok := q.Pop(); ok != stale {
			t.Errorf("set back by %v: Pop returns one: %t", back, ok)
		}
	}
}

// The element that is overdue by most is first, on whichever clock and, among equals, the one that came first.
func TestQueueOverdueByMost(t *testing.T) {
	q := newQueue()
	q.observe(start)
	second := q.add(new(elem), start.Mono-10, false)
	first := q.add(new(elem), start.Wall-20, true)
	third := q.add(new(elem), start.Wall-5, true)
	fourth := q.add(new(elem), start.Mono-5, false)
	fifth := q.add(new(elem), start.Wall-5, true)
	for i, want := range []*elem{first, second, third, fourth, fifth} {
		if e, ok := q.Pop(); !ok || e != want {
			t.Errorf("element %d is not the expected one", i)
		}
	}
}

// An element is removed by its place, also after others have moved it.
func TestQueueRemove(t *testing.T) {
	q := newQueue()
	var es []*elem
	for i := range 1000 {
		es = append(es, q.add(new(elem), int64(time.Hour)+int64(i*7919%1000), i%3 == 0))
	}
	for i, e := range es {
		q.Remove(e.place, i%3 == 0)
		if q.Len() != len(es)-i-1 {
			t.Fatalf("%d elements after %d were removed", q.Len(), i+1)
		}
	}
}
