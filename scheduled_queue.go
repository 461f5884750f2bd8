package executor

import (
	"iter"
	"time"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/heap"
)

// recheck is the longest that a scheduled pool trusts what it knows of the wall
// clock. A timer counts real time, and not while a machine sleeps, so a long
// wait for a time of day goes wrong when the clock is set or a lid is closed.
const recheck = 30 * time.Second

// delayQueue is the backlog of a scheduled pool: tasks in order of their time
// and, among equals, of arrival. Tasks that are due at a time of day are in a
// heap of their own, ordered by the wall clock, so that a step of that clock
// changes nothing but how long to wait.
//
// Java's queue has a leader, the one waiter that waits with a timeout. Here the
// alarm belongs to the queue, all idle workers listen to it, and one of them
// receives: there is nobody to depose or to promote, and whoever schedules a
// new head sets the alarm without waking a worker.
type delayQueue struct {
	mono, wall heap.Heap[int64, bound]

	alarm *alarm.Alarm   // nil while there is no worker
	spent []*alarm.Alarm // to be closed by tidy
	set   int64          // when alarm goes off, on the monotonic clock; 0 if it is not set

	// ahead is by how much the wall clock was ahead of the monotonic one when
	// it was last looked at.
	ahead int64
}

func newDelayQueue() *delayQueue {
	return &delayQueue{mono: *heap.New[int64](settle), wall: *heap.New[int64](settle)}
}

// settle is told where a task waits.
func settle(b bound, place int) { b.core().place = int32(place) }

func (q *delayQueue) heap(wall bool) *heap.Heap[int64, bound] {
	if wall {
		return &q.wall
	}
	return &q.mono
}

func (q *delayQueue) push(e entry) bool {
	b := e.run.(bound)
	t := b.core()
	q.heap(t.has(wallClock)).Push(t.due, b)
	return true
}

// pop gives the task that is overdue by most.
func (q *delayQueue) pop(now instant) (entry, bool) {
	var best *heap.Heap[int64, bound]
	var most time.Duration = -1
	for _, wall := range [...]bool{false, true} {
		if due, _, ok := q.heap(wall).Peek(); ok {
			if over := until(now.on(wall), due); over > most {
				best, most = q.heap(wall), over
			}
		}
	}
	if best == nil {
		return entry{}, false
	}
	_, b, _ := best.Pop()
	return entry{b}, true
}

// wait is how long to wait before it is worth to look again; false for ever.
func (q *delayQueue) wait(now instant) (time.Duration, bool) {
	due, _, any := q.mono.Peek()
	d := until(due, now.mono)
	if at, _, ok := q.wall.Peek(); ok {
		if w := min(until(at, now.wall), recheck); !any || w < d {
			d, any = w, true
		}
	}
	return d, any
}

func (q *delayQueue) remove(t *task) entry {
	_, b := q.heap(t.has(wallClock)).Remove(int(t.place))
	return entry{b}
}

func (q *delayQueue) removeFunc(match func(entry) bool) []entry {
	f := func(b bound) bool { return match(entry{b}) }
	return entries(append(q.mono.RemoveFunc(f), q.wall.RemoveFunc(f)...))
}

func (q *delayQueue) drain() []entry { return entries(append(q.mono.Drain(), q.wall.Drain()...)) }

func entries(bs []bound) []entry {
	es := make([]entry, len(bs))
	for i, b := range bs {
		es[i] = entry{b}
	}
	return es
}

func (q *delayQueue) len() int  { return q.mono.Len() + q.wall.Len() }
func (q *delayQueue) room() int { return -1 }

func (q *delayQueue) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, wall := range [...]bool{false, true} {
			for _, b := range q.heap(wall).All() {
				if !yield(entry{b}) {
					return
				}
			}
		}
	}
}
